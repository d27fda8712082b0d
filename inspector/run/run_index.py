"""A run for views: what is needed of every round trip to list, sum up and find it, and no bodies.

`Run.load(path)` reads a file whole; `Run(path)` and `read()` follow one that is being recorded. `detail(place)`
reads one round trip again with everything in it.
"""

import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Self

from turntape.cassettes.errors import CassetteError, FormatError
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.reader import Tail

from ..analysis.dispatch import answers
from ..analysis.history_diff import Echo, echo
from ..analysis.items import Item, items_of
from ..analysis.pricing import cost
from ..analysis.threads import Edge as Continuation
from ..analysis.threads import Turn
from ..wire.exchange import Exchange
from ..wire.framing import Event
from ..wire.json_value import as_array, as_object, as_text
from ..wire.parse import read_exchange
from ..wire.printable import safe
from ..wire.values import Message, Reading, ToolResult, Usage
from ..wire.websocket import turns_of
from .labels import Key, Label, Labelled, Labeller

SEARCHED = 200_000
"""How many characters of what is new in a round trip can be searched."""
SHOWN = 240
"""How many characters of an answer a row holds."""
KEPT = 8
"""How many details are kept."""
SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Mark:
    """A finding, as a view shows it."""

    id: str
    layer: str
    severity: str
    tier: str
    message: str
    evidence: tuple[str, ...]
    fix: str = ""
    because_of: tuple[str, ...] = ()
    """The ids of findings that this one only echoes."""


