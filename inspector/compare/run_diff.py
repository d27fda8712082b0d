"""`turntape diff A B`: where two runs diverge, and which layer diverged first.

Both runs are read once, turn by turn, and only digests are kept. A turn at which a thread diverges is read again from
the cassette, to list what differs.

The first difference decides which layer is named. If the requests differ, it is the client. If the requests are the
same and the emissions differ, it is the model. If the emissions are the same and the finishes differ, it is the API.
When the API refused, cut or filtered an answer in only one of the runs, it is the API, whatever was emitted before.
"""

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from decimal import Decimal
from difflib import SequenceMatcher
from typing import Literal

from turntape.cassettes.frozen import frozen, mutable
from turntape.cassettes.matching.json_diff import Difference, differences
from turntape.cassettes.tape.model import RoundTrip

from ..analysis.pricing import cost_of
from ..analysis.refused import was_refused
from ..analysis.threads import Threads
from ..findings.finding import Layer
from ..wire.json_value import as_object
from ..wire.parse import read
from ..wire.sessions import turns_of
from ..wire.values import PartKind, Reading, RequestReading
from .diff_normalise import OriginNames, address, digest_of, emission_form, finish_form

type DivergedPart = Literal["request", "emission", "finish", "stop"]
"""What differs first between two threads; `stop`: one thread continues where the other ends."""

_CAUSED_BY_API = frozenset({"error", "cut", "cancelled", "content_filter", "malformed", "limit"})
"""Finishes that the API, or the connection to it, caused and not the model."""
_UNFINISHED = frozenset({"error", "cut", "cancelled"})
"""With these finishes, how much of the answer had arrived is random, so emissions are not compared."""
_LIMIT = 200
_MOST_SHOWN = 10
"""At most this many differences are listed; the others are only counted."""
_HUNKS = 3
_AROUND = 3
"""How many words are shown before and after those that differ."""
_SHORT = 60
"""A text of at most this many characters is shown whole."""
_SHOWN = 200
_LONG = 4000
"""A longer text is only shown from its first difference: aligning words takes quadratic time."""
_PARTS: dict[PartKind, str] = {
    "text": "a text",
    "reasoning": "reasoning that was sent back",
    "call": "a call that was sent back",
    "result": "a tool result",
    "media": "a file or an image",
}


@frozen
class TurnDigest:
    """The digests and facts of a turn, or of one attempt at it."""

    index: int
    place: int
    """The number of the turn within a WebSocket session; 0 outside of one."""
    turn: int
    attempt: int
    at: float
    """Seconds since the run's first turn."""
    kind: str
    """How the thread began, if this is its first turn."""
    request: bytes
    emission: bytes
    finish: bytes
    effective: str | None
    closed_by_client: bool
    model: str | None
    read_as: int = 0
    """How many turns of the run were read before it; a damaged run may have a number twice."""


@frozen
class ComparedRun:
    """One of the two runs."""

    name: str
    threads: dict[str, list[TurnDigest]]
    names: dict[str, OriginNames]
    turns: int
    input: int
    cost: Decimal | None
    run: Iterable[RoundTrip]
    """The round trips; a cassette or a list, because they are read twice."""
    unpriced: int = 0
    """Requests without a known price; if there are any, the real cost is higher than `cost`."""

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "threads": len(self.threads),
            "turns": self.turns,
            "input": self.input,
            "cost_usd": None if self.cost is None else str(self.cost),
            "unpriced": self.unpriced,
        }


@frozen
class ChangedValue:
    """One place that differs."""

    layer: Layer
    pointer: str
    """A JSON pointer into the request's body, or into `model` or `api` of `show --json`; or `url` or `header NAME`."""
    kind: Literal["changed", "added", "removed"]
    a: object = None
    b: object = None

    @property
    def words(self) -> list[tuple[str, str]]:
        """The words that differ, if both sides are texts."""
        return words(self.a, self.b) if isinstance(self.a, str) and isinstance(self.b, str) else []

    def as_json(self) -> dict[str, object]:
        reported = {"pointer": self.pointer, "kind": self.kind, "a": self.a, "b": self.b}
        return reported | {"words": [{"a": a, "b": b} for a, b in self.words]}


@frozen
class Divergence:
    """The first turn at which two threads differ."""

    layer: Layer
    part: DivergedPart
    says: str
    turn: int
    a: TurnDigest | None
    """None if A has no such turn."""
    b: TurnDigest | None
    changes: tuple[ChangedValue, ...] = ()
    more: int = 0
    """The number of further differences, at least."""

    @property
    def at(self) -> float:
        return min(step.at for step in (self.a, self.b) if step is not None)

    def as_json(self) -> dict[str, object]:
        return {
            "layer": self.layer,
            "part": self.part,
            "says": self.says,
            "turn": self.turn,
            "a_index": None if self.a is None else self.a.index,
            "b_index": None if self.b is None else self.b.index,
            "differences": [change.as_json() for change in self.changes],
            "more": self.more,
        }


