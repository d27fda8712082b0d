"""Texts of results that are not what a tool writes: with HTML escapes, twice, or with a note that they are not whole."""

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
from .damaged import result_damaged
from .results import READERS, new_results, only_value, tool_of

_LONGEST = 20_000
_ESCAPE = regex(r"&(?:quot|lt|gt|apos|#0?39|#0?34|#x2[27]);")
"""What replaces the signs that a page cannot hold as they are."""
_SIGNS = frozenset("\"'<>")
_LONG_COPY = 200
"""Characters. A shorter text may be there twice on purpose."""


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


RULES = (result_escaped, result_twice, result_incomplete)