@dataclass(frozen=True, slots=True)
class Edge:
    """How a thread hangs on another one."""

    kind: str
    """`main`, `continuation`, `attempt`, `fork`, `subagent`, `handoff`, `side_call` or `compaction`."""
    of: int | None = None
    """The number of the round trip that it comes from."""
    thread: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A round trip in one line, and its figures."""

    key: Key
    index: int
    thread: str | None
    """None outside generation, like all that follows from a turn."""
    turn: int | None
    attempt: int
    run: str | None
    protocol: str
    provider: str | None
    model: str | None
    """The model's name: the answer's own, else the requested one."""
    method: str
    url: str
    status: int | None
    streamed: bool
    emitted: str | None
    calls: tuple[str, ...]
    """The names of the calls that the client must answer."""
    said: str
    """How the answer begins."""
    finish: str | None
    """What a correct client does next."""
    finish_raw: str | None
    error: str | None
    outcome: str | None
    history: str | None
    results: int
    failed_results: int
    usage: Usage
    before: Usage | None
    """What the previous turn of the thread used."""
    cost: Decimal | None
    input_cost: Decimal | None
    """The part of the cost that its input is to blame for."""
    marks: tuple[Mark, ...]
    started_at: float
    first_byte_ms: float | None
    duration_ms: float | None
    request_bytes: int
    response_bytes: int
    messages: int
    messages_before: int
    """How many messages at the front were sent with the previous request already."""
    tools: tuple[str, ...]
    edge: Edge | None
    session: int | None
    """Its place among the turns of a WebSocket session."""
    haystack: str
    """What is new in it, in lower case, for searching."""

    @property
    def is_turn(self) -> bool:
        return self.turn is not None

    @property
    def worst(self) -> str | None:
        """The gravest severity of its findings."""
        severities = {mark.severity for mark in self.marks}
        return next((severity for severity in SEVERITIES if severity in severities), None)


def mark_of(value: object) -> Mark:
    """A finding of a label."""
    fields = as_object(value)
    return Mark(
        id=str(fields.get("id")),
        layer=str(fields.get("layer")),
        severity=str(fields.get("severity")),
        tier=str(fields.get("tier")),
        message=safe(str(fields.get("message"))),
        evidence=tuple(str(place) for place in as_array(fields.get("evidence"))),
        fix=as_text(fields.get("fix")) or "",
        because_of=tuple(str(one) for one in as_array(fields.get("because_of"))),
    )


def edge_of(value: object) -> Edge | None:
    """The edge of a label, when it has one."""
    fields = as_object(value)
    kind, of = as_text(fields.get("kind")), fields.get("of")
    if kind is None:
        return None
    reason, thread = as_text(fields.get("reason")) or "", as_text(fields.get("thread"))
    return Edge(kind, of if isinstance(of, int) else None, thread, reason)


def _client(label: Label) -> dict[str, object]:
    """The fields of a row that the next turn of the thread decides."""
    client = as_object(label["client"])
    results = [as_object(one) for one in as_array(client.get("results"))]
    return {
        "outcome": as_text(client.get("outcome")),
        "history": as_text(client.get("history")),
        "results": len(results),
        "failed_results": sum(bool(one.get("is_error")) for one in results),
        "marks": tuple(mark_of(found) for found in as_array(label["findings"])),
        "edge": edge_of(label.get("edge")),
    }


def settled(row: Row, label: Label) -> Row:
    """`row` after the next turn of its thread was seen."""
    return replace(row, **_client(label))


def row_of(key: Key, one: Labelled, session: int | None) -> Row:
    """What is kept of a round trip."""
    trip, reading, turn, label = one.round_trip, one.reading, one.turn, one.label
    model, api = as_object(label["model"]), as_object(label["api"])
    error = as_object(api.get("error"))
    price = as_text(label["cost_usd"])
    usage = reading.usage or Usage()
    attempt = label.get("attempt")
    failure = trip.failure.message if trip.failure else None
    told = error.get("message") or (reading.error.message if reading.error else None) or failure
    return Row(
        key=key,
        index=key[0],
        thread=turn.thread if turn else None,
        turn=turn.number if turn else None,
        attempt=attempt if isinstance(attempt, int) else 1,
        run=trip.run,
        protocol=reading.protocol,
        provider=reading.provider,
        model=reading.response_model or reading.request.model,
        method=trip.request.method,
        url=trip.request.url,
        status=trip.response.status if trip.response else None,
        streamed=reading.streamed,
        emitted=as_text(model.get("emitted")),
        calls=tuple(str(as_object(call).get("name")) for call in as_array(model.get("tool_calls"))),
        said=" ".join(safe((as_text(model.get("text")) or as_text(model.get("refusal")) or "")[:SHOWN]).split()),
        finish=as_text(api.get("effective")),
        finish_raw=as_text(api.get("finish_raw")),
        error=safe(told) if isinstance(told, str) else None,
        usage=usage,
        before=turn.usage_before if turn else None,
        cost=None if price is None else Decimal(price),
        input_cost=_input_cost(trip, reading) if price is not None else None,
        started_at=trip.started_at,
        first_byte_ms=_milliseconds(trip.first_byte_at),
        duration_ms=_milliseconds(trip.ended_at),
        request_bytes=len(trip.request.body),
        response_bytes=len(trip.response.body) if trip.response else 0,
        messages=len(reading.request.messages),
        messages_before=turn.messages_before if turn and turn.history == "extended" and turn.shared else 0,
        tools=tuple(tool.name for tool in reading.request.tools),
        session=session,
        haystack=_haystack(one),
        **_client(label),  # pyright: ignore[reportArgumentType]
    )


def _milliseconds(at: int | None) -> float | None:
    return None if at is None else at / 1000


def _input_cost(trip: RoundTrip, reading: Reading) -> Decimal | None:
    assert reading.usage is not None
    return cost(trip, replace(reading, usage=replace(reading.usage, output=0, reasoning=None)))


def _haystack(one: Labelled) -> str:
    """All that this round trip brings: the new messages, the answer, names, findings."""
    reading, turn = one.reading, one.turn
    emission, messages = reading.emission, reading.request.messages
    words = [one.round_trip.request.url, reading.protocol, reading.request.model or "", reading.response_model or ""]
    if emission is not None:
        words += [emission.text, emission.reasoning, emission.refusal or ""]
        words += [f"{call.name} {call.arguments_raw}" for call in (*emission.calls, *emission.server_calls)]
    if reading.error is not None:
        words.append(reading.error.message)
    new = messages
    if turn and turn.history == "extended" and turn.shared:
        new = messages[turn.messages_before :]
        # The last answer, sent back: it is found where it was emitted.
        new = new[next((at for at, message in enumerate(new) if message.role != "assistant"), len(new)) :]
    size = sum(map(len, words))
    for message in reversed(new):
        for part in message.parts:
            said = part.result.text if part.result else part.text
            said = f"{part.call.name} {part.call.arguments_raw}" if part.call else said
            words.append(said[:SEARCHED])
            size += len(said)
        if size > SEARCHED:
            break
    return "\n".join(words)[:SEARCHED].lower()


PRICED_LATER = 60
"""At most so many rows wait for their price, with their bodies."""


class RowMaker:
    """Round trips to rows, as they come; a row comes again when the next turn of its thread says more of it.

    With `priced` false the first rows come without a cost, since the table of prices takes longer to load than the
    first screen may; `price` gives them again with it.
    """

    def __init__(self, *, priced: bool = True) -> None:
        self._labeller = Labeller() if priced else Labeller(price=lambda trip, reading: None)
        self._rows: dict[str, Row] = {}
        """The last row of each thread."""
        self._tools: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._waiting: dict[Key, tuple[Row, RoundTrip, Reading]] | None = None if priced else {}

    def add(self, round_trip: RoundTrip) -> Iterator[Row]:
        if self._waiting is not None and len(self._waiting) >= PRICED_LATER:
            yield from self.price()
        session = 0 if round_trip.frames and turns_of(round_trip) else None
        for index, one in self._labeller.follow(round_trip):
            row = self._row(index, one, session)
            session = None if session is None else session + 1
            yield row

    def close(self) -> Iterator[Row]:
        """The rows that the end of the recording changes."""
        yield from self.price()
        for index, one in self._labeller.finish():
            yield self._row(index, one, None)

    def price(self) -> Iterator[Row]:
        """The rows that were made without a price, with it; all that come later have theirs."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        self._labeller.price = cost
        for row, trip, reading in waiting.values():
            own = cost(trip, reading)
            if own is None:
                continue
            priced = replace(row, cost=own, input_cost=_input_cost(trip, reading))
            if row.thread is not None and self._rows[row.thread].key == row.key:
                self._rows[row.thread] = priced
            yield priced

    def _row(self, index: int, one: Labelled, session: int | None) -> Row:
        key: Key = (index, one.round_trip.started_at, one.round_trip.request_at or 0)
        thread = one.turn.thread if one.turn else None
        known = self._rows.get(thread) if thread is not None else None
        if known is not None and known.key == key:
            row = settled(known, one.label)
        else:
            row = row_of(key, one, session)
            # The same tools are offered turn after turn: their names are held once.
            row = replace(row, tools=self._tools.setdefault(row.tools, row.tools))
        if thread is not None:
            self._rows[thread] = row
        if self._waiting is not None:
            self._waiting[key] = (row, one.round_trip, one.reading)
        return row