@frozen
class ThreadPair:
    """A thread of A and the thread of B that it is compared with; one of them is None if there is no counterpart."""

    a: str | None
    b: str | None
    same: int
    """How many turns are the same before the first difference."""
    turns_a: int
    turns_b: int
    divergence: Divergence | None

    @property
    def name(self) -> str:
        if self.a is None or self.b is None or self.a == self.b:
            return str(self.a or self.b)
        return f"{self.a} (in B {self.b})"

    def as_json(self) -> dict[str, object]:
        return {
            "a": self.a,
            "b": self.b,
            "same_turns": self.same,
            "a_turns": self.turns_a,
            "b_turns": self.turns_b,
            "parting": None if self.divergence is None else self.divergence.as_json(),
        }


@frozen
class Comparison:
    a: ComparedRun
    b: ComparedRun
    pairs: tuple[ThreadPair, ...]

    @property
    def first(self) -> ThreadPair | None:
        """The thread that diverged first; None when the runs are the same."""
        diverged = [pair for pair in self.pairs if pair.divergence is not None]
        return min(diverged, key=lambda pair: pair.divergence.at if pair.divergence else 0.0) if diverged else None

    def as_json(self) -> dict[str, object]:
        """The object that `turntape diff --json` prints."""
        first = self.first
        divergence = first.divergence if first is not None else None
        return {
            "same": first is None,
            "first": None
            if first is None or divergence is None
            else {"a": first.a, "b": first.b, **divergence.as_json()},
            "a": self.a.as_json(),
            "b": self.b.as_json(),
            "threads": [pair.as_json() for pair in self.pairs],
        }


def compare(
    a: Iterable[RoundTrip], b: Iterable[RoundTrip], names: tuple[str, str] = ("A", "B"), *, reasoning: bool = True
) -> Comparison:
    """Compare two runs. Each is iterated twice. With `reasoning=False`, differences in reasoning are ignored."""
    left, right = _side(names[0], a, reasoning), _side(names[1], b, reasoning)
    pairs = [_pair(left, right, x, y) for x, y in _partners(left, right)]
    return Comparison(left, right, tuple(_described(pairs, left, right, reasoning)))


def turns_in(run: Iterable[RoundTrip]) -> Iterator[tuple[int, RoundTrip]]:
    """Each round trip as `(place, round trip)`. A session gives one for each turn, with its place in it."""
    for given, trip in enumerate(run):
        numbered = trip if trip.index >= 0 else replace(trip, index=given)
        yield from enumerate(turns_of(numbered) or [numbered])


@mutable
class _Total:
    turns: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    input: int = 0
    cost: Decimal | None = None
    unpriced: int = 0
    begun: float | None = None

    def add(self, trip: RoundTrip, reading: Reading) -> None:
        usage = reading.usage
        self.input += (usage.input or 0) if usage else 0
        self.pay(trip, reading)
        self.begun = trip.started_at if self.begun is None else min(self.begun, trip.started_at)

    def pay(self, trip: RoundTrip, reading: Reading) -> None:
        """Add the cost of a turn, or of another request whose answer counts or states something."""
        if not reading.is_generation and reading.usage is None and reading.stated_cost is None:
            return
        found = cost_of(trip, reading)
        price = found.amount if found else None
        self.cost = price if self.cost is None else self.cost + (price or 0)
        refused = reading.is_generation and was_refused(trip, reading)
        self.unpriced += not refused if found is None else bool(found.unpriced_fees)


def _side(name: str, run: Iterable[RoundTrip], reasoning: bool) -> ComparedRun:
    sorter, steps, total = Threads(), dict[str, list[TurnDigest]](), _Total()
    known, elsewhere = dict[str, OriginNames](), dict[str, str]()
    for read_as, (place, trip) in enumerate(turns_in(run)):
        reading = read(trip)
        if not reading.is_generation:
            total.pay(trip, reading)
            continue
        turn = sorter.add(trip, reading)
        total.add(trip, reading)
        total.turns.add((turn.thread, turn.number))
        names = known.setdefault(turn.thread, OriginNames(elsewhere, reasoning=reasoning))
        request = digest_of(address(trip)) + names.digest(trip)
        steps.setdefault(turn.thread, []).append(
            TurnDigest(
                trip.index,
                place,
                turn.number,
                turn.attempt,
                trip.started_at - (total.begun or 0.0),
                turn.edge.kind,
                request,
                digest_of(emission_form(reading.emission, names, reasoning=reasoning)),
                digest_of(finish_form(trip, reading)),
                reading.finish.effective if reading.finish else None,
                trip.closed_first == "client",
                reading.response_model or reading.request.model,
                read_as,
            )
        )
        names.learn(turn.number, reading)
    for thread in steps.values():
        thread.sort(key=lambda step: (step.turn, step.attempt))
    return ComparedRun(name, steps, known, len(total.turns), total.input, total.cost, run, total.unpriced)


