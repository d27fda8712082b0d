"""Results that hold a placeholder of the client's language instead of what the tool returned."""

import re
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...wire.json_value import as_array, as_object, is_object, parse_json
from ..rule import Note, rule
from ..rule_context import RuleContext
from .results import new_results, tool_of

_PLACEHOLDERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("an object that JavaScript wrote as a string", regex(r"(?:\[object \w+\],?)+")),
    ("a coroutine that nobody awaited", regex(r"<(?:coroutine|async_generator) object .{1,120} at 0x[0-9a-f]+>")),
    ("a future or a task that nobody awaited", regex(r"<(?:Future|Task) [^<>]*(?:<[^<>]*>[^<>]*)*>")),
    ("a generator that nobody read", regex(r"<generator object .{1,120} at 0x[0-9a-f]+>")),
    ("a function that nobody called", regex(r"<(?:bound method|function) .{1,120} at 0x[0-9a-f]+>+")),
    ("a Python object without a text form", regex(r"<[\w.]+ object at 0x[0-9a-f]+>")),
    (
        "the client's own note that it has no result",
        regex(
            r"[\[<(][^\[\]<>()]{0,80}\b(?:result|output|response)s?\b[^\[\]<>()]{0,40}"
            r"\b(?:missing|lost|unavailable|not available|not recorded|never received)\b[^\[\]<>()]{0,60}[\]>)]",
            re.IGNORECASE,
        ),
    ),
    ("a missing value of JavaScript", regex(r"undefined|NaN")),
    ("a Java object without a text form", regex(r"(?:[a-z]\w*\.){2,}[A-Z][\w$]*@[0-9a-f]{5,8}")),
)
"""What languages write for a value that has no text form, and what was forgotten. Each is the whole result."""


def placeholder(text: str) -> str | None:
    """What a result is when it is only a placeholder of a programming language; None for any other text."""
    bare = text.strip().strip("\"'")
    return next((what for what, pattern in _PLACEHOLDERS if pattern.fullmatch(bare)), None)


_REPRS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "the result object of an MCP client, written as a string",
        regex(r"(?:CallToolResult\()?(?:meta=\S+ )?,?\s*content=\[.*\].{0,4000}isError=(?:True|False)\)?", re.DOTALL),
    ),
    (
        "a list of content objects, written as a string",
        regex(r"\[(?:mcp\.types\.)?(?:Text|Image|Embedded)\w*\(type='\w+', .*\)\]", re.DOTALL),
    ),
    (
        "a list of content blocks, as Python writes it",
        regex(r"\[\{'type': '(?:text|image)', .*\}\]", re.DOTALL),
    ),
    (
        "a message object of a framework, written as a string",
        regex(
            r"content='.*' (?:additional_kwargs|response_metadata|tool_call_id|name)=.*"
            r"|\[?(?:AI|Human|Tool|System|ChatCompletion|Assistant|Response|Chat)\w*(?:Message|Output|Result)?\(\w+=.*\)\]?"
            r"|\[?(?:TextBlock|ToolUseBlock|ContentBlock|ToolReturnPart|ModelResponse)\(\w+=.*\)\]?",
            re.DOTALL,
        ),
    ),
    (
        "an object of Java, written as a string",
        regex(r"\[?[A-Z]\w*(?:Result|Content|Response|Message|Output)\[\w+=.*\]", re.DOTALL),
    ),
    (
        "a value of Go, written as a string",
        regex(r"&?\{?map\[\w+:.*\]\}?|&\{[A-Z]?\w*:?\[?0x[0-9a-f]{8,}.*\}", re.DOTALL),
    ),
    ("an HTTP response object, written as a string", regex(r"<Response \[\d{3}(?: [\w ]+)?\]>")),
    (
        "a finished process, written as a string",
        regex(r"CompletedProcess\(args=.*returncode=-?\d+.*\)", re.DOTALL),
    ),
)
"""Objects that hold the value beside other things. What they were written as is the whole text."""


_BYTES = regex(r"b'(?:[^'\\]|\\.){8,}'|b\"(?:[^\"\\]|\\.){8,}\"", re.DOTALL)
_RUNS_CODE = regex(r"python|code|exec|eval|run|shell|bash|repl|terminal|command|console", re.IGNORECASE)
"""Names of tools whose output may well be bytes, as Python prints them."""


def represented(text: str) -> str | None:
    """What a text is when it is an object around a value, as Python's `str` writes it; None for any other text."""
    bare = text.strip()
    if not bare.endswith((")", "]", ">", "True", "False", "}", "'")):
        return None
    return next((what for what, pattern in _REPRS if pattern.fullmatch(bare)), None)


@rule(
    "client-unserialized-result",
    "client",
    "warning",
    "S",
    says="The client sent a placeholder of its programming language, or an object around the value, as the result of a tool.",
    fix="Await the tool, take the value out of the object, and turn it into JSON or text before you send it.",
    not_when=(
        "The placeholder is only a part of the result",
        "The result is marked as an error",
        "It is bytes, and the tool runs code",
        "It is a whole result of an MCP server as JSON in another one: the model reads all of it, and it is an info",
    ),
)
def unserialized_result(context: RuleContext) -> Iterator[Note]:
    for part, result in new_results(context):
        if result.is_error:
            continue
        what = placeholder(result.text) or placeholder(_only_value(result.text)) or represented(result.text)
        what = what or represented(_only_value(result.text))
        wrapped = None if what else _enveloped(result.text) or _enveloped(_only_value(result.text))
        what = what or wrapped
        name = tool_of(context, result)
        if what is None and not _RUNS_CODE.search(name) and is_bytes(result.text):
            what = "bytes that nobody decoded"
        if what is not None:
            named = f"the result of {name!r}" if name else "a result"
            yield Note(
                f"{named} is {what}: {result.text.strip()[:100]!r}",
                (f"{context.at} request {part.pointer}",),
                key=result.call_id or part.pointer,
                severity="info" if wrapped else None,
            )


def is_bytes(text: str) -> bool:
    """True for bytes as Python writes them."""
    return any(_BYTES.fullmatch(one.strip()) for one in (text, _only_value(text)))


def _enveloped(text: str) -> str | None:
    """What a result is when a JSON text in it holds the content blocks of another result."""
    if '\\"content\\"' not in text and '\\"type\\"' not in text:
        return None
    for inner in _texts_in(parse_json(text)):
        value = parse_json(inner) if inner.lstrip()[:1] == "{" else None
        blocks = as_array(as_object(value).get("content"))
        if blocks and all(as_object(block).get("type") in _BLOCKS for block in blocks):
            return "the result of an MCP server as a JSON text inside another result"
    return None


_BLOCKS = frozenset({"text", "image", "audio", "resource", "resource_link"})


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for item in as_object(value).values():
            yield from _texts_in(item)


def _only_value(text: str) -> str:
    """The string that a JSON object holds alone, as clients of Gemini and Cohere wrap results; else empty."""
    value = parse_json(text) if text.lstrip()[:1] == "{" else None
    while is_object(value):
        values = list(as_object(value).values())
        value = values[0] if len(values) == 1 else None
    return value if isinstance(value, str) else ""


RULES = (unserialized_result,)
