"""Answers in the shape of OpenAI Chat Completions, streamed and whole, with the dialects of those who speak it."""

from collections.abc import Callable, Mapping

from turntape.cassettes.framing import Event

from ...exchange import Exchange
from ...json_value import Object, as_array, as_count, as_object, as_text, compact, is_object, parse_json
from ...values import ApiError, FinishLabel, Part, ResponseReading, ToolCall, Usage
from ..shared.errors import error_in
from ..shared.parts import arguments_of, call_part, media_part, text_part, unread
from .deltas import ChoiceDraft, index_of
from .request import content_parts, message_calls, message_reasoning, read_call

FINISH: dict[str, FinishLabel] = {
    "stop": "complete",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    # dialects and native words
    "eos": "complete",
    "eos_token": "complete",
    "end_turn": "complete",
    "completed": "complete",
    "complete": "complete",
    "finish": "complete",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_calls",
    "tool_call": "tool_calls",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "context_full",
    "model_context_window_exceeded": "context_full",
    "pause_turn": "pause",
    "refusal": "refusal",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "sensitive": "content_filter",
    "guardrail_intervened": "content_filter",
    "malformed_function_call": "malformed",
    "malformed_response": "malformed",
    "unexpected_tool_call": "malformed",
    "error": "error",
    "failed": "error",
    "timeout": "error",
    "network_error": "error",
    "insufficient_system_resource": "error",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "abort": "cancelled",
}
"""Finish words in lower case. `stop` is also what a custom stop string gives: the two cannot be distinguished."""

_MORE_EXACT = frozenset({"refusal", "malformed", "content_filter", "length", "context_full", "pause", "error"})
"""Labels that a router's native word may add to its own, blander word."""

type ReadUsage = Callable[[Object], Usage]


def read_chat_answer(
    exchange: Exchange,
    finish: Mapping[str, FinishLabel] = FINISH,
    read_usage: ReadUsage | None = None,
) -> ResponseReading:
    """The answer of a chat endpoint; `finish` and `read_usage` are for APIs with words of their own."""
    usage_reader = read_usage or chat_usage
    if exchange.framing in ("sse", "ndjson"):
        return read_chat_stream(exchange.events, finish, usage_reader)
    if not exchange.answer_fields:
        return unread(exchange, "a chat completion")
    return read_chat_body(exchange.answer_fields, finish, usage_reader)


def read_chat_body(
    body: Object,
    finish: Mapping[str, FinishLabel] = FINISH,
    read_usage: ReadUsage | None = None,
    *,
    ended: bool = True,
    streamed: bool = False,
    problems: tuple[str, ...] = (),
    error: ApiError | None = None,
) -> ResponseReading:
    """A whole answer, or what a stream adds up to."""
    choices = [as_object(choice) for choice in as_array(body.get("choices"))]
    parts: list[Part] = []
    for i, choice in enumerate(choices):
        parts += _choice_parts(choice, i)
    if error is None and body.get("error"):
        error = error_in(body, in_stream=streamed)
    error = error or next((e for c in choices if c.get("error") and (e := error_in(c))), None)
    if error is None and not choices and not body.get("usage"):
        error = error_in(body)
    raw, label, detail = _verdict(choices, finish)
    first = [p for p in parts if not _later_choice(p, choices)]
    usage = body.get("usage") or as_object(body.get("x_groq")).get("usage")
    usage_fields = as_object(usage)
    reasoning = [p.text for p in first if p.kind == "reasoning" and p.text]
    refusals = [p.text for p in first if p.kind == "refusal" and p.text]
    return ResponseReading(
        text="".join(p.text for p in first if p.kind == "text"),
        reasoning="\n".join(reasoning),
        refusal="".join(refusals) if refusals else None,
        calls=tuple(p.call for p in parts if p.call is not None and not p.call.server),
        server_calls=tuple(p.call for p in parts if p.call is not None and p.call.server),
        signatures=tuple(p.signature for p in parts if p.signature),
        content=tuple(parts),
        finish_raw=raw,
        finish=label,
        finish_detail=detail,
        ended=ended,
        usage=(read_usage or chat_usage)(usage_fields) if usage_fields else None,
        usage_raw=usage,
        model=as_text(body.get("model")),
        id=as_text(body.get("id")),
        error=error,
        problems=problems,
        other_content=any(p.kind == "media" for p in parts),
    )


def read_chat_stream(
    events: list[Event],
    finish: Mapping[str, FinishLabel] = FINISH,
    read_usage: ReadUsage | None = None,
) -> ResponseReading:
    """A stream of chunks. It has ended when every choice has a finish word, or at `[DONE]`."""
    body: Object = {}
    drafts: dict[int, ChoiceDraft] = {}
    problems: list[str] = []
    error: ApiError | None = None
    done = False
    for event in events:
        if event.kind == "comment" or (event.kind == "data" and not event.data.strip()):
            continue
        if event.data.strip() == b"[DONE]":
            done = True
            continue
        value = parse_json(event.data)
        if event.kind == "field" or event.name == "error":
            error = error or error_in(value or event.data.decode("utf-8", "replace"), in_stream=True)
            if event.kind == "field" and event.name != "error" and error is None:
                problems.append(f"The stream has a line of the unknown field {event.name!r}.")
            continue
        if not is_object(value):
            problems.append(event.problem or f"An event at byte {event.start} is not a JSON object.")
            continue
        chunk = as_object(value)
        if chunk.get("error") or (chunk.get("object") == "error" and not chunk.get("choices")):
            error = error or error_in(chunk, in_stream=True)
        _merge_chunk(body, drafts, chunk)
    body["choices"] = [{"index": index, **draft.whole()} for index, draft in sorted(drafts.items())]
    words = [_word(as_object(choice)) for choice in as_array(body["choices"])]
    ended = done or (bool(words) and all(words))
    for draft in drafts.values():
        problems += draft.problems
    return read_chat_body(body, finish, read_usage, ended=ended, streamed=True, problems=tuple(problems), error=error)


