"""Content blocks of Bedrock Converse, which Amazon Nova speaks on InvokeModel too."""

from collections.abc import Iterator

from ...history import read_messages
from ...json_value import Object, add_text, as_array, as_count, as_object, as_text, is_object, parse_json, repeated_key
from ...repeated import Repeated
from ...values import Message, OutputFormat, Part, RequestReading, Tool, ToolCall, ToolChoice, ToolResult, Usage
from ..shared.answers import first_count, summed
from ..shared.cache_marks import converse_marks
from ..shared.cached_input import whole_input
from ..shared.counts import Counts
from ..shared.output_format import schema_format
from ..shared.parts import arguments_of, call_part, chosen, media_part, other_fields, text_of, text_part, texts

_KNOWN = frozenset({"messages", "system", "toolConfig", "inferenceConfig", "modelId"})


def read_converse_request(fields: Object, model: str | None, *, streamed: bool) -> RequestReading:
    config = as_object(fields.get("toolConfig"))
    inference = as_object(fields.get("inferenceConfig"))
    messages = read_messages(as_array(fields.get("messages")), "/messages", _message)
    return RequestReading(
        model=model,
        streamed=streamed,
        system=tuple(block_parts(fields.get("system"), "/system")),
        messages=messages,
        tools=_read_tools(config.get("tools"), "/toolConfig/tools"),
        tool_choice=_tool_choice(as_object(config.get("toolChoice"))),
        max_output=first_count(inference.get("maxTokens"), inference.get("max_new_tokens")),
        stop=texts(inference.get("stopSequences")),
        cache_marks=converse_marks(fields, messages),
        output_format=_output_format(as_object(as_object(fields.get("outputConfig")).get("textFormat"))),
        parameters={**other_fields(fields, _KNOWN), **({"inferenceConfig": inference} if inference else {})},
    )


def _output_format(text: Object) -> OutputFormat | None:
    """`outputConfig.textFormat`, whose schema is JSON in a string."""
    named = as_object(as_object(text.get("structure")).get("jsonSchema"))
    return schema_format(named.get("schema"), "/outputConfig/textFormat") if text.get("type") == "json_schema" else None


def _message(item: object, pointer: str) -> Message:
    message = as_object(item)
    parts = tuple(block_parts(message.get("content"), f"{pointer}/content"))
    match message.get("role"):
        case "assistant":
            return Message("assistant", parts, pointer, message)
        case "user":
            only_results = bool(parts) and all(part.kind == "result" for part in parts)
            return Message("tool" if only_results else "user", parts, pointer, message)
        case "system":
            return Message("system", parts, pointer, message)
        case _:
            return Message("other", parts, pointer, message)


def block_parts(content: object, pointer: str) -> list[Part]:
    """The parts of a list of content blocks, without blocks that only mark a cache point."""
    if isinstance(content, str):
        return [text_part(content, pointer, content)]
    parts: list[Part] = []
    for i, value in enumerate(as_array(content)):
        block, where = as_object(value), f"{pointer}/{i}"
        if isinstance(text := block.get("text"), str):
            parts.append(text_part(text, where, value))
        elif use := as_object(block.get("toolUse")):
            parts.append(call_part(_call(use, block), where, value))
        elif result := as_object(block.get("toolResult")):
            parts.append(_result(result, where, value))
        elif reasoning := as_object(block.get("reasoningContent")):
            parts.append(_reasoning(reasoning, where, value))
        elif cited := as_object(block.get("citationsContent")):
            parts.append(text_part(text_of(cited.get("content")), where, value))
        elif found := as_object(block.get("searchResult")):
            parts.append(Part("media", where, text=_search_text(found), raw=value))
        elif guarded := as_object(block.get("guardContent")):
            parts.append(_guarded(guarded, where, value))
        elif change := next((name for name in _TOOL_CHANGES if name in block), None):
            parts.append(Part("other", where, text=_tool_change(change, as_object(block[change])), raw=value))
        elif "cachePoint" not in block:
            kind = next(iter(block), "block")
            known = kind in _MEDIA
            parts.append(media_part(kind, where, value) if known else Part("other", where, f"[{kind}]", raw=value))
    return parts


def lacks_id(block: Object) -> bool:
    """Whether a `toolUse` has no id."""
    return "toolUse" in block and not as_object(block["toolUse"]).get("toolUseId")