def _partners(a: ComparedRun, b: ComparedRun) -> Iterator[tuple[str | None, str | None]]:
    """Pairs of threads: first those with the same first request, then those of the same kind, in order."""
    left = dict.fromkeys(a.threads)
    right = dict.fromkeys(b.threads)
    found: dict[str, str] = {}
    for same in (_same_beginning, _same_kind):
        for x in list(left):
            y = next((y for y in right if same(a.threads[x][0], b.threads[y][0])), None)
            if y is not None:
                found[x] = y
                del left[x], right[y]
    for x in a.threads:
        yield x, found.get(x)
    for y in right:
        yield None, y


def _same_beginning(a: TurnDigest, b: TurnDigest) -> bool:
    return a.request == b.request


def _same_kind(a: TurnDigest, b: TurnDigest) -> bool:
    return a.kind == b.kind


def _pair(a: ComparedRun, b: ComparedRun, x: str | None, y: str | None) -> ThreadPair:
    left = a.threads[x] if x is not None else []
    right = b.threads[y] if y is not None else []
    same: set[int] = set()
    divergence = None
    for place in range(max(len(left), len(right))):
        one = left[place] if place < len(left) else None
        other = right[place] if place < len(right) else None
        divergence = _divergence(one, other)
        if divergence is not None:
            break
        if one is not None:
            same.add(one.turn)
    same.discard(divergence.turn if divergence else 0)
    return ThreadPair(x, y, len(same), len({s.turn for s in left}), len({s.turn for s in right}), divergence)


def _divergence(a: TurnDigest | None, b: TurnDigest | None) -> Divergence | None:
    """The first difference between two turns with the same place in their threads."""
    if a is None or b is None or (a.turn, a.attempt) != (b.turn, b.attempt):
        return _alone(a, b)
    if a.request != b.request:
        return Divergence("client", "request", "the request differs", a.turn, a, b)
    caused_by_api = [step for step in (a, b) if step.effective in _CAUSED_BY_API]
    if caused_by_api and a.effective != b.effective:
        if any(step.closed_by_client for step in caused_by_api):
            return Divergence("client", "finish", "same request; one client closed the connection", a.turn, a, b)
        left, right = (step.effective or "no finish" for step in (a, b))
        says = f"same request; the API finished differently: {left} in A, {right} in B"
        return Divergence("api", "finish", says, a.turn, a, b)
    if a.emission != b.emission and a.effective not in _UNFINISHED:
        left, right = (step.model or "an unnamed model" for step in (a, b))
        by = "" if a.model == b.model else f" (A was answered by {left}, B by {right})"
        return Divergence("model", "emission", f"same request, different emission{by}", a.turn, a, b)
    if a.finish != b.finish:
        return Divergence("api", "finish", "same request and emission, different finish", a.turn, a, b)
    return None


def _alone(a: TurnDigest | None, b: TurnDigest | None) -> Divergence:
    """One run continues or retries where the other does not. That is the client's decision."""
    longer, step = ("A", a) if b is None or (a is not None and a.attempt > b.attempt) else ("B", b)
    stops = "B" if longer == "A" else "A"
    assert step is not None
    if step.attempt > 1:
        says = f"the same so far; then {longer} retries turn {step.turn} and {stops} does not"
    elif step.turn == 1:
        says = f"only {longer} has this thread ({step.kind.replace('_', ' ')})"
    else:
        says = f"the same so far; then {longer} continues and {stops} stops"
    return Divergence("client", "stop", says, step.turn, a if step is a else None, b if step is b else None)


def _described(pairs: list[ThreadPair], a: ComparedRun, b: ComparedRun, reasoning: bool) -> Iterator[ThreadPair]:
    """The pairs with their differences, for which the diverging turns are read again."""
    divergences = [pair.divergence for pair in pairs if pair.divergence is not None]
    left = dict(_forms(a, [p.a for p in divergences], reasoning))
    right = dict(_forms(b, [p.b for p in divergences], reasoning))
    for pair in pairs:
        divergence = pair.divergence
        if divergence is None or divergence.a is None or divergence.b is None:
            yield pair
            continue
        changes = _changes(divergence, left[divergence.a], right[divergence.b])
        says = divergence.says
        if divergence.part == "request" and changes:
            says = f"the request differs: {_what(changes[0].pointer, left[divergence.a], right[divergence.b])}"
        reported = replace(divergence, says=says, changes=tuple(changes[:_MOST_SHOWN]), more=len(changes[_MOST_SHOWN:]))
        yield replace(pair, divergence=reported)