@dataclass(frozen=True, slots=True)
class Change:
    """What an update did to the rows: those from `first` on are new, those at `again` changed."""

    first: int
    again: tuple[int, ...] = ()


class Rows:
    """All rows of a run in order of their coming, and where each thread's are."""

    def __init__(self) -> None:
        self.all: list[Row] = []
        self.threads: dict[str, list[int]] = {}
        """Places of each thread's turns, in order."""
        self.by_index: dict[int, int] = {}
        """Round trip number → its first place."""
        self._places: dict[Key, int] = {}

    def put(self, rows: Iterable[Row]) -> Change:
        """Take in new rows, and rows that came before in their new form."""
        first, again = len(self.all), set[int]()
        for row in rows:
            place = self._places.get(row.key)
            if place is not None:
                self.all[place] = row
                if place < first:
                    again.add(place)
                continue
            place = len(self.all)
            self.all.append(row)
            self._places[row.key] = place
            self.by_index.setdefault(row.index, place)
            if row.thread is not None:
                self.threads.setdefault(row.thread, []).append(place)
        return Change(first, tuple(sorted(again)))

    def before(self, place: int) -> int | None:
        """The place of the previous turn of its thread; the attempts of one turn have the same."""
        row = self.all[place]
        if row.thread is None or row.turn is None:
            return None
        return next(
            (p for p in reversed(self.threads[row.thread]) if p < place and (self.all[p].turn or 0) < row.turn), None
        )

    def after(self, place: int) -> int | None:
        """The place of the next turn of its thread."""
        row = self.all[place]
        if row.thread is None or row.turn is None:
            return None
        return next((p for p in self.threads[row.thread] if p > place and (self.all[p].turn or 0) > row.turn), None)


