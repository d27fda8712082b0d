"""Whether the words of the user are still in the history: without them the model does not know what it was asked.

Clients also write into messages of the user: the time, the state of an editor, reminders. What only they change is
not reported.
"""

import re
from collections.abc import Iterable, Iterator
from os.path import commonprefix

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...analysis.conversation import Unit, parted
from ...analysis.history_diff import HistoryDiff
from ...analysis.turn import Turn
from ...wire.per_message import Joined
from ...wire.printable import several
from ...wire.values import Message, Part, RequestReading
from ..finding import became
from ..model_words import holds_an_answer, is_user_text, letters, surely_continues
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..transformations import transformation
from .history import glued, place

_SUMMARY = 200
"""A text of at least this many characters may be a summary, in whatever words."""
_SHARED = 0.2
"""The share of the user's words that a short text must repeat to replace them."""
_WORD = regex(r"\w{4,}")
_STATE = regex(
    r"<(?P<tag>[\w-]+)[^>]*>.*?</(?P=tag)>|```.*?```|\d+|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber|[ap]m)\b",
    re.DOTALL | re.IGNORECASE,
)
"""What clients keep up to date in a message of the user: blocks in tags, contents of files, numbers, dates."""
_TEMPLATE = 400
"""From this many characters on, a text of which only a part changes may be a template of the client's."""
_FIXED = 0.6
"""The share of a template that stays the same."""
_REPLACED = frozenset({"removed", "inserted", "text_changed"})
"""The changes that a text makes which comes in the place of another."""
_HARMLESS = frozenset({"args_respelled", "id_changed", "id_lost", "spaces_lost"})
"""Changes that leave what a history says as it was."""

