"""Results that are not what their tool wrote: damaged, with HTML escapes, twice, or with a note that they are not whole."""

import re
from collections.abc import Iterator
from html import unescape

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...wire.json_value import is_array, is_object, parse_json
from ...wire.values import Part
from ..repetition import said_twice
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..transformations import damage
from .call_shape import LOST
from .damaged import HALF, HALVED, end_of, strings_in, was_halved
from .emission import lacks_end
from .results import READERS, new_results, only_value, tool_of

_LONGEST = 20_000
_ESCAPE = regex(r"&(?:quot|lt|gt|apos|#0?39|#0?34|#x2[27]);")
"""What replaces the signs that a page cannot hold as they are."""
_SIGNS = frozenset("\"'<>")
_LONG_COPY = 200
"""Characters. A shorter text may be there twice on purpose."""


@rule(
    "client-result-damaged",
    "client",
    "warning",
    "S",
    says="The result of a tool was damaged on its way: UTF-8 that was read as another encoding, bytes that were lost, NUL, "
    "escapes in place of characters, or JSON whose end is missing.",
    fix="Decode the tool's output as UTF-8, write it as JSON once, and say where a result was cut.",
    not_when=(
        "A tool that reads files, logs or pages: they may hold it",
        "The request held the same before",
        "It is prose with escapes of HTML: then it is an info",
    ),
)
def result_damaged(context: RuleContext) -> Iterator[Note]:
    for part, result in new_results(context):
        name = tool_of(context, result)
        if HALF.search(result.text) and not was_halved(context):
            yield Note(
                f"the result of {name or 'a tool'!r} holds {HALVED}: {end_of(result.text.strip())!r}",
                (f"{context.at} request {part.pointer}",),
                key=result.call_id or part.pointer,
            )
            continue
        if READERS.search(name) or len(result.text) > _LONGEST:
            continue
        if not result.is_error and cut_json(result.text):
            yield Note(
                f"the result of {name or 'a tool'!r} is JSON that ends in the middle, after {len(result.text):,} characters, "
                f"and does not say so: {end_of(result.text.strip())!r}",
                (f"{context.at} request {part.pointer}",),
                key=result.call_id or part.pointer,
            )
            continue
        if (times := written_again(result.text)) > 1:
            yield Note(
                f"the result of {name or 'a tool'!r} is JSON that was written as a JSON string {times} times: "
                f"{cut(result.text.strip(), 80)!r}",
                (f"{context.at} request {part.pointer}",),
                key=result.call_id or part.pointer,
            )
            continue
        found = _of_result(result.text) or _lost(context, result.text)
        if found is None:
            continue
        before = context.before
        if before is not None and found.split("'")[1:2] and _holds(before.round_trip.request.body, found):
            continue
        yield Note(
            f"the result of {name or 'a tool'!r} holds {found}: {cut(result.text.strip(), 80)!r}",
            (f"{context.at} request {part.pointer}",),
            key=result.call_id or part.pointer,
        )


def _of_result(text: str) -> str | None:
    """What is wrong with a result, or with a text in the JSON that it is."""
    value = parse_json(text) if text.lstrip()[:1] in ("{", "[") else None
    for words in (text, *(words for _, words in strings_in(value))):
        found = damage(words)
        if found is not None and (found[1] == "encoding" or "NUL" in found[0]):
            return found[0]
    return None


def _lost(context: RuleContext, text: str) -> str | None:
    """Characters of a result whose bytes were lost; None where a cut explains it, or anything before holds the same."""
    bare = text.strip()
    if LOST not in bare.strip(LOST) or _NOTICE.search(text):
        return None
    before = context.before.reading if context.before is not None else None
    said = [call.arguments_raw for call in before.emission.calls] if before is not None and before.emission else []
    body = context.before.round_trip.request.body if context.before is not None else b""
    if LOST.encode() in body or b"\\ufffd" in body.lower() or any(LOST in one or "\\ufffd" in one for one in said):
        return None
    return "the replacement character U+FFFD: bytes of it were lost"


def _holds(body: bytes, what: str) -> bool:
    """True when the sign of the damage is in an earlier request."""
    sign = what.split("'")[1]
    return sign.encode() in body or sign.replace("\\", "\\\\").encode() in body


_BEGINS = regex(r'\s*(?:\{\s*"|\[\s*(?:[{\["\d]))')
_SHORTEST_JSON = 40
"""Characters. A shorter result may be a word of a tool's own."""


def cut_json(text: str) -> bool:
    """True for a text that begins as JSON and is JSON up to its end, which is missing."""
    bare = text.strip()
    if len(bare) < _SHORTEST_JSON or not _BEGINS.match(bare) or _NOTICE.search(bare[-_TAIL:]):
        return False
    return lacks_end(bare)


def written_again(text: str) -> int:
    """How often a text was written as a JSON string, the last time around JSON."""
    times, value = 0, text.strip()
    while value[:1] == value[-1:] == '"' and isinstance(inner := parse_json(value), str):
        times, value = times + 1, inner.strip()
    return times if value[:1] in ("{", "[") and parse_json(value) is not None else 0