@dataclass(frozen=True)
class Detail:
    """One round trip with everything in it, read again from the file."""

    row: Row
    round_trip: RoundTrip
    exchange: Exchange
    reading: Reading
    previous: Reading | None = None
    """The previous turn of the thread; None when there is none."""
    following: Reading | None = None
    """The next turn of the thread."""

    @cached_property
    def sent(self) -> int:
        """How many messages at the front had been sent before."""
        messages = self.reading.request.messages
        if self.row.messages_before:
            return min(self.row.messages_before, len(messages))
        if self.previous is None:
            return 0
        return _same(self.previous.request.messages, messages)

    @property
    def history(self) -> tuple[Message, ...]:
        """What had been sent already."""
        return self.reading.request.messages[: self.sent]

    @property
    def new(self) -> tuple[Message, ...]:
        """What this request says that the previous one of the thread did not."""
        return self.reading.request.messages[self.sent :]

    @property
    def events(self) -> list[Event]:
        """The events of a streamed answer with their times."""
        return self.exchange.events

    @cached_property
    def results(self) -> dict[int, ToolResult]:
        """What the next request brought for each of this turn's calls, by the call's place."""
        if self.following is None or self.reading.emission is None:
            return {}
        calls = self.reading.emission.calls
        given = self.following.request.results
        if all(call.id is None for call in calls):
            given = given[len(self.reading.request.results) :]
        return answers(calls, given)


def echo_between(detail: Detail, following: Reading) -> Echo | None:
    """How the next request of the thread repeats a turn; None when the turn failed or was none."""
    row, trip = detail.row, detail.round_trip
    if row.thread is None or row.turn is None:
        return None
    turns = [
        Turn(trip, reading, row.thread, row.turn + at, "extended", 0, Continuation("continuation"))
        for at, reading in enumerate((detail.reading, following))
    ]
    return None if turns[0].failed else echo(*turns)


def _same(before: tuple[Message, ...], now: tuple[Message, ...]) -> int:
    count = 0
    for left, right in zip(before, now, strict=False):
        if _items(left) != _items(right):
            break
        count += 1
    return count


def _items(message: Message) -> list[Item]:
    return items_of([message]) or [hash(message.role)]


