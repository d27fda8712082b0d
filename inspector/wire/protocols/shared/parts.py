"""Small readers that all protocols share: parts of messages, arguments, results, tool choices."""

from collections.abc import Iterable

from ...exchange import Exchange
from ...json_value import as_array, as_object, as_text, compact, is_array, is_object, parse_json
from ...values import Part, PartKind, ResponseReading, ToolCall, ToolChoice


def text_part(text: str, pointer: str, raw: object, kind: PartKind = "text") -> Part:
    """A part that is only text."""
    return Part(kind, pointer, text=text, raw=raw)


def media_part(kind: str, pointer: str, raw: object) -> Part:
    """A part that is not text: an image, a file, audio; its text names it in brackets."""
    return Part("media", pointer, text=f"[{kind}]", raw=raw)


def call_part(call: ToolCall, pointer: str, raw: object, signature: str | None = None) -> Part:
    return Part("call", pointer, call=call, raw=raw, signature=signature)


def arguments_of(value: object) -> tuple[object, str]:
    """`(arguments, arguments_raw)` of what the wire had: JSON in a string, or the value itself."""
    if isinstance(value, str):
        return parse_json(value) if value else None, value
    return value, "" if value is None else compact(value)


def text_of(content: object) -> str:
    """The text of message or result content: a string, or a list of parts, media named in brackets."""
    if isinstance(content, str):
        return content
    if is_object(content):
        fields = as_object(content)
        for key in ("text", "content", "refusal", "thinking", "transcript"):
            if (inner := fields.get(key)) is not None and (text := text_of(inner)):
                return text
        data = as_object(fields.get("document")).get("data")
        if isinstance(data, str) or is_object(data):
            return data if isinstance(data, str) else compact(data)
        if kind := as_text(fields.get("type")):
            return "" if kind in ("text", "refusal", "thinking") else f"[{kind}]"
        return compact(fields)
    if is_array(content):
        return "\n".join(filter(None, (text_of(item) for item in as_array(content))))
    return "" if content is None else compact(content)


def texts(values: object) -> tuple[str, ...]:
    """A list of strings, or one string, as a tuple."""
    if isinstance(values, str):
        return (values,)
    return tuple(value for value in as_array(values) if isinstance(value, str))


def escaped(key: str) -> str:
    """`key` as one step of an RFC 6901 pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def chosen(mode: object, names: Iterable[str | None] = ()) -> ToolChoice | None:
    """A tool choice from the words that the APIs use for its modes."""
    known = {
        "auto": "auto",
        "validated": "auto",
        "none": "none",
        "required": "required",
        "any": "required",
    }
    found = tuple(name for name in names if name)
    match known.get(mode.lower()) if isinstance(mode, str) else None:
        case "auto":
            return ToolChoice("auto", found)
        case "none":
            return ToolChoice("none")
        case "required":
            return ToolChoice("named", found) if len(found) == 1 else ToolChoice("required", found)
        case _:
            return ToolChoice("named", found) if found else None


def other_fields(fields: dict[str, object], known: frozenset[str]) -> dict[str, object]:
    """The fields of a body that are not history, tools or system."""
    return {key: value for key, value in fields.items() if key not in known}


def unread(exchange: Exchange, what: str) -> ResponseReading:
    """An answer whose body is not the JSON object of `what`. It is cut when it begins like one."""
    body = exchange.response.body if exchange.response else b""
    if not body.strip():
        return ResponseReading(ended=False, problems=("The answer has no body.",))
    failed = exchange.round_trip.failure is not None
    cut = failed or body.lstrip()[:1] in (b"{", b"[")
    return ResponseReading(ended=not cut, problems=(f"The answer is not the JSON of {what}: it begins {body[:60]!r}.",))