def _what(pointer: str, a: "_Form", b: "_Form") -> str:
    """Name the part of the request at `pointer`, such as `a tool result at /messages/4`."""
    for form in (a, b):
        held = [part for message in form.request.messages for part in message.parts if _within(pointer, part.pointer)]
        if held:
            part = max(held, key=lambda part: len(part.pointer))
            return f"{_PARTS.get(part.kind, 'a part')} at {part.pointer}"
        message = next((one for one in form.request.messages if _within(pointer, one.pointer)), None)
        if message is not None:
            return f"the {message.role} message at {message.pointer}"
    return f"{pointer.split('/')[1]}" if pointer.startswith("/") and len(pointer) > 1 else pointer


def _within(pointer: str, outer: str) -> bool:
    return bool(outer) and (pointer == outer or pointer.startswith(f"{outer}/"))


@frozen
class _Form:
    address: dict[str, object]
    body: object
    emission: dict[str, object]
    finish: dict[str, object]
    request: RequestReading


def _forms(side: ComparedRun, steps: list[TurnDigest | None], reasoning: bool) -> Iterator[tuple[TurnDigest, _Form]]:
    wanted = {step.read_as: step for step in steps if step is not None}
    owner = {s.read_as: thread for thread, all_steps in side.threads.items() for s in all_steps}
    for read_as, (_, trip) in enumerate(turns_in(side.run) if wanted else ()):
        step = wanted.get(read_as)
        if step is None:
            continue
        names, reading = side.names[owner[read_as]], read(trip)
        yield (
            step,
            _Form(
                address(trip),
                names.body(trip),
                emission_form(reading.emission, names, reasoning=reasoning),
                finish_form(trip, reading),
                reading.request,
            ),
        )


def _changes(divergence: Divergence, a: _Form, b: _Form) -> list[ChangedValue]:
    match divergence.part:
        case "request":
            outside = [_change("client", one, lead="") for one in _outside(a.address, b.address)]
            return outside + [_change("client", one) for one in differences(a.body, b.body, _LIMIT)]
        case "emission":
            return [_change("model", one) for one in differences(a.emission, b.emission, _LIMIT)]
        case _:
            return [_change("api", one) for one in differences(a.finish, b.finish, _LIMIT)]


def _outside(a: dict[str, object], b: dict[str, object]) -> Iterator[Difference]:
    for one in differences(a, b, _LIMIT):
        name = one.pointer.removeprefix("/").replace("headers/", "header ")
        if one.pointer == "/headers":
            for key in sorted({*as_object(one.recorded), *as_object(one.given)}):
                yield Difference(f"header {key}", "changed", as_object(one.recorded).get(key),
                                 as_object(one.given).get(key))  # fmt: skip
            continue
        yield Difference(name, one.kind, one.recorded, one.given)


def _change(layer: Layer, one: Difference, lead: str = "/") -> ChangedValue:
    return ChangedValue(layer, one.pointer or lead, one.kind, one.recorded, one.given)


def words(a: str, b: str) -> list[tuple[str, str]]:
    """The first places where two texts differ, as `(words of a, words of b)` with a few words around them."""
    if max(len(a), len(b)) > _LONG:
        parts = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        word = a.rfind(" ", 0, parts) + 1
        start = a.find(" ", max(0, word - 30), word) + 1 if word > 30 else 0
        lead = "… " if start else ""
        return [(lead + _beginning(a[start:]), lead + _beginning(b[start:]))]
    if max(len(a), len(b)) <= _SHORT:
        return [(a, b)]
    left, right = a.split(), b.split()
    found: list[tuple[str, str]] = []
    for tag, low, high, low_b, high_b in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal" and len(found) < _HUNKS:
            found.append((_hunk(left, low, high), _hunk(right, low_b, high_b)))
    return found or [(a, b)]  # only white space differs


def _beginning(text: str) -> str:
    """The first words of a text, with a sign that there are more."""
    if len(text) <= _SHOWN:
        return text
    end = text.rfind(" ", _SHOWN // 2, _SHOWN)
    return text[: end if end > 0 else _SHOWN].rstrip() + " …"


def _hunk(given: list[str], low: int, high: int) -> str:
    before, after = max(0, low - _AROUND), min(len(given), high + _AROUND)
    return ("… " if before else "") + " ".join(given[before:after]) + (" …" if after < len(given) else "")