_TAIL = 120
_NOTICE = regex(
    r"\.\.\.|…|truncat|omitted|cut off|clipped|more (?:items|lines|characters)|remaining|limit", re.IGNORECASE
)
"""How a tool or a client says that something is missing."""


@result_damaged.also("ended")
def result_escaped(context: RuleContext) -> Iterator[Note]:
    """Results with the escapes of a page in place of all quotation marks and angle brackets."""
    for part, name, text in _texts(context):
        if (escape := _escaped(text)) is not None:
            yield Note(
                f"the result of {name or 'a tool'!r} has {escape!r} in place of its signs: it was escaped for a page: "
                f"{cut(text, 80)!r}",
                (f"{context.at} request {part.pointer}",),
                severity=None if _is_json(unescape(text)) else "info",
                key=part.pointer,
            )


def _texts(context: RuleContext) -> Iterator[tuple[Part, str, str]]:
    """The new results that a tool wrote itself: the part, the name of the tool, the text."""
    for part, result in new_results(context):
        text = (only_value(result.text) or result.text).strip()
        name = tool_of(context, result)
        if len(text) <= _LONGEST and not result.is_error and not READERS.search(name):
            yield part, name, text


@rule(
    "result-text-twice",
    "client",
    "warning",
    "S",
    says="A result is the same text twice, and each later turn pays for both.",
    fix="Give the model one of the two: the content of a result, or its structured form.",
    not_when=(
        "A tool that reads files, logs or pages: they may hold it",
        "The text repeats one thing, as a list does",
        "The text has less than 200 characters: then it is an info",
    ),
)
def result_twice(context: RuleContext) -> Iterator[Note]:
    for part, name, text in _texts(context):
        if (copy := said_twice(text)) is not None:
            yield Note(
                f"the result of {name or 'a tool'!r} is the same text twice, of {len(copy):,} characters: {cut(text, 80)!r}",
                (f"{context.at} request {part.pointer}",),
                severity=None if len(copy) >= _LONG_COPY else "info",
                key=part.pointer,
            )


def _escaped(text: str) -> str | None:
    """The first escape of a text in which every quotation mark and angle bracket is one; None for any other text."""
    found = _ESCAPE.search(text)
    return None if found is None or not _SIGNS.isdisjoint(text) else found[0]


def _is_json(text: str) -> bool:
    value = parse_json(text) if text[:1] in ("{", "[") else None
    return is_object(value) or is_array(value)


_CUT = regex(
    r"[\[(<{…][^\[\]()<>{}\n]{0,60}\b(?:truncated|omitted|clipped|cut off|shortened|abridged|elided)\b[^\[\]()<>{}\n]{0,120}"
    r"[\])>}…]|(?:\.\.\.|…)\s*\(?\d[\d,]* (?:more )?(?:characters|chars|lines|bytes|tokens|items)\b"
    r"|\b(?:output|result|content|text|response) (?:was |has been |is )?(?:truncated|cut off|clipped|shortened)\b",
    re.IGNORECASE,
)
"""How a client or a tool says that it left out a part of a result."""
_NOT_RUN = regex(
    r"\A\W*(?:request interrupted by (?:the )?user"
    r"|(?:the )?user (?:doesn't|does not|didn't|did not) want to (?:proceed|take this action)"
    r"|(?:the )?(?:user|human|operator) (?:has )?(?:rejected|declined|denied|refused|cancell?ed|interrupted|aborted)\b"
    r"|(?:the )?(?:tool|function|command)?(?: ?(?:call|use|execution|run))? ?(?:was |has been )?"
    r"(?:rejected|declined|denied|cancell?ed|interrupted|aborted) by (?:the )?user)",
    re.IGNORECASE,
)
"""How a client says, in place of a result, that a person stopped the call."""
_NOTE_LENGTH = 1_000
"""Characters. A longer text is more than a note about a call."""


@rule(
    "result-incomplete",
    "client",
    "info",
    "S",
    says="A result says itself that it is not whole: the client or the tool left out a part of it, or a person stopped the "
    "call. The model answers without the rest.",
    fix="Return pages or a summary, and say how to get the rest; after a refusal, let the model know what to do instead.",
    not_when=("A result of the same tool said so before in the thread",),
)
def result_incomplete(context: RuleContext) -> Iterator[Note]:
    for part, result in new_results(context):
        text = only_value(result.text) or result.text
        stopped = _NOT_RUN.search(text) if len(text) <= _NOTE_LENGTH else None
        found = stopped or _CUT.search(text)
        if found is not None:
            name = tool_of(context, result)
            what = "says that a person stopped the call" if stopped else "says that a part of it is missing"
            yield Note(
                f"the result of {name or 'a tool'!r} {what}: {_around(text, found.start())!r}",
                (f"{context.at} request {part.pointer}",),
                key=(name, what),
            )


def _around(text: str, at: int) -> str:
    return cut(text[max(at - 20, 0) :].strip(), 80)


RULES = (result_damaged, result_escaped, result_twice, result_incomplete)