_TOOL_CHANGES = {"toolAddition": "adds", "toolRemoval": "removes"}


def _tool_change(kind: str, change: Object) -> str:
    """Which tool of the request or of an MCP server is added or removed."""
    tool = as_object(change.get("tool"))
    named = "/".join(filter(None, (as_text(tool.get("serverName")), as_text(tool.get("name")))))
    return f"{_TOOL_CHANGES[kind]} the tool {named or '?'}"


def _guarded(guarded: Object, pointer: str, raw: object) -> Part:
    """Content that a guardrail checks. The model sees an ordinary text or image."""
    text = as_object(guarded.get("text")).get("text")
    if isinstance(text, str):
        return text_part(text, pointer, raw)
    return media_part(next(iter(guarded), "guardContent"), pointer, raw)


def _search_text(found: Object) -> str:
    return "\n".join(filter(None, (text_of(found.get(key)) for key in ("title", "source", "content"))))


def _call(use: Object, block: Object) -> ToolCall:
    arguments, raw = arguments_of(use.get("input"))
    return ToolCall(
        as_text(use.get("name")) or "",
        as_text(use.get("toolUseId")),
        arguments,
        raw,
        server=use.get("type") == "server_tool_use",
        complete=block.get("cut") is not True,
    )


_MEDIA = ("image", "document", "video", "audio")


def _chunk_text(chunk: Object) -> str:
    if found := as_object(chunk.get("searchResult")):
        return _search_text(found)
    kind = next((name for name in _MEDIA if name in chunk), None)
    return f"[{kind}]" if kind else text_of(chunk.get("json", chunk.get("text", chunk)))


def _result(result: Object, pointer: str, raw: object) -> Part:
    chunks = [as_object(chunk) for chunk in as_array(result.get("content"))]
    text = "\n".join(_chunk_text(chunk) for chunk in chunks)
    failed, server = result.get("status") == "error", bool(result.get("type"))
    read = ToolResult(as_text(result.get("toolUseId")), None, failed, text, server)
    return Part("result", pointer, text=text, result=read, raw=raw)


def _reasoning(reasoning: Object, pointer: str, raw: object) -> Part:
    text_field = as_object(reasoning.get("reasoningText"))
    signature = as_text(text_field.get("signature")) or as_text(reasoning.get("redactedContent"))
    return Part("reasoning", pointer, as_text(text_field.get("text")) or "", signature=signature, raw=raw)


def _tools(tools: object, pointer: str) -> Iterator[Tool]:
    for i, value in enumerate(as_array(tools)):
        tool, where = as_object(value), f"{pointer}/{i}"
        if spec := as_object(tool.get("toolSpec")):
            schema = as_object(spec.get("inputSchema")).get("json")
            schema = parse_json(schema) if isinstance(schema, str) else schema
            name = as_text(spec.get("name")) or ""
            yield Tool(name, as_text(spec.get("description")), schema, where)
        elif system := as_object(tool.get("systemTool")):
            yield Tool(as_text(system.get("name")) or "systemTool", None, None, where, server=True)


_read_tools = Repeated(_tools).of


def _tool_choice(choice: Object) -> ToolChoice | None:
    if name := as_text(as_object(choice.get("tool")).get("name")):
        return ToolChoice("named", (name,))
    return chosen(next(iter(choice), None))


def converse_usage(usage: Object) -> Usage | None:
    """Some models count cached tokens inside `inputTokens` and some beside it. The total shows which."""
    if not usage:
        return None
    counts = Counts(usage)
    fresh = counts.first("inputTokens", "inputTokenCount")
    output = counts.first("outputTokens", "outputTokenCount")
    read = counts.first("cacheReadInputTokens", "cacheReadInputTokenCount")
    write = counts.first("cacheWriteInputTokens", "cacheWriteInputTokenCount")
    total = counts.first("totalTokens")
    whole = None if fresh is None else whole_input(fresh, summed(read, write) or 0, output or 0, total)
    hour = sum(_written_for(usage, "1h"))
    return Usage(whole, read, write, output, None, cache_write_1h=min(write or 0, hour), problems=counts.problems)


def _written_for(usage: Object, lifetime: str) -> Iterator[int]:
    """The tokens that were written to the cache for this lifetime."""
    for detail in map(as_object, as_array(usage.get("cacheDetails"))):
        if detail.get("ttl") == lifetime:
            yield as_count(detail.get("inputTokens")) or 0