class Run:
    """The rows of a file, and its round trips one by one. `read` in one thread, the rest in any."""

    def __init__(self, path: str | os.PathLike[str], *, priced: bool = True) -> None:
        self.path = Path(path)
        self.rows = Rows()
        self._tail = Tail(self.path)
        self._maker = RowMaker(priced=priced)
        self._known: OrderedDict[int, tuple[RoundTrip, Exchange, Reading]] = OrderedDict()
        self._lock = Lock()
        self._given: dict[int, RoundTrip] | None = None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The whole file. Raises CassetteError or FormatError in one sentence when it is none."""
        run = cls(path)
        for rows in run.read():
            run.rows.put(rows)
        run.rows.put(run.close())
        run.check()
        return run

    @classmethod
    def of(cls, round_trips: Iterable[RoundTrip]) -> Self:
        """A run in memory, for tests and for runs that have no file."""
        run = cls(Path("memory"))
        run._given = {trip.index: trip for trip in round_trips}
        for rows in run.update(run._given.values()):
            run.rows.put(rows)
        run.rows.put(run.close())
        return run

    @property
    def problems(self) -> list[str]:
        """What could not be read of the file, one sentence each."""
        return self._tail.problems

    def check(self) -> None:
        """Raises FormatError when nothing was recorded in the file, not even its header."""
        if self._tail.header is None:
            raise FormatError(f"{str(self.path)!r} is empty: no recording was begun in it; record again")

    def read(self) -> Iterator[list[Row]]:
        """The rows of what was added to the file since; in small batches, so that a view can show the first ones."""
        yield from self.update(self._tail.news())

    def update(self, round_trips: Iterable[RoundTrip]) -> Iterator[list[Row]]:
        """The rows of more round trips; the caller puts them into `rows` where that is safe."""
        for trip in round_trips:
            yield list(self._maker.add(trip))

    def price(self) -> list[Row]:
        """The rows that came without a price, once more."""
        return list(self._maker.price())

    def close(self) -> list[Row]:
        """The rows that the end of the recording changes."""
        return list(self._maker.close())

    def detail(self, place: int) -> Detail:
        """The round trip at that place. Raises CassetteError when the file no longer holds it."""
        row = self.rows.all[place]
        trip, exchange, reading = self._read(place)
        before, after = self.rows.before(place), self.rows.after(place)
        previous = self._neighbour(before) if not row.messages_before else None
        following = self._neighbour(after) if reading.emission and reading.emission.calls else None
        return Detail(row, trip, exchange, reading, previous, following)

    def _neighbour(self, place: int | None) -> Reading | None:
        """A turn beside another; that one can be shown without it."""
        try:
            return None if place is None else self._read(place)[2]
        except CassetteError:
            return None

    def reading(self, place: int) -> Reading:
        """What the round trip at that place says."""
        return self._read(place)[2]

    def exchange(self, place: int) -> Exchange:
        """The round trip at that place, parsed as far as it is asked for."""
        return self._read(place)[1]

    def _read(self, place: int) -> tuple[RoundTrip, Exchange, Reading]:
        with self._lock:
            if place in self._known:
                self._known.move_to_end(place)
                return self._known[place]
        row = self.rows.all[place]
        trip = self._round_trip(row.index)
        if row.session is not None:
            trip = turns_of(trip)[row.session]
        # Resolved once: a body is put together from those it is a piece of.
        trip = replace(trip, request=replace(trip.request, content=trip.request.body))
        exchange = Exchange(trip)
        found = (trip, exchange, read_exchange(exchange))
        with self._lock:
            self._known[place] = found
            size = sum(one[0].response is not None and len(one[0].request.body) for one in self._known.values())
            while len(self._known) > KEPT or (size > 32_000_000 and len(self._known) > 3):
                _, dropped = self._known.popitem(last=False)
                size -= len(dropped[0].request.body)
        return found

    def _round_trip(self, number: int) -> RoundTrip:
        return self._tail.round_trip(number) if self._given is None else self._given[number]


@dataclass(frozen=True, slots=True)
class Totals:
    """A run, or a thread, summed up."""

    turns: int
    others: int
    threads: int
    input: int
    cache_read: int
    output: int
    cost: Decimal | None
    """None when no turn has a price."""
    unpriced: int
    """Turns without a known price: the cost is at least what is said."""
    errors: int
    warnings: int
    seconds: float
    models: tuple[str, ...]


def totals(rows: Iterable[Row]) -> Totals:
    """The sums of these rows."""
    rows = list(rows)
    turns = [row for row in rows if row.is_turn]
    priced = [row.cost for row in turns if row.cost is not None]
    # What the API refused has no tokens, and no price to be missed.
    unpriced = sum(row.cost is None and (row.error is None or row.usage.input is not None) for row in turns)
    marks = [mark for row in rows for mark in row.marks]
    ends = [row.started_at + (row.duration_ms or 0) / 1000 for row in rows]
    models = dict.fromkeys(row.model for row in turns if row.model)
    return Totals(
        turns=len(turns),
        others=len(rows) - len(turns),
        threads=len({row.thread for row in turns}),
        input=sum(row.usage.input or 0 for row in turns),
        cache_read=sum(row.usage.cache_read or 0 for row in turns),
        output=sum(row.usage.output or 0 for row in turns),
        cost=sum(priced, Decimal(0)) if priced else None,
        unpriced=unpriced,
        errors=sum(mark.severity == "error" for mark in marks),
        warnings=sum(mark.severity == "warning" for mark in marks),
        seconds=max(ends) - min(row.started_at for row in rows) if rows else 0.0,
        models=tuple(models),
    )
