"""Whether the client sends what was said twice: the whole history again, or a history that the API already holds."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, takewhile

from turntape.cassettes.excerpts import cut

from ...analysis.conversation import Unit, joined, parted, units_emitted, without_space
from ...analysis.turn import Turn
from ...wire.per_message import Joined
from ...wire.printable import several
from ...wire.values import Part
from ..model_words import is_user_text
from ..rule import Note, rule
from ..rule_context import RuleContext
from .results import new_results

_SHORTEST = 3
"""A question, an answer and what followed: shorter runs may be said twice."""


@rule(
    "client-history-duplicated",
    "client",
    "warning",
    "P",
    says="The request holds the history twice, so the model reads everything again and each token is paid for twice.",
    fix="Append each answer and each result once. With `previous_response_id`, send only what is new.",
    not_when=(
        "The first request of a thread contains it twice",
        "The user asks the same again, and the model answers the same",
        "The API holds the conversation, and only messages of the user are repeated",
    ),
)
def history_duplicated(context: RuleContext) -> Iterator[Note]:
    before, echo = context.before, context.echo
    if before is None or echo is None:
        return
    held = echo.state == "held"
    copies = _held_pieces(context) if held else _copies(before, context.turn)
    if not copies:
        return
    how = f"the API holds it under {context.request.previous_id}" if held else "it is in the request already"
    yield Note(
        f"{several(len(copies), 'piece')} of the history {'is' if len(copies) == 1 else 'are'} sent again, although "
        f"{how}; the first: {_shown(copies[0])}",
        (f"#{before.round_trip.index} request", *(f"{context.at} request {unit.pointer}" for unit in copies[:3])),
        key="doubled",
    )


def _shown(unit: Unit) -> str:
    return f"a call of {unit.part.call.name!r}" if unit.part.call else repr(unit.text[:60])


def _spoken(turn: Turn) -> list[Unit]:
    return [unit for unit in joined(turn.conversation.history) if unit.role != "system"]


def _copies(before: Turn, now: Turn) -> list[Unit]:
    """The pieces that repeat the beginning of the history, if the request has more answers than there were."""
    emission = before.reading.emission
    old, new = _unshared(before, now)
    answered = _count_answers(old) + _count_answers(joined(units_emitted(emission)) if emission else ())
    if _count_answers(new) <= answered:
        return []
    units = _spoken(now)
    meanings = [unit.meaning for unit in units]
    for start in range(_SHORTEST, len(units)):
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(meanings, meanings[start:], strict=False)))
        copy = units[start : start + min(same, start)]
        if len(copy) >= _SHORTEST and any(map(is_user_text, copy)) and _count_answers(copy):
            return copy
    return []


def _unshared(before: Turn, now: Turn) -> tuple[list[Unit], list[Unit]]:
    """What two histories do not begin with alike. A text of several parts is not cut in two."""
    old, new = parted(before.conversation.history, now.conversation.history)
    return joined(old), joined(new)


def _held_pieces(context: RuleContext) -> list[Unit]:
    """The pieces that the API holds under the id which the request names, if answers of the model are among them."""
    units = [unit for unit in _spoken(context.turn) if _is_held(context, unit)]
    enough = len(units) > 1 or any(unit.kind == "call" for unit in units)
    return units if enough and _count_answers(units) else []


def _is_held(context: RuleContext, unit: Unit) -> bool:
    if unit.kind == "call" and unit.call_id is not None:
        return unit.call_id in context.thread.emitted_calls
    said = unit.role == "assistant" and unit.meaning in context.run.said
    return said or unit.meaning in context.thread.sent


def _count_answers(units: Sequence[Unit]) -> int:
    return sum(unit.role == "assistant" for unit in units)


@rule(
    "client-system-prompt-repeated",
    "client",
    "warning",
    "P",
    says="The request holds the same system prompt several times, and each copy is paid for.",
    fix="Send the system prompt once; build the list of messages for each request, or check what a framework adds to it.",
    not_when=(
        "The copies are of a few characters",
        "The copies are short, and other instructions come between them: one may be a reminder",
        "The copies are apart: a framework may begin a new task in one conversation",
    ),
)
def system_repeated(context: RuleContext) -> Iterator[Note]:
    for text, places in _copied_prompts(context.request.instructions).items():
        if len(places) > 1:
            yield Note(
                f"the request holds the same system prompt {len(places)} times, of {len(text):,} characters each: "
                f"{cut(text, 60)!r}",
                tuple(f"{context.at} request {place}" for place in places[:4]),
                key=(text[:200], len(places)),
            )


_PROMPT, _LINE = 100, 12
"""Characters. A shorter system message may be a reminder, but not right behind itself; a few may be a heading."""


def _copied_prompts(parts: Sequence[Part]) -> dict[str, list[str]]:
    """The places of each system prompt: of a short one, those that are next to each other."""
    places: dict[str, list[str]] = {}
    for text, run in groupby(parts, key=lambda part: part.text.strip()):
        here = [part.pointer for part in run]
        if len(text) >= _PROMPT or (len(text) >= _LINE and len(here) > 1):
            places.setdefault(text, []).extend(here)
    return places


@rule(
    "client-user-message-repeated",
    "client",
    "warning",
    "P",
    says="Messages of the user are in the request several times, although the user said them once.",
    fix="Append each message once; check whether both the framework and your code add it.",
    not_when=(
        "One message is there twice behind an answer: the user may have sent it twice",
        "A first request holds its message twice: then it is an info",
        "Another message is repeated after each result: a reminder of the client",
        "An answer of the model comes between the copies",
        "A longer question that was answered comes again: then it is an info",
        "The first message comes again after one result: then it is an info",
    ),
)
def user_repeated(context: RuleContext) -> Iterator[Note]:
    said = _said_by_user.of(context.turn.conversation.units)
    if len(said) == len(set(said)):
        return
    units = [unit for unit in context.turn.conversation.history if unit.role != "system"]
    if (copy := _appended_again(context, units)) is not None:
        yield copy
        return
    if (again := _put_in_again(context, units)) is not None:
        yield Note(
            f"a message of the user that was sent once is in the history twice: {_shown(again[1])}",
            tuple(f"{context.at} request {unit.pointer}" for unit in again),
            key=("put in", again[1].meaning),
        )
        return
    if context.before is None and (again := _said_twice(units)) is not None:
        yield Note(
            f"the first request holds the user's message twice: {_shown(again[1])}",
            tuple(f"{context.at} request {unit.pointer}" for unit in again),
            severity="info",
            key=("first", again[1].meaning),
        )
        return
    pairs = [(one, two) for one, two in pairwise(units) if one.meaning == two.meaning and is_user_text(two)]
    if len({two.meaning for _, two in pairs}) > 1:
        yield Note(
            f"{len(pairs)} messages of the user are in the request twice in a row, the first: {_shown(pairs[0][1])}",
            tuple(f"{context.at} request {unit.pointer}" for pair in pairs[:2] for unit in pair),
            key="in a row",
        )
    first = next(filter(is_user_text, units), None)
    again = [
        two
        for one, two in pairwise(units)
        if first is not None and one.kind == "result" and two is not first and two.meaning == first.meaning
    ]
    if first is not None and again:
        yield Note(
            f"the first message of the user comes again after {several(len(again), 'result')}: {_shown(first)}",
            tuple(f"{context.at} request {unit.pointer}" for unit in (first, *again[:3])),
            severity=None if len(again) > 1 else "info",
            key="after results" if len(again) > 1 else "after a result",
        )
    yield from _asked_before(context, units)


def _user_meaning(unit: Unit) -> list[int]:
    return [unit.meaning] if is_user_text(unit) else []


_said_by_user = Joined(_user_meaning)
"""The meanings of what the user says in a history."""


def _asked_before(context: RuleContext, units: list[Unit]) -> Iterator[Note]:
    """A new message of the user that is, word for word, an earlier one that was answered."""
    echo = context.echo
    if echo is None or len(units) < 2:
        return
    last = units[-1]
    if not is_user_text(last) or len(last.text.strip()) < _QUESTION:
        return
    if not any(unit.pointer == last.pointer for unit in echo.new) or units[-2].kind == "result":
        return
    earlier = next((unit for unit in units[:-1] if unit.meaning == last.meaning), None)
    if earlier is not None:
        yield Note(
            f"the new message of the user is one that was answered before: {_shown(last)}",
            (f"{context.at} request {earlier.pointer}", f"{context.at} request {last.pointer}"),
            severity="info",
            key=("asked before", last.meaning),
        )


_QUESTION = 24
"""Characters. People say shorter things again and again."""


@rule(
    "client-result-as-user-text",
    "client",
    "warning",
    "S",
    says="A result is in the request twice: under its call, and as a message of the user.",
    fix="Give the model each result once, under its call.",
    not_when=("The result is short: then it is an info", "The user's message says more than the result"),
)
def result_as_user(context: RuleContext) -> Iterator[Note]:
    echo = context.echo
    texts = {without_space(unit.text): unit for unit in echo.new if is_user_text(unit)} if echo is not None else {}
    for part, result in new_results(context) if texts else ():
        text = without_space(result.text)
        copy = texts.get(text) if len(text) >= _LEAST_RESULT else None
        if copy is not None:
            yield Note(
                f"the result of {result.call_id or result.name or 'a call'} is a message of the user as well: {_shown(copy)}",
                (f"{context.at} request {part.pointer}", f"{context.at} request {copy.pointer}"),
                severity=None if len(text) >= _QUESTION else "info",
                key=("result", copy.meaning),
            )


_LEAST_RESULT = 2
"""Characters. A shorter result may be said by chance."""


def _said_twice(units: list[Unit]) -> tuple[Unit, Unit] | None:
    """The newest message of the user and its copy; nobody could send it twice before the first request."""
    if len(units) < 2 or units[-1].meaning != units[-2].meaning or not is_user_text(units[-1]):
        return None
    alone = not any(unit.role == "assistant" for unit in units) and len(units[-1].text.strip()) >= _MESSAGE
    return (units[-2], units[-1]) if alone else None


_MESSAGE = 12
"""Characters. A shorter text may be said twice."""


def _put_in_again(context: RuleContext, units: list[Unit]) -> tuple[Unit, Unit] | None:
    """A message of the user and its copy right after it, in the part of the history that was sent before."""
    echo, before = context.echo, context.before
    if echo is None or before is None or echo.removed:
        return None
    come = {unit.pointer for unit in echo.inserted}
    if not come:
        return None
    for one, two in pairwise(units):
        if one.meaning == two.meaning and is_user_text(two) and come & {one.pointer, two.pointer}:
            count = sum(unit.meaning == two.meaning for unit in before.conversation.history)
            return (one, two) if count == 1 else None
    return None


_PROMPTLY = 15.0
"""Seconds. Later the user may have sent the message again."""


def _appended_again(context: RuleContext, units: list[Unit]) -> Note | None:
    """The last message of the user, which a retry has put behind itself."""
    failed = context.run.failed
    if failed is None or len(units) < 2:
        return None
    one, two = units[-2:]
    if not is_user_text(two) or one.meaning != two.meaning or context.turn.conversation.prefixes[-2] != failed.prefix:
        return None
    promptly = context.turn.round_trip.started_at - failed.started <= _PROMPTLY
    return Note(
        f"the retry of #{failed.index} holds the last message of the user twice: {_shown(two)}",
        (f"#{failed.index} request", *(f"{context.at} request {unit.pointer}" for unit in (one, two))),
        severity=None if promptly else "info",
        key="appended again",
    )


RULES = (history_duplicated, system_repeated, user_repeated, result_as_user)