def _merge_chunk(body: Object, drafts: dict[int, ChoiceDraft], chunk: Object) -> None:
    for key in ("id", "model", "provider", "service_tier", "system_fingerprint"):
        if value := chunk.get(key):
            body.setdefault(key, value)
    if chunk.get("x_groq"):
        body["x_groq"] = {**as_object(body.get("x_groq")), **as_object(chunk["x_groq"])}
    usage = {k: v for k, v in as_object(chunk.get("usage")).items() if v is not None}
    for choice in as_array(chunk.get("choices")):
        fields = as_object(choice)
        # Some servers put it into the choice.
        usage = usage or as_object(fields.get("usage"))
        drafts.setdefault(index_of(fields), ChoiceDraft()).add(fields)
    if usage:
        body["usage"] = {**as_object(body.get("usage")), **usage}


def _choice_parts(choice: Object, position: int) -> list[Part]:
    message = as_object(choice.get("message")) or as_object(choice.get("delta"))
    pointer = f"/choices/{position}/message"
    parts = message_reasoning(message, pointer)
    parts += content_parts(message.get("content"), f"{pointer}/content")
    if refusal := as_text(message.get("refusal")):
        parts.append(text_part(refusal, f"{pointer}/refusal", refusal, "refusal"))
    number = index_of(choice)
    for i, item in enumerate(as_array(message.get("tool_calls"))):
        call = read_call(as_object(item), number)
        parts.append(call_part(call, f"{pointer}/tool_calls/{i}", item))
    parts += [p for p in message_calls({"function_call": message.get("function_call")}, pointer) if _is_call(p)]
    for i, item in enumerate(as_array(message.get("executed_tools"))):
        parts.append(call_part(_executed(as_object(item), number), f"{pointer}/executed_tools/{i}", item))
    if audio := as_object(message.get("audio")):
        if not message.get("content") and (transcript := as_text(audio.get("transcript"))):
            parts.append(text_part(transcript, f"{pointer}/audio/transcript", transcript))
        parts.append(media_part("audio", f"{pointer}/audio", audio))
    for i, image in enumerate(as_array(message.get("images"))):
        parts.append(media_part("image", f"{pointer}/images/{i}", image))
    return parts


def _is_call(part: Part) -> bool:
    return part.call is not None and bool(part.call.name)


def _executed(item: Object, choice: int) -> ToolCall:
    """A tool that Groq ran."""
    arguments, raw = arguments_of(item.get("arguments"))
    name = as_text(item.get("name")) or as_text(item.get("type")) or ""
    return ToolCall(name, as_text(item.get("id")), arguments, raw, server=True, choice=choice)


def _later_choice(part: Part, choices: list[Object]) -> bool:
    """True for parts of any choice but the first: a turn's text is that of its first choice."""
    return len(choices) > 1 and not part.pointer.startswith("/choices/0/")


def _word(choice: Object) -> str | None:
    """The finish word of a choice; old vision models put it into `finish_details`."""
    word = choice.get("finish_reason")
    if word is None:
        word = as_object(choice.get("finish_details")).get("type")
    if is_object(word):
        word = as_object(word).get("type") or compact(word)
    return word if isinstance(word, str) else None if word is None else str(word)


def _verdict(
    choices: list[Object], finish: Mapping[str, FinishLabel]
) -> tuple[str | None, FinishLabel | None, str | None]:
    """The first choice's word, its label, and what was beside it."""
    words = [_word(choice) for choice in choices]
    raw = next((word for word in words if word), words[0] if words else None)
    label = finish.get(raw.lower(), "unknown") if raw else None
    details: list[str] = []
    if len(others := dict.fromkeys(word for word in words if word)) > 1:
        details.append("finish reasons of the choices: " + ", ".join(others))
    native = next((w for c in choices if (w := as_text(c.get("native_finish_reason")))), None)
    if native:
        if raw and native.lower() != raw.lower():
            details.append(f"native finish reason: {native}")
        native_label = finish.get(native.lower())
        if native_label in _MORE_EXACT and label != "error":
            label = native_label
    for choice in choices:
        if message := as_text(choice.get("finish_message")):
            details.append(message)
    return raw, label, "; ".join(details) or None


def chat_usage(usage: Object) -> Usage:
    """Input counts cached tokens; output counts reasoning, also where the server leaves it outside (xAI)."""
    prompt = as_count(usage.get("prompt_tokens", usage.get("input_tokens")))
    completion = as_count(usage.get("completion_tokens", usage.get("output_tokens")))
    total = as_count(usage.get("total_tokens"))
    in_details = as_object(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    out_details = as_object(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
    reasoning = as_count(out_details.get("reasoning_tokens"))
    if reasoning is None:
        reasoning = as_count(usage.get("reasoning_tokens"))
    cached = _first_count(
        in_details.get("cached_tokens"), usage.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"),
        usage.get("cache_read_input_tokens"),
    )  # fmt: skip
    written = _first_count(
        in_details.get("cache_write_tokens"),
        in_details.get("cache_creation_tokens"),
        usage.get("cache_creation_input_tokens"),
    )
    output = completion
    known = prompt is not None and completion is not None and bool(reasoning)
    if known and total == (prompt or 0) + (completion or 0) + (reasoning or 0):
        output = (completion or 0) + (reasoning or 0)
    return Usage(prompt, cached, written, output, reasoning)


def _first_count(*values: object) -> int | None:
    return next((count for value in values if (count := as_count(value)) is not None), None)
