"""Results that hold a placeholder of the client's language instead of what the tool returned."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...analysis.conversation import call_meaning
from ...wire.json_value import as_array, as_object, is_object, parse_json
from ...wire.values import Part, ToolResult
from ..rule import Note, rule
from ..rule_context import RuleContext
from .results import new_results, only_value, tool_of

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
    (
        "the client's own note that it left out an image or a file",
        regex(
            r"[\[<(](?:[^\[\]<>()]{0,40}\b)?(?:image|screenshot|picture|photo|audio|video|file|pdf|media|attachment)s?\b"
            r"[^\[\]<>()]{0,60}\b(?:omitted|removed|stripped|dropped|not (?:shown|supported|displayed|included)|"
            r"unsupported|left out)\b[^\[\]<>()]{0,60}[\]>)]",
            re.IGNORECASE,
        ),
    ),
    (
        "a task of .NET that nobody awaited",
        regex(r"System\.(?:Threading\.Tasks\.(?:Value)?Task|Runtime\.CompilerServices\.Async\w+)(?:`\d\[.{0,200}\])?"),
    ),
    ("a type of .NET in place of a value", regex(r"System\.(?:[A-Z]\w*\.)*[A-Z]\w*(?:`\d\[.{0,200}\]|\[\])")),
    (
        "a mock of a test",
        regex(r"<(?:Async|NonCallable|Magic|Property)*Mock (?:name=.{1,120} )?(?:spec=.{1,80} )?id='\d+'>"),
    ),
    ("a promise that nobody awaited", regex(r"Promise \{.*\}", re.DOTALL)),
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
        "It is `None`, `null` or JSON with only null, and nothing shows that there was a result: then it is an info",
    ),
)
def unserialized_result(context: RuleContext) -> Iterator[Note]:
    for part, result in new_results(context):
        if result.is_error:
            continue
        what = placeholder(result.text) or placeholder(only_value(result.text)) or represented(result.text)
        what = what or represented(only_value(result.text))
        wrapped = None if what else _enveloped(result.text) or _enveloped(only_value(result.text))
        what = what or wrapped
        name = tool_of(context, result)
        if what is None and not _RUNS_CODE.search(name) and is_bytes(result.text):
            what = "bytes that nobody decoded"
        if what is not None:
            named = f"the result of {name!r}" if name else "a result"
            yield Note(
                f"{named} is {what}: {cut(result.text.strip(), 100)!r}",
                (f"{context.at} request {part.pointer}",),
                key=result.call_id or part.pointer,
                severity="info" if wrapped else None,
            )
    yield from _missing_values(context)


_MISSING = frozenset({"None", "null", "nil", "NULL"})
_FIELDS = ("content", "output")
"""Where APIs have the text of a result."""


def _missing_values(context: RuleContext) -> Iterator[Note]:
    """Results that are the missing value of a language, in words or as JSON's null."""
    new = [(part, result) for part, result in new_results(context) if not result.is_error]
    missing = [(part, result) for part, result in new if _is_missing(part, result)]
    all_at_once = len(missing) == len(new) > 1
    for part, result in missing:
        name, shown = tool_of(context, result), result.text.strip()[:40]
        named = f"the result of {name!r}" if name else "a result"
        nothing = not shown
        what = "null in place of a text" if nothing else repr(shown)
        proof = _returned_before(context, result, name, alone=not all_at_once)
        yield Note(
            f"{named} is {what}: the tool returned nothing, or the client lost what it returned"
            + (f"; {proof[1]}" if proof is not None else ""),
            (
                *([f"#{proof[0]} call {name}"] if proof is not None else []),
                f"{context.at} request {part.pointer}",
            ),
            key=result.call_id or part.pointer,
            severity=None if nothing or proof is not None else "info",
        )


def _is_missing(part: Part, result: ToolResult) -> bool:
    text = result.text.strip()
    if not text:
        raw = as_object(part.raw)
        return any(field in raw and raw[field] is None for field in _FIELDS)
    return text.strip("\"'") in _MISSING or (text[:1] == "{" and _holds_only_null(parse_json(text)))


def _holds_only_null(value: object) -> bool:
    """True for null as the only value of a JSON object, as clients of Gemini wrap what a function returns."""
    values = list(as_object(value).values())
    return len(values) == 1 and values[0] is None


def _returned_before(context: RuleContext, result: ToolResult, name: str, *, alone: bool) -> tuple[int, str] | None:
    """The round trip that shows that the tool returns something, and how; None where nothing does.

    A tool may find something for one call and nothing for the next: only the same call proves it, or results that are
    missing all at once.
    """
    known = context.calls.get(result.call_id) if result.call_id is not None else None
    wanted = call_meaning(known.call) if known is not None and known.call is not None else None
    for step in reversed(list(context.thread.steps)[:-1]):
        given = next((text.strip() for text in step.result_texts if text.strip() not in {"", *_MISSING}), None)
        if given is None or step.errors or set(step.names) != {name}:
            continue
        if len(step.calls) == 1 and step.calls[0] == wanted:
            return step.index, f"the same call returned {cut(given, 40)!r} before"
        if not alone:
            return (
                step.index,
                f"all results of this request are missing, and {name!r} returned {cut(given, 40)!r} before",
            )
    return None


def is_bytes(text: str) -> bool:
    """True for bytes as Python writes them."""
    return any(_BYTES.fullmatch(one.strip()) for one in (text, only_value(text)))


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


RULES = (unserialized_result,)
