"""Which turns extend one conversation: explicit ids first, then the history itself.

A request continues the thread whose last request is a prefix of its own history, provided that an answer stands
between them or the API holds it. A request with the body of a turn that failed is another attempt of that turn.
The cost of a request is that of reading it; it does not grow with the run.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from hashlib import blake2b

from turntape.cassettes.model import RoundTrip

from .items import Item, items_of, rolling
from .reading import Reading, Usage


@dataclass(slots=True)
class Turn:
    """A round trip to a generation endpoint, as a step of a thread."""

    round_trip: RoundTrip
    reading: Reading
    thread: str
    number: int
    """From 1 within its thread; the attempts of one turn share it."""
    history: str
    """How its request relates to the thread: `first`, `extended` or `changed`."""
    shared: int
    """How many items of its history stood in the previous request of the thread already."""
    usage_before: Usage | None = None
    """What the previous turn of the thread used. The turn itself is not held: a run must not stay in memory."""
    messages_before: int = 0
    """How many messages the previous request of the thread held."""
    items: list[Item] = field(default_factory=list[Item])
    body: bytes = b""
    """The digest of its request body."""

    @property
    def failed(self) -> bool:
        finish = self.reading.finish
        return finish is None or finish.effective in ("error", "cut", "cancelled")


class Threads:
    """`add` sorts round trips into threads as they come."""

    def __init__(self) -> None:
        self._last: dict[str, Turn] = {}
        self._waiting: defaultdict[tuple[str | None, int], list[str]] = defaultdict(list)
        """Threads by (run, hash of the last request's history)."""
        self._by_answer: dict[tuple[str | None, str], str] = {}
        """Threads by (run, id of an answer)."""
        self._by_call: defaultdict[tuple[str | None, str], list[str]] = defaultdict(list)
        """Threads by (run, id of an emitted call), latest last."""
        self._failed: dict[tuple[str | None, bytes], str] = {}
        """Threads whose last turn failed, by (run, digest of its body)."""

    def add(self, round_trip: RoundTrip, reading: Reading) -> Turn:
        """The turn that this generation round trip is."""
        items = items_of(reading.request.messages)
        sums = rolling(items)
        digest = blake2b(round_trip.request.body, digest_size=16).digest()
        turn = (
            self._attempt(round_trip, reading, items, digest)
            or self._answer(round_trip, reading, items)
            or self._prefix(round_trip, reading, items, sums)
            or self._call(round_trip, reading, items)
            or self._begin(round_trip, reading, items)
        )
        turn.body = digest
        self._remember(turn, sums)
        return turn

    def _continue(
        self, round_trip: RoundTrip, reading: Reading, items: list[Item], thread: str, history: str, shared: int
    ) -> Turn:
        before = self._last[thread]
        usage, messages = before.reading.usage, len(before.reading.request.messages)
        return Turn(round_trip, reading, thread, before.number + 1, history, shared, usage, messages, items)

    def _begin(self, round_trip: RoundTrip, reading: Reading, items: list[Item]) -> Turn:
        thread = f"t{len(self._last) + 1}"
        return Turn(round_trip, reading, thread, 1, "first", 0, items=items)

    def _attempt(self, round_trip: RoundTrip, reading: Reading, items: list[Item], digest: bytes) -> Turn | None:
        thread = self._failed.pop((round_trip.run, digest), None)
        before = self._last[thread] if thread else None
        if thread is None or before is None or before.body != digest:
            return None
        return Turn(
            round_trip,
            reading,
            thread,
            before.number,
            before.history,
            before.shared,
            before.usage_before,
            before.messages_before,
            items,
        )

    def _answer(self, round_trip: RoundTrip, reading: Reading, items: list[Item]) -> Turn | None:
        said = reading.request.previous_id
        thread = self._by_answer.get((round_trip.run, said)) if said else None
        return self._continue(round_trip, reading, items, thread, "extended", 0) if thread else None

    def _prefix(self, round_trip: RoundTrip, reading: Reading, items: list[Item], sums: list[int]) -> Turn | None:
        answers = sum(message.role == "assistant" for message in reading.request.messages)
        if not answers:
            return None
        for length in range(len(items) - 1, 0, -1):
            threads = self._waiting.get((round_trip.run, sums[length]))
            if threads:
                thread = threads.pop(0)
                return self._continue(round_trip, reading, items, thread, "extended", length)
        return None

    def _call(self, round_trip: RoundTrip, reading: Reading, items: list[Item]) -> Turn | None:
        """A history that was rewritten still names the calls that the thread emitted."""
        named = [p.call.id for m in reading.request.messages for p in m.parts if p.call and p.call.id]
        named += [result.call_id for result in reading.request.results if result.call_id]
        for call_id in reversed(named):
            threads = self._by_call.get((round_trip.run, call_id))
            if threads:
                thread = max(threads, key=lambda name: _shared(self._last[name].items, items))
                return self._continue(
                    round_trip, reading, items, thread, "changed", _shared(self._last[thread].items, items)
                )
        return None

    def _remember(self, turn: Turn, sums: list[int]) -> None:
        run = turn.round_trip.run
        before = self._last.get(turn.thread)
        if before is not None:
            waiting = self._waiting.get((run, rolling(before.items)[-1]))
            if waiting and turn.thread in waiting:
                waiting.remove(turn.thread)
        self._last[turn.thread] = turn
        if turn.failed:
            self._failed[(run, turn.body)] = turn.thread
        if turn.items:
            self._waiting[(run, sums[-1])].append(turn.thread)
        if turn.reading.response_id:
            self._by_answer[(run, turn.reading.response_id)] = turn.thread
        for call in turn.reading.emission.calls if turn.reading.emission else ():
            if call.id and turn.thread not in (known := self._by_call[(run, call.id)]):
                known.append(turn.thread)


def _shared(a: list[Item], b: list[Item]) -> int:
    count = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        count += 1
    return count
