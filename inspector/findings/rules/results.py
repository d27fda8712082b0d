"""The tool results that the client sent, and how they make the context grow."""

import re
from collections.abc import Iterable, Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...wire.json_value import as_object, is_object, parse_json
from ...wire.printable import several
from ...wire.values import Part, ToolResult
from ..finding import Severity
from ..rule import Note, rule
from ..rule_context import RuleContext

_ERROR = regex(
    r"\s*+(?:error\b|mcp error\b|\w+(?:Error|Exception)\b:?|traceback \(most recent|exception\b|api request failed|http [45]\d\d|\{\s*\"(?:error|iserror)\"\s*:(?!\s*(?:null|false|\"\"))"
    r"|(?:missing (?:a |the )?required|invalid) (?:argument|parameter|request|input)s?\b"
    r"|(?:the )?(?:tool|function|command) (?:execution|call|use|run)? ?(?:was |has been )?"
    r"(?:aborted|cancell?ed|interrupted|timed out|rejected|denied|skipped)\b"
    r"|rate limit (?:exceeded|reached)|too many requests\b|(?:internal server error|service unavailable|bad gateway|gateway "
    r"time-?out|unauthorized|forbidden|access denied|permission denied)(?=\s*(?:[.:!,;(\n]|\Z))|connection (?:refused|reset|timed out)\b"
    r"|\{\s*\"ok\"\s*:\s*false|(?!\s*(?:\d|tests?\b))[\w ]{0,40}\bfailed\b"
    r"|(?:<!doctype html[^<>]*>\s*)?<html[^<>]*>\s*(?:<head[^<>]*>\s*)?<title>\s*[45]\d\d\b)",
    re.IGNORECASE,
)
READERS = regex(
    r"(?<!th)(?<!sp)(?<!b)read(?!y)|(?<!cata)(?<!dia)(?<!b)log(?!in|out|ic|ist)|(?<!pro)file|(?<![a-z])cat(?![a-z])"
    r"|grep|search|fetch|(?<!re)(?<!inter)view|open|query",
    re.IGNORECASE,
)
"""Names of tools that return what others wrote. Other words hold some of these: a location, a catalog, a profile."""
_SERVERS_PAGE = regex(
    r"(?:<!doctype html[^<>]*>\s*)?<html[^<>]*>\s*(?:<head[^<>]*>\s*)?<title>\s*5\d\d\b[^<>]*</title>"
    r".*</html>\s*(?:<!--[^>]*-->\s*)*\Z",
    re.DOTALL,
)
"""The page that a server or a gateway shows in place of an answer."""
_HUGE = 50_000
_MESSAGE = 300
_REPORT = 2_000
"""Characters. A longer object holds more than a report of a failure."""
EMPTY = frozenset({"", "[]", "null", "{}", "None"})
"""The texts of results that hold nothing."""


_EXCEPTION = regex(
    r"\s*(?:'\w+' object (?:has no attribute '\w+'|is not (?:subscriptable|iterable|callable))"
    r"|(?:list|string|tuple|list assignment) index out of range|unsupported operand type\(s\) for [^\n]+"
    r"|cannot (?:read|set) propert(?:y|ies) of (?:undefined|null)[^\n]*|name '\w+' is not defined|no module named '[\w.]+'"
    r"|[\w.$]+ is not (?:a function|iterable)|invalid literal for int\(\) with base \d+: [^\n]+"
    r"|could not convert string to float: [^\n]+|(?:float |integer )?(?:division|modulo) by zero|\[Errno -?\d+\] [^\n]+"
    r"|[\w.]+\(\) (?:missing \d+ required|got an unexpected keyword|takes \d+ positional)[^\n]+"
    r"|expecting value: line \d+ column \d+ \(char \d+\)|object of type \w+ is not json serializable)\s*\Z",
    re.IGNORECASE,
)
"""What the exceptions of Python and JavaScript say, where a client sends that without their type."""


def reads_like_error(text: str) -> bool:
    """True for a result that begins as errors of tools do, or is the message of an exception."""
    return _ERROR.match(text) is not None or (len(text) <= _MESSAGE and _EXCEPTION.match(text) is not None)


