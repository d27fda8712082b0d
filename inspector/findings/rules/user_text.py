"""Whether the words of the user are still in the history: without them the model does not know what it was asked."""

import re
from collections.abc import Iterator

from ...analysis.conversation import Unit
from ...analysis.turn import Turn
from ...wire.printable import several
from ...wire.values import Part, RequestReading
from ..model_words import is_user_text, letters, surely_continues
from ..rule import Note, rule
from ..rule_context import RuleContext

_SUMMARY = 200
"""A text of at least this many characters may be a summary, in whatever words."""
_SHARED = 0.2
"""The share of the user's words that a short text must repeat to replace them."""
_WORD = re.compile(r"\w{4,}")


@rule(
    "client-user-text-lost",
    "client",
    "warning",
    "P",
    says="The request no longer contains what the user said.",
    fix="Keep the user's messages, or a summary of them, when you cut a history or hand it to another agent.",
    not_when=(
        "Their words are elsewhere in the request",
        "A summary replaces them",
        "The user says something new after a complete answer",
        "Only a short answer links the two requests",
    ),
)
def user_text_lost(context: RuleContext) -> Iterator[Note]:
    echo, before = context.echo, context.before
    if echo is None or before is None or not surely_continues(context, echo):
        return
    texts = [unit for unit in before.conversation.history if is_user_text(unit)]
    lost = [unit for unit in echo.removed if is_user_text(unit)]
    if not lost or len(lost) < len(texts) or _is_contained(lost, context.request):
        return
    new = [unit for unit in echo.new if is_user_text(unit)]
    handed = context.turn.edge.kind == "handoff"
    if new and not handed and not _is_amid_a_loop(before):
        return
    written = [unit.text for unit in (*echo.inserted, *new) if unit.kind == "text"]
    system = _joined(context.request.instructions)
    if system != _joined(before.reading.request.instructions):
        written.append(system)
    if _may_replace(written, lost):
        return
    size = sum(len(unit.text) for unit in lost)
    instead = next((unit.text for unit in (*echo.inserted, *new) if unit.kind == "text"), None)
    yield Note(
        f"the request{' to the next agent' if handed else ''} contains none of the user's words: "
        f"{several(len(lost), 'text')} of #{before.round_trip.index} ({several(size, 'character')}) "
        f"{'is' if len(lost) == 1 else 'are'} missing, {lost[0].text[:60]!r}"
        + (f", and only {instead[:40]!r} replaces {'it' if len(lost) == 1 else 'them'}" if instead else ""),
        (*(f"#{before.round_trip.index} request {unit.pointer}" for unit in lost[:3]), f"{context.at} request"),
        tier="P" if not written else "S",
        key=(context.index, "lost"),
    )


def _is_amid_a_loop(before: Turn) -> bool:
    """True after an answer with calls: a user text that follows is the client's."""
    return before.reading.emission is not None and bool(before.reading.emission.calls)


def _is_contained(lost: list[Unit], request: RequestReading) -> bool:
    """True when the request has one of the texts in another place: in a message, a call, a result or the system prompt."""
    parts = [*request.system, *(part for message in request.messages for part in message.parts)]
    whole = "\n".join(letters(_text_of(part)) for part in parts)
    return any(letters(unit.text) in whole for unit in lost)


def _text_of(part: Part) -> str:
    if part.call is not None:
        return part.call.arguments_raw
    return part.result.text if part.result is not None else part.text


def _joined(parts: tuple[Part, ...]) -> str:
    return "\n".join(part.text for part in parts)


def _may_replace(written: list[str], lost: list[Unit]) -> bool:
    """True for texts that may be a summary: long ones, and those that repeat some of the user's words.

    Where the user used no longer words, any text may be one.
    """
    words = _words(*(unit.text for unit in lost))
    return any(len(text) >= _SUMMARY or len(_words(text) & words) >= _SHARED * len(words) for text in written)


def _words(*texts: str) -> set[str]:
    return {word.casefold() for text in texts for word in _WORD.findall(text)}


RULES = (user_text_lost,)