def assemble(events: list[tuple[str, Object]]) -> Object:
    """The answer that the events of a Converse stream add up to; a block that it ends inside is marked cut.

    Some gateways leave out the end of a block but end the message; then nothing was cut.
    """
    blocks: dict[tuple[int, int], Object] = {}
    """By number, and how often a call had begun under the same one: two calls are two, whatever their number."""
    beside: dict[tuple[int, int], Object] = {}
    """What comes in the block of a call and does not belong to it: clients keep both."""
    closed: set[tuple[int, int]] = set()
    begun: dict[int, int] = {}
    body: Object = {}
    for name, event in events:
        number = as_count(event.get("contentBlockIndex")) or 0
        index = number, begun.get(number, 0)
        match name:
            case "contentBlockStart":
                start = as_object(event.get("start"))
                if _is_another_call(as_object(blocks.get(index)), start):
                    begun[number] = index[1] + 1
                    index = number, begun[number]
                blocks[index] = {key: dict(as_object(value)) for key, value in start.items()}
            case "contentBlockDelta":
                block, delta = blocks.setdefault(index, {}), as_object(event.get("delta"))
                _grow(beside.setdefault(index, {}) if "toolUse" in block and "text" in delta else block, delta)
            case "contentBlockStop":
                closed.add(index)
            case "messageStop":
                body.update(event)
            case "metadata":
                body.update({key: event[key] for key in ("usage", "trace", "metrics") if key in event})
            case _:
                pass
    for index, block in blocks.items():
        if use := as_object(block.get("toolUse")):
            whole = index in closed or "stopReason" in body
            if not whole:
                block["cut"] = True
            use["input"] = _whole_input(use.get("input")) if whole else use.get("input") or ""
    content = [block for index in sorted(blocks) for block in (blocks[index], beside.get(index)) if block]
    body["output"] = {"message": {"role": "assistant", "content": content}}
    return body


def _is_another_call(block: Object, start: Object) -> bool:
    """Whether a block that begins is a call, and what began under its number before is another one."""
    one, two = (as_object(fields.get("toolUse")).get("toolUseId") for fields in (block, start))
    return one is not None and two is not None and one != two


def _whole_input(text: object) -> object:
    """The input of a call, as an unstreamed answer has it. The text itself when it is not JSON, or has a key twice."""
    value = parse_json(text) if isinstance(text, str) else text
    kept = isinstance(text, str) and text.count(":") > 1 and repeated_key(text) is not None
    return value if is_object(value) and not kept else text or {}


def _grow(block: Object, delta: Object) -> None:
    if isinstance(text := delta.get("text"), str):
        add_text(block, "text", text)
    if use := as_object(delta.get("toolUse")):
        target = block["toolUse"] = as_object(block.get("toolUse"))
        piece = use.get("input")
        if isinstance(piece, str):
            add_text(target, "input", piece)
        else:
            target["input"] = piece
    if reasoning := as_object(delta.get("reasoningContent")):
        target = block["reasoningContent"] = as_object(block.get("reasoningContent"))
        text_field = target["reasoningText"] = as_object(target.get("reasoningText"))
        for key in ("text", "signature"):
            if isinstance(piece := reasoning.get(key), str):
                add_text(text_field, key, piece)
        if redacted := as_text(reasoning.get("redactedContent")):
            target["redactedContent"] = redacted
    if pieces := as_array(delta.get("toolResult")):
        result = block["toolResult"] = as_object(block.get("toolResult"))
        result["content"] = _joined_texts([*as_array(result.get("content")), *pieces])
    if citation := delta.get("citation"):
        block["citations"] = [*as_array(block.get("citations")), citation]
    if image := as_object(delta.get("image")):
        block["image"] = {**as_object(block.get("image")), **image}


def _joined_texts(chunks: list[object]) -> list[object]:
    """Join neighbouring texts, because a stream brings them in pieces."""
    joined: list[object] = []
    for chunk in map(as_object, chunks):
        last = as_object(joined[-1]).get("text") if joined else None
        if isinstance(last, str) and isinstance(text := chunk.get("text"), str):
            joined[-1] = {"text": last + text}
        else:
            joined.append(chunk)
    return joined
