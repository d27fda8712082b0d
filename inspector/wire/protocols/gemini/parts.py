"""The contents and parts of Gemini, in requests and answers. Field names come in camel case and in snake case."""

from turntape.cassettes.regex import regex

from ...json_value import Object, as_array, as_object, as_text, compact, is_array, is_object, objects_in
from ...values import Part, ToolCall, ToolResult
from ..shared.parts import arguments_of, call_part, media_part, text_of, text_part

_HUMP = regex(r"[A-Z]")
_STEP = regex(r"[^.\[\]'\"$]+")
_MEDIA = ("inlineData", "fileData", "inline_data", "file_data")
_SERVER_PARTS = ("executableCode", "toolCall", "executable_code", "tool_call")
PROGRAMS = {"code_execution": frozenset({"codeExecution", "code_execution"})}
"""The tool that runs programs, as its calls are named here and as requests offer it."""
_SERVER_RESULTS = ("codeExecutionResult", "toolResponse")


def get(fields: Object, name: str) -> object:
    """The field `name` (camel case) under either spelling."""
    if name in fields:
        return fields[name]
    return fields.get(_HUMP.sub(lambda m: "_" + m[0].lower(), name))


def read_parts(content: object, pointer: str, choice: int = 0) -> list[Part]:
    """The parts of a content; a bare string is one text."""
    if isinstance(content, str):
        return [text_part(content, pointer, content)]
    if is_array(content):
        return [p for i, c in enumerate(as_array(content)) for p in read_parts(c, f"{pointer}/{i}", choice)]
    fields = as_object(content)
    parts = fields.get("parts")
    if isinstance(parts, str):
        return [text_part(parts, f"{pointer}/parts", parts)]
    if is_object(parts):
        return [_part(as_object(parts), f"{pointer}/parts", choice)]
    if "parts" not in fields and "text" in fields:
        return [_part(fields, pointer, choice)]
    return [_part(as_object(p), f"{pointer}/parts/{i}", choice) for i, p in enumerate(as_array(parts))]


def _part(part: Object, pointer: str, choice: int) -> Part:
    signature = as_text(get(part, "thoughtSignature"))
    if is_object(call := get(part, "functionCall")):
        return call_part(_call(as_object(call), choice), pointer, part, signature)
    if is_object(response := get(part, "functionResponse")):
        result = _result(as_object(response))
        return Part("result", pointer, text=result.text, result=result, raw=part)
    for name in _SERVER_PARTS:
        if is_object(value := part.get(name)):
            return call_part(_server_call(name, as_object(value), choice), pointer, part, signature)
    text = as_text(part.get("text"))
    if text is not None:
        kind = "reasoning" if part.get("thought") is True else "text"
        return Part(kind, pointer, text, signature=signature, raw=part)
    if is_object(spoken := get(part, "audioTranscription")):
        # The words of the audio beside it.
        return Part("text", pointer, text_of(as_object(spoken).get("text")), signature=signature, raw=part)
    for name in _MEDIA:
        if is_object(part.get(name)):
            return media_part(_media_kind(part) or "media", pointer, part)
    if signature is not None:
        return Part("reasoning", pointer, signature=signature, raw=part)
    for name in _SERVER_RESULTS:
        if is_object(value := get(part, name)):
            result = _server_result(as_object(value))
            return Part("result", pointer, text=result.text, result=result, raw=part)
    known = next(iter(part), None)
    return Part("other", pointer, text=f"[{known}]" if known else "", raw=part)


def _media_kind(part: Object) -> str | None:
    """The media type of a part that holds media or names a file."""
    found = next((value for name in _MEDIA if is_object(value := part.get(name))), None)
    return as_text(get(as_object(found), "mimeType")) or ("media" if found is not None else None)


def _call(call: Object, choice: int) -> ToolCall:
    arguments, raw = arguments_of(call.get("args", {}))
    complete = get(call, "willContinue") is not True
    name, call_id = as_text(call.get("name")) or "", as_text(call.get("id")) or None
    return ToolCall(name, call_id, arguments, raw, complete=complete, choice=choice)


def _server_call(name: str, value: Object, choice: int) -> ToolCall:
    label = "code_execution" if name.lower().startswith("exec") else as_text(get(value, "toolType")) or name
    arguments = value.get("args", value)
    call_id = as_text(value.get("id"))
    return ToolCall(label, call_id, arguments, compact(arguments), server=True, choice=choice)


def _server_result(value: Object) -> ToolResult:
    """What the API's own tool gave: a program's output, or a response of any shape."""
    outcome = value.get("outcome")
    failed = outcome not in (None, 1, "OUTCOME_OK", "OUTCOME_UNSPECIFIED")
    text = text_of(value.get("output")) if "outcome" in value or "output" in value else text_of(value.get("response"))
    return ToolResult(
        as_text(value.get("id")),
        as_text(get(value, "toolType")),
        failed,
        text,
        server=True,
        program_failed=outcome == "OUTCOME_FAILED",
    )


def _result(response: Object) -> ToolResult:
    body = response.get("response")
    fields = as_object(body)
    error = fields.get("error")
    inner = fields.get("output", fields.get("result")) if len(fields) == 1 else None
    text = _given(inner) if inner is not None else compact(body) if body is not None else ""
    media = [f"[{kind}]" for part in objects_in(response.get("parts")) if (kind := _media_kind(part))]
    text = "\n".join(filter(None, (text, *media)))
    call_id, name = as_text(response.get("id")) or None, as_text(response.get("name"))
    return ToolResult(call_id, name, error not in (None, "", False), text)


def _given(value: object) -> str:
    """What a tool gave, as the model reads it: the texts of blocks, and everything else as JSON, images too."""
    if is_array(value):
        return "\n".join(filter(None, map(_given, as_array(value))))
    fields = as_object(value)
    blocks = any(isinstance(fields.get(key), str) or is_array(fields.get(key)) for key in ("text", "content"))
    return compact(value) if is_object(value) and not blocks else text_of(value)


def grow_call(call: Object, pieces: object) -> None:
    """Add `partialArgs` to a call. Each has a JSON path and a piece of the value there."""
    arguments = dict(as_object(call.get("args")))
    for piece in as_array(pieces):
        fields = as_object(piece)
        steps = _STEP.findall(as_text(get(fields, "jsonPath")) or "")
        value = next((get(fields, n) for n in _VALUES if get(fields, n) is not None), None)
        if steps:
            _put(arguments, steps, value)
    call["args"] = arguments


_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


def _put(target: Object, steps: list[str], value: object) -> None:
    *above, last = steps
    for step in above:
        inner = target.get(step)
        fields = as_object(inner) if is_object(inner) else {}
        target[step] = fields
        target = fields
    old = target.get(last)
    joined = isinstance(old, str) and isinstance(value, str)
    target[last] = f"{old}{value}" if joined else value