_CUT, _CUT_WORD = 100, 6
"""At least this many characters must be missing, and where the cut is inside a word."""


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
        "Only a short answer links the two requests, and the second one has a message of the user",
    ),
)
def user_text_lost(context: RuleContext) -> Iterator[Note]:
    echo, before = context.echo, context.before
    if echo is None or before is None:
        return
    lost = [unit for unit in echo.removed if is_user_text(unit)]
    if not lost:
        return
    sure = surely_continues(context, echo)
    if not sure and not _asks_nothing(context.turn):
        return
    texts = [unit for unit in before.conversation.history if is_user_text(unit)]
    if len(lost) < len(texts) or _is_contained(lost, context.request):
        return
    new = [unit for unit in echo.new if is_user_text(unit)]
    handed = context.turn.edge.kind == "handoff"
    if new and not handed and not _is_amid_a_loop(before):
        return
    written = [unit.text for unit in (*echo.inserted, *new) if unit.kind == "text"]
    system = _joined(context.request.instructions)
    if system != _joined(before.reading.request.instructions):
        written.append(system)
    if _may_replace(written, lost) or any(holds_an_answer(context, text) for text in written):
        return
    size = sum(len(unit.text) for unit in lost)
    instead = next((unit.text for unit in (*echo.inserted, *new) if unit.kind == "text"), None)
    yield Note(
        f"the request{' to the next agent' if handed else ''} contains none of the user's words: "
        f"{several(len(lost), 'text')} of #{before.round_trip.index} ({several(size, 'character')}) "
        f"{'is' if len(lost) == 1 else 'are'} missing, {cut(lost[0].text, 60)!r}"
        + (f", and only {cut(instead, 40)!r} replaces {'it' if len(lost) == 1 else 'them'}" if instead else ""),
        (*(f"#{before.round_trip.index} request {unit.pointer}" for unit in lost[:3]), f"{context.at} request"),
        tier="P" if sure and not written else "S",
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
    return {found[0].casefold() for text in texts for found in _WORD.finditer(text)}


def _asks_nothing(turn: Turn) -> bool:
    """True when the history begins with an answer and holds no message of the user at all."""
    history = turn.conversation.history
    return bool(history) and history[0].role == "assistant" and all(unit.role != "user" for unit in history)


@rule(
    "client-user-text-changed",
    "client",
    "warning",
    "P",
    says="A message of the user was rewritten while the model worked on it; the rest of the history is unchanged.",
    fix="Never edit messages that were sent; put new instructions into a new message.",
    not_when=(
        "Only numbers, dates, blocks in tags or code changed, as clients keep them up to date",
        "Something was added to the text, or its beginning is left, up to the end of a sentence",
        "A part of a long text changed, or a long text came for a short one: it may be a template",
        "The model had ended its answer: people edit their messages, but do not damage or cut them",
        "Something else in the history changed too: it may be a summary",
        "Only a short answer links the two requests",
        "The new text holds an answer of the model: it is a newer summary",
    ),
)
def user_text_changed(context: RuleContext) -> Iterator[Note]:
    echo, before = context.echo, context.before
    if echo is None or before is None:
        return
    for change in echo.changes:
        if change.kind == "spaces_lost" and change.of == "user":
            yield Note(f"a message of the user {glued(change)}", place(context, change), key=change.before)
    yield from _emptied(context, echo, before)
    sure = surely_continues(context, echo)
    if context.has("client-user-text-lost") or _is_amid_a_loop(before) == any(map(is_user_text, echo.new)):
        return
    for pointer, old, new in _edited(before, context.turn, echo):
        # The beginning of the same text shows as well as the answer that it is the same conversation.
        how = transformation(old, new)
        damaged = (how is not None and how not in _BY_PEOPLE) or _is_cut(old, new) or has_no_beginning(old, new)
        rewritten = damaged or (sure and _is_amid_a_loop(before) and _is_another(old, new))
        if rewritten and not holds_an_answer(context, new):
            yield Note(
                f"the client rewrote a message of the user: {became(*_around_change(old, new))}"
                + (f" ({how})" if how else ""),
                (f"#{before.round_trip.index} request {pointer}", f"{context.at} request {pointer}"),
                key=pointer,
            )


def _where_empty(message: Message) -> list[str]:
    """The place of a message of the user that says nothing."""
    says = any(part.kind != "text" or part.text.strip() for part in message.parts)
    return [message.pointer] if message.role == "user" and not says else []


_empty = Joined(_where_empty)


def _emptied(context: RuleContext, echo: HistoryDiff, before: Turn) -> Iterator[Note]:
    """Messages of the user that are still there, and say nothing any more."""
    empty = frozenset(_empty.of(context.request.messages))
    for unit in echo.removed if empty and not context.has("client-user-text-lost") else ():
        place = next((at for at in empty if unit.pointer == at or unit.pointer.startswith(f"{at}/")), None)
        if place is not None and is_user_text(unit):
            yield Note(
                f"a message of the user is empty now: {cut(unit.text.strip(), 60)!r}",
                (f"#{before.round_trip.index} request {unit.pointer}", f"{context.at} request {place}"),
                key=unit.pointer,
            )


@rule(
    "client-user-media-lost",
    "client",
    "warning",
    "P",
    says="An image or a file of the user's last message is no longer in the request, while the model works on it.",
    fix="Send the whole message of the user until the model has given its answer; check what a converter does with parts.",
    not_when=(
        "The model had ended its answer, or the user says something new",
        "An older message had it",
        "A note in its place says so: then it is an info",
    ),
)
def user_media_lost(context: RuleContext) -> Iterator[Note]:
    echo, before = context.echo, context.before
    if echo is None or before is None or not _is_amid_a_loop(before) or any(map(is_user_text, echo.new)):
        return
    lost = [unit for unit in echo.removed if unit.kind == "media" and unit.role == "user"]
    if not lost:
        return
    spoken = [unit for unit in before.conversation.history if unit.role == "user" and unit.kind in ("text", "media")]
    last = _message_of(spoken[-1]) if spoken else None
    mine = [unit for unit in lost if _message_of(unit) == last]
    # What goes away with its whole message is history that was cut, and another rule reports that.
    kept = _user_texts(context.turn.conversation.history)
    if mine and surely_continues(context, echo) and any(_message_of_place(at) == last for at in kept):
        notes = (unit.text for unit in (*echo.inserted, *echo.new) if _message_of(unit) == last)
        noted = any(_LEFT_OUT.search(text[:_NOTE]) for text in notes)
        yield Note(
            f"{several(len(mine), 'image')} of the user's last message "
            f"{'is' if len(mine) == 1 else 'are'} not in the request any more",
            (*(f"#{before.round_trip.index} request {unit.pointer}" for unit in mine[:3]), f"{context.at} request"),
            key=mine[0].meaning,
            severity="info" if noted else None,
        )


_LEFT_OUT = regex(
    r"\b(?:image|file|picture|media|document|attachment)s?\b.{0,40}\b(?:removed|omitted|left out|dropped|cleared)\b",
    re.IGNORECASE,
)
"""How clients say that they left something out on purpose."""
_NOTE = 200
"""Characters. A longer text is content."""


def _message_of(unit: Unit) -> str:
    return _message_of_place(unit.pointer)


def _message_of_place(pointer: str) -> str:
    """The message to which a place in a request belongs: its first two steps."""
    return "/".join(pointer.split("/")[:3])


_BY_PEOPLE = frozenset({"in lower case", "in upper case"})
"""Changes that a person may make as well."""


def _edited(before: Turn, now: Turn, echo: HistoryDiff) -> list[tuple[str, str, str]]:
    """Where the user's texts were replaced, what they were and became; none when anything else changed too."""
    changed = [change for change in echo.changes if change.kind not in _HARMLESS]
    if not changed:
        return []
    places = {change.before for change in changed if change.kind != "inserted"}
    come = {change.now for change in changed if change.kind != "removed"}
    if places != come or any(change.kind not in _REPLACED for change in changed):
        return []
    then, sent = parted(before.conversation.history, now.conversation.history)
    texts, old = _user_texts(sent), _user_texts(then)
    edited = [place for place in texts if place in places and place in old]
    return [(place, old[place], texts[place]) for place in edited] if len(edited) == len(places) else []


def _user_texts(units: Iterable[Unit]) -> dict[str, str]:
    """What the user says, by place."""
    return {unit.pointer: unit.text for unit in units if is_user_text(unit)}


def _around_change(old: str, new: str) -> tuple[str, str]:
    """The first words that differ, with a few before them."""
    was, now = " ".join(old.split()), " ".join(new.split())
    start = max(len(commonprefix((was, now))) - 20, 0)
    return was[start : start + 60], now[start : start + 60]


def _is_another(old: str, new: str) -> bool:
    """True for a text that says something else, and not the same with a newer state of things."""
    was, now = (letters(_STATE.sub(" ", text)) for text in (old, new))
    if was in now or now in was or len(now) >= max(_SUMMARY, 2 * len(was)):
        return False
    return min(len(was), len(now)) < _TEMPLATE or _same_ends(was, now) < _FIXED * max(len(was), len(now))


def is_cut_off(old: str, new: str, *, least: int = _CUT) -> bool:
    """True for the beginning of a long text that ends inside a sentence, as a program cuts it and no person.

    At least `least` characters must be missing.
    """
    kept, whole = new.strip(), old.strip()
    if not kept or not whole.startswith(kept) or len(whole) - len(kept) < least:
        return False
    line = whole[len(kept) :].partition("\n")[0]
    return bool(line.strip()) and not (kept[-1] in ".!?:;" and line[0].isspace())


def _is_cut(old: str, new: str) -> bool:
    """True for the beginning of a text that ends inside a sentence, or for a shorter rest inside a word."""
    return is_cut_off(old, new) or ends_in_a_word(old, new)


def ends_in_a_word(old: str, new: str) -> bool:
    """True for the beginning of a text that ends inside a word, with more than that word missing."""
    kept, whole = new.strip(), old.strip()
    inside = whole.startswith(kept) and kept[-1:].isalnum() and whole[len(kept) :][:1].isalnum()
    return inside and len(whole) - len(kept) >= _CUT_WORD


def has_no_beginning(old: str, new: str) -> bool:
    """True for the end of a text, from the middle of a sentence on."""
    kept, whole = new.strip(), old.strip()
    if not kept or kept == whole or not whole.endswith(kept):
        return False
    lost = whole[: len(whole) - len(kept)]
    inside = lost[-1].isalnum() and kept[0].isalnum()
    return inside or (len(lost) >= _CUT and lost.rstrip(" ")[-1:] not in _ENDS)


_ENDS = frozenset("\n.!?:;>]})|\"'")
"""What a part of a text that is complete in itself ends with."""


def _same_ends(one: str, other: str) -> int:
    """How many characters at the start and the end of both are the same."""
    start = len(commonprefix((one, other)))
    return start + len(commonprefix((one[start:][::-1], other[start:][::-1])))


RULES = (user_text_lost, user_text_changed, user_media_lost)