def reports_failure(text: str) -> bool:
    """True for a JSON object whose own fields say that the call failed and why, such as `{"success": false, "error": …}`."""
    said = as_object(parse_json(text)) if text.lstrip()[:1] == "{" and len(text) <= _REPORT else {}
    failed = any(said.get(key) is False for key in ("success", "ok")) or said.get("status") in ("error", "failed")
    failed = failed or any(_is_bad_status(said.get(key)) for key in ("status", "statusCode", "status_code"))
    return failed and any(said.get(key) for key in ("error", "errors", "message", "reason"))


def _is_bad_status(value: object) -> bool:
    """True for a status of HTTP that says that a request failed."""
    return isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599


def only_value(text: str) -> str:
    """The string that a JSON object holds alone, as clients of Gemini and Cohere wrap results; else empty."""
    value = parse_json(text) if text.lstrip()[:1] == "{" else None
    while is_object(value):
        values = list(as_object(value).values())
        value = values[0] if len(values) == 1 else None
    return value if isinstance(value, str) else ""


def new_results(context: RuleContext) -> list[tuple[Part, ToolResult]]:
    """The results that this request brings for the first time, with the parts that hold them."""
    echo, previous = context.echo, context.previous
    if echo is not None:
        return _results(unit.part for unit in echo.new)
    if previous is not None and previous.failed:
        old = set(previous.conversation.meanings)
        return _results(unit.part for unit in context.turn.conversation.history if unit.meaning not in old)
    if context.is_attempt:
        return []
    return _results(part for message in context.request.messages for part in message.parts)


def _results(parts: Iterable[Part]) -> list[tuple[Part, ToolResult]]:
    return [(part, part.result) for part in parts if part.result is not None and not part.result.server]


def _of(name: str, result: ToolResult) -> str:
    """The result as the beginning of a sentence, with the tool's name or the id of the call if there is one."""
    named = name or result.call_id
    return f"the result of {named!r}" if named else "a result"


def tool_of(context: RuleContext, result: ToolResult) -> str:
    """The name of the tool whose result this is; empty when nothing names it."""
    known = None if result.call_id is None else context.calls.get(result.call_id)
    return known.call.name if known is not None and known.call is not None else result.name or ""


@rule(
    "client-tool-error-as-success",
    "client",
    "warning",
    "S",
    says="A result reads like an error and is not marked as one.",
    fix="Set `is_error` (Anthropic) or `status: error` (Bedrock), so that the model knows.",
    not_when=(
        "Tools that read files, logs or pages, unless the text is the error page of a server",
        "It is an object whose own fields say that the call failed, and why: then it is an info",
        "The API has no such mark: then `tool-result-is-error` says so",
    ),
)
def error_as_success(context: RuleContext) -> Iterator[Note]:
    if context.protocol.requests.marks_errors:
        for part, result in _errors(context):
            yield Note(
                f"{_of(tool_of(context, result), result)} reads like an error and is not marked as one: {cut(result.text, 80)!r}",
                (f"{context.at} request {part.pointer}",),
                key=result.call_id or part.pointer,
            )
        yield from _failures(context)


@rule(
    "tool-result-is-error",
    "tool",
    "info",
    "S",
    says="A result reads like an error: the tool failed, or it refused the call. The model got the error as the result.",
    fix="Read the error: it says whether the tool or the arguments are wrong.",
    not_when=(
        "Tools that read files, logs or pages, unless the text is the error page of a server",
        "The API has a mark for errors: then `client-tool-error-as-success` says so",
    ),
)
def error_in_result(context: RuleContext) -> Iterator[Note]:
    if not context.protocol.requests.marks_errors:
        for part, result in _errors(context):
            yield Note(
                f"{_of(tool_of(context, result), result)} reads like an error: {cut(result.text, 80)!r}",
                (f"{context.at} request {part.pointer}",),
                key=result.call_id or part.pointer,
            )
        yield from _failures(context)


def _failures(context: RuleContext) -> Iterator[Note]:
    """Results without a mark whose own fields say that the call failed, as many tools write them on purpose."""
    for part, result in new_results(context):
        if not result.is_error and not reads_like_error(result.text) and reports_failure(result.text):
            yield Note(
                f"{_of(tool_of(context, result), result)} says in its own fields that the call failed: {cut(result.text, 80)!r}",
                (f"{context.at} request {part.pointer}",),
                severity="info",
                key=result.call_id or part.pointer,
            )


