"""Edits that several faults share: the turns that make calls, what later requests repeat of them, failures."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from hashlib import blake2b
from typing import Any

from turntape.cassettes.tape.model import Failure

from ...dialects.dialect import compact
from ..loops import Loop, Turn
from ..shapes import Call, Result


def pick[T](loop: Loop, options: list[T], salt: str = "") -> T | None:
    """One of several places: the same for the same loop, another for another one; None of nothing."""
    if not options:
        return None
    number = int.from_bytes(blake2b(f"{loop.name}/{salt}".encode(), digest_size=4).digest())
    return options[number % len(options)]


def calling(loop: Loop) -> list[int]:
    """The turns whose answers make calls."""
    return [n for n, turn in enumerate(loop.turns) if loop.shape.answered(turn.answer)]


def parallel(loop: Loop) -> list[int]:
    return [n for n, turn in enumerate(loop.turns) if len(loop.shape.answered(turn.answer)) > 1]


def last(loop: Loop) -> Turn:
    return loop.turns[-1]


def end(loop: Loop) -> int:
    return len(loop.turns) - 1


def has_text(loop: Loop) -> bool:
    """True when the last answer says something that can be edited."""
    return bool(str(loop.shape.text(last(loop).answer).get() if loop.shape.text(last(loop).answer) else ""))


def repeated(loop: Loop, place: int, number: int) -> list[Call]:
    """The entries in later histories for one call of an answer; nothing when one of them lacks it."""
    shape = loop.shape
    call = shape.answered(loop.turns[place].answer)[number]
    before = sum(len(shape.answered(turn.answer)) for turn in loop.turns[:place]) + number
    before += len(shape.calls(loop.turns[0].request))
    found: list[Call] = []
    for turn in loop.turns[place + 1 :]:
        calls = shape.calls(turn.request)
        if call.identity is not None and shape.with_ids:
            same = [c for c in calls if c.identity == call.identity]
        else:
            same = [c for c in calls[before : before + 1] if c.name.get() == call.name.get()]
        if len(same) != 1:
            return []
        found += same
    return found


def results_for(loop: Loop, place: int, number: int) -> list[tuple[Turn, Result]]:
    """The results of one call in all later requests; nothing when one of them lacks it."""
    shape = loop.shape
    call = shape.answered(loop.turns[place].answer)[number]
    order = sum(len(shape.answered(turn.answer)) for turn in loop.turns[:place]) + number
    order += len(shape.results(loop.turns[0].request))
    found: list[tuple[Turn, Result]] = []
    for turn in loop.turns[place + 1 :]:
        results = shape.results(turn.request)
        if shape.with_ids:
            same = [r for r in results if r.identity == call.identity]
        else:
            same = results[order : order + 1]
        if len(same) != 1 and loop.full:
            return []
        found += [(turn, r) for r in same]
    return found


def schema_of(loop: Loop, place: int, name: str) -> Any:
    for tool in loop.shape.tools(loop.turns[place].request):
        if tool.name.value == name:
            return tool.schema
    return None


def calls_with_schema(loop: Loop) -> Iterator[tuple[int, int, Call, dict[str, Any]]]:
    """Each call whose tool, with a schema, is in the request: turn, number, call, schema."""
    for place in calling(loop):
        for number, call in enumerate(loop.shape.answered(loop.turns[place].answer)):
            schema = schema_of(loop, place, call.name.get())
            if isinstance(schema, dict) and isinstance(call.known, dict):
                yield place, number, call, schema


def change_call(loop: Loop, place: int, number: int, change: Callable[[Call], object]) -> bool:
    """Change a call in the answer and wherever the client repeats it."""
    copies = repeated(loop, place, number)
    if loop.full and not copies:
        return False
    change(loop.shape.answered(loop.turns[place].answer)[number])
    for copy in copies:
        change(copy)
    return True


def fresh(identity: str | None, number: int = 1) -> str:
    """Another id of the same length."""
    given = identity or "call_0000"
    return given[:-4] + blake2b(f"{given}/{number}".encode()).hexdigest()[:4]


def another_answer(turn: Turn) -> None:
    """Give a copied answer its own id: the same id again would say that a cache answered."""
    for value in turn.answer.values:
        for holder in (value, value.get("message"), value.get("response")) if isinstance(value, dict) else ():
            for key in ("id", "responseId"):
                if isinstance(holder, dict) and isinstance(holder.get(key), str):
                    holder[key] = fresh(holder[key])


def fails(loop: Loop, turn: Turn, status: int, message: str, body: Any = None, *, kind: str = "") -> None:
    """The turn is answered with an error instead."""
    value = loop.shape.error(status, message) if body is None else body
    turn.status = status
    turn.body = value.encode() if isinstance(value, str) else compact(value).encode()
    turn.content_type = kind or "application/json"
    turn.without = ("ratelimit", "retry-after")


def attempts(loop: Loop, place: int, status: int, message: str, gaps: list[float],
             headers: tuple[tuple[str, str], ...] = ()) -> None:  # fmt: skip
    """Failed attempts before a turn, each followed by a pause."""
    healthy = loop.turns[place]
    failed: list[Turn] = []
    for number, gap in enumerate(gaps):
        attempt = deepcopy(healthy)
        fails(loop, attempt, status, message)
        attempt.headers = headers
        attempt.lasts = 0.2
        if number:
            attempt.gap = gaps[number - 1]
        failed.append(attempt)
        healthy.gap = gap
    loop.turns[place:place] = failed


SIBLINGS = {"gpt-": "gpt-3.5-turbo-0125", "o1": "gpt-3.5-turbo-0125", "claude": "claude-3-haiku-20240307",
            "gemini": "gemini-1.5-flash-8b", "llama-3": "llama-3.2-1b", "mistral": "open-mistral-7b",
            "command": "command-r7b-12-2024", "qwen": "qwen2.5:0.5b", "grok": "grok-2-1212"}  # fmt: skip


def sibling(model: str) -> str | None:
    """Another, smaller model of the same maker; None for a name that is an alias or is not known here."""
    if "latest" in model or "auto" in model:
        return None
    other = next((other for word, other in SIBLINGS.items() if word in model.lower()), None)
    return None if other is None or other in model else other


def stop_after(loop: Loop, place: int) -> None:
    del loop.turns[place + 1 :]


def first_with_finish(loop: Loop, turn: Turn) -> int:
    """The number of the first event that holds the finish word."""
    holders = {id(place.holder) for place in loop.shape.finish(turn.answer).copies}
    events = turn.answer.events or []
    return next((n for n, event in enumerate(events) if holds(event.value, holders)), len(events))


def holds(value: Any, wanted: set[int]) -> bool:
    """True when one of these objects is somewhere in the value."""
    if id(value) in wanted:
        return True
    if isinstance(value, dict):
        return any(holds(one, wanted) for one in value.values())
    return isinstance(value, list) and any(holds(one, wanted) for one in value)


def cut(loop: Loop, turn: Turn, share: float, *, noticed: bool = True) -> bool:
    """Keep this share of the answer, but no finish word; False when nothing is before that.

    `noticed`: the recorder saw the connection close.
    """
    pieces = turn.answer.pieces()
    if turn.answer.events is not None and turn.answer.kind != "array":
        keep = min(int(len(pieces) * share), first_with_finish(loop, turn))
        if not keep:
            return False
        turn.body = b"".join(pieces[:keep])
    else:
        turn.body = pieces[0][: int(len(pieces[0]) * share)]
    if noticed:
        turn.failure = Failure("cut", "the upstream closed the connection before the end of the answer")
        turn.closed_first = "server"
    return True


def write_text(value: Any, text: str) -> Any:
    """The same structure of a result, with another text in it."""
    if isinstance(value, str):
        return text
    if isinstance(value, list):
        return [write_text(value[0], text), *value[1:]] if value else [{"type": "text", "text": text}]
    if isinstance(value, dict):
        for key in ("text", "result", "output", "content", "json"):
            if key in value:
                return value | {key: write_text(value[key], text)}
        return {"result": text}
    return text


def insert_after(owner: list[Any], node: Any, new: Any) -> None:
    owner.insert(next(n for n, one in enumerate(owner) if one is node) + 1, new)


def entry_for(node: Any, old: str | None, new: str) -> Any:
    """A copy of an entry that belongs to another call. An item's own id is another one too."""
    text = json.dumps(node)
    copy = json.loads(text.replace(json.dumps(old), json.dumps(new))) if old else deepcopy(node)
    if isinstance(copy, dict) and isinstance(copy.get("id"), str) and copy["id"] != new:
        copy["id"] = fresh(copy["id"])
    return copy


def with_results(loop: Loop, salt: str, places: list[int] | None = None) -> tuple[int, list[tuple[Any, Result]]] | None:
    """A turn, and the results of its first call in all later requests."""
    place = pick(loop, calling(loop) if places is None else places, salt)
    if place is None:
        return None
    results = results_for(loop, place, 0)
    return (place, results) if results else None