def _errors(context: RuleContext) -> Iterator[tuple[Part, ToolResult]]:
    """The new results that read like errors and have no mark that says so."""
    for part, result in new_results(context):
        text = only_value(result.text) or result.text
        if result.is_error or not (reads_like_error(text) or reads_like_error(result.text)):
            continue
        if not READERS.search(tool_of(context, result)) or is_error_of_reader(text) or is_error_of_reader(result.text):
            yield part, result


def is_error_of_reader(text: str) -> bool:
    """True for an error of a tool that reads; the lines of a log may begin alike."""
    said = text.strip().lower()
    if said.startswith("traceback") or (len(said) <= _REPORT and _SERVERS_PAGE.match(said) is not None):
        return True
    return said.startswith(("error", '{"error"')) and sum(bool(line.strip()) for line in said.splitlines()) <= 2


@rule(
    "client-huge-tool-result",
    "client",
    "warning",
    "P",
    says="One result takes up a large part of the context window.",
    fix="Shorten results at their source, return them in pages, or return the name of a file.",
)
def huge_result(context: RuleContext) -> Iterator[Note]:
    for part, result in new_results(context):
        if len(result.text) > _HUGE:
            full = context.finish.label == "context_full" or bool(
                context.rejection and "api-context-full" in context.rejection.ids
            )
            severity: Severity | None = "error" if full else None
            yield Note(
                f"{_of(tool_of(context, result), result)} has {len(result.text):,} characters "
                f"(about {len(result.text) // 4:,} tokens), and every later turn sends them again",
                (f"{context.at} request {part.pointer}",),
                severity=severity,
                key=result.call_id or part.pointer,
            )


@rule(
    "client-empty-tool-result",
    "client",
    "info",
    "P",
    says="A tool returns an empty result again and again, or results that came together are all in one of them.",
    fix="Let the result say what was searched and that nothing was found; check that each result is under its own call.",
)
def empty_result(context: RuleContext) -> Iterator[Note]:
    new = new_results(context)
    empty = [(part, result) for part, result in new if result.text.strip() in EMPTY]
    if empty and any(result.text.strip().count("\n") + 1 >= len(new) > 1 for _, result in new):
        yield Note(
            f"{several(len(empty), 'result')} of {len(new)} that came together {'is' if len(empty) == 1 else 'are'} empty, and "
            "another one has several lines: it may hold them all",
            tuple(f"{context.at} request {part.pointer}" for part, _ in empty[:3]),
            key="joined",
        )
    for part, result in new:
        if result.text.strip() not in EMPTY:
            continue
        name = tool_of(context, result)
        earlier = [
            step for step in list(context.thread.steps)[:-1] if any(t.strip() in EMPTY for t in step.result_texts)
        ]
        if earlier:
            yield Note(
                f"{_of(name, result)} is empty again",
                (f"{context.at} request {part.pointer}",),
                key=name,
            )


@rule(
    "client-context-growth",
    "client",
    "info",
    "P",
    says="The input grows a lot with every turn.",
    fix="Look in the context page of `turntape view` for what grows; shorten results, compact the history.",
)
def context_growth(context: RuleContext) -> Iterator[Note]:
    usage, seen = context.reading.usage, context.thread.input_tokens
    if usage is None or not usage.input or len(seen) < 9:
        return
    first, last = seen[0], (context.index, usage.input)
    turns = len(seen)
    if last[1] > 10 * max(first[1], 1) and last[1] > 20_000:
        slope = (last[1] - first[1]) // turns
        yield Note(
            f"the input grew from {first[1]:,} to {last[1]:,} tokens, about {slope:,} per turn",
            (f"#{first[0]} usage input {first[1]}", f"#{last[0]} usage input {last[1]}"),
            key="growth",
        )


@rule(
    "client-image-or-blob-resent",
    "client",
    "info",
    "P",
    says="The same image or file is sent with every request.",
    fix="Upload it once and refer to it, or remove it once the model has read it.",
)
def blob_resent(context: RuleContext) -> Iterator[Note]:
    for part, blob in context.blobs:
        if context.thread.blobs.get(blob) == 2:
            yield Note(
                "the same image or file is sent for the third time",
                (f"{context.at} request {part.pointer}",),
                key=blob,
            )


RULES = (error_as_success, error_in_result, huge_result, empty_result, context_growth, blob_resent)
