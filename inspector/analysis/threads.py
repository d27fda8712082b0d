"""Sorts turns into threads: first by ids of the API or the client, then by the history.

A request continues a thread if its conversation begins with the whole last conversation of that thread, and an answer
follows it or the API holds the answer. A request that repeats the conversation of a failed turn is another attempt at
that turn. The edge of every turn says what it follows from, why, and how sure that is.
"""

from collections.abc import Iterator
from typing import Literal

from turntape.cassettes.tape.carried import Carried, carried
from turntape.cassettes.tape.model import RoundTrip

from ..wire.per_message import Joined
from ..wire.request_bodies import body_hash
from ..wire.values import Emission, Message, Reading, RequestReading
from .conversation import common_units, conversation_of, joined, meanings_emitted, units_emitted
from .identity import identity
from .rebuilt_prompts import RebuiltPrompts
from .seen import Seen
from .thread_index import DISTINCTIVE, NewRequest, ThreadIndex, address_of, scope_of
from .thread_starts import starting_edge
from .turn import Edge, Turn

_HANDOFF = ("transfer_to", "transfer-to", "handoff")
"""Prefixes of the names of calls that hand the conversation to another agent."""


class Threads:
    """`add` sorts round trips into threads, in the order in which they ended."""

    def __init__(self) -> None:
        self._index = ThreadIndex()
        self._rebuilt = RebuiltPrompts()
        self.count = 0
        """Threads so far, those of the earlier segments of a recording included."""

    def add(self, round_trip: RoundTrip, reading: Reading) -> Turn:
        """The turn of this round trip to a generation endpoint."""
        who = identity(round_trip, reading)
        earlier = self._index.conversations(scope_of(round_trip, who))
        conversation = conversation_of(reading.request.messages, earlier)
        sent = round_trip.request.body
        body = b"%d-%d" % (len(sent), body_hash(sent))
        new = NewRequest(round_trip, reading, conversation, body, who)
        turn = (
            self._other_attempt(new)
            or self._by_answer_id(new)
            or self._by_item_id(new)
            or self._by_history(new)
            or self._by_call_id(new)
            or self._by_emission(new)
            or self._by_rebuilt_prompt(new)
            or self._fork(new)
            or self._after_handshake(new)
            or self._start(new, starting_edge(self._index, new))
        )
        self._index.remember(turn)
        self._rebuilt.remember(turn)
        return turn

    def begins_main(self, turn: Turn) -> bool:
        """Whether the main thread of its run begins with this turn: the first that offers tools."""
        main = self._index.main.get(turn.round_trip.run)
        return turn.number == 1 and main is not None and main[0] == turn.thread

    def _other_attempt(self, new: NewRequest) -> Turn | None:
        """A request that repeats the conversation of a turn that failed."""
        key = (new.scope, new.conversation.prefixes[-1])
        thread = self._index.failed.get(key)
        if thread is None:
            return None
        before = self._index.last[thread]
        if before.conversation.meanings != new.conversation.meanings:
            return None
        del self._index.failed[key]
        what = "request" if before.body == new.body else "history"
        return self._attempt(new, before, f"it repeats the {what} that failed")

    def _after_handshake(self, new: NewRequest) -> Turn | None:
        """The first request after a WebSocket handshake that failed: the same turn, over HTTP or a new connection."""
        thread = self._index.refused.get(address_of(new.round_trip))
        if thread is None:
            return None
        return self._attempt(new, self._index.last[thread], "it follows a WebSocket handshake that failed")

    def _attempt(self, new: NewRequest, before: Turn, reason: str) -> Turn:
        """Another attempt at the turn `before`."""
        return Turn(
            seen=Seen(new.round_trip, new.reading, new.conversation),
            thread=before.thread,
            number=before.number,
            attempt=before.attempt + 1,
            history=before.history,
            shared=before.shared,
            edge=Edge("attempt", before.round_trip.index, before.thread, reason),
            usage_before=before.usage_before,
            messages_before=before.messages_before,
            body=new.body,
            identity=new.identity,
        )

    def _by_answer_id(self, new: NewRequest) -> Turn | None:
        """A request that names the answer that it continues."""
        name = new.reading.request.continues
        found = self._index.by_answer_id.get((new.named_run, name)) if name else None
        if found is None:
            return None
        thread, number = found
        before = self._index.last[thread]
        again = before.failed and before.reading.request.continues == name
        if name not in before.reading.answer_ids and not again:
            reason = f"it continues {name}, which was continued before"
            return self._start(new, Edge("fork", number, thread, reason), "extended")
        repeats = new.reading.request.continuation is not None
        shared = common_units(before.conversation, new.conversation) if repeats else 0
        return self._continue(new, thread, "extended", shared, f"it continues {name}")

    def _by_item_id(self, new: NewRequest) -> Turn | None:
        """A request that names parts of the thread's last answer instead of repeating them."""
        for item_id in reversed(new.reading.request.item_ids):
            thread, number = self._index.by_item_id.get((new.named_run, item_id), ("", -1))
            before = self._index.last.get(thread)
            if before is None or before.round_trip.index != number:
                continue
            shared = common_units(before.conversation, new.conversation)
            history = "extended" if shared == len(before.conversation.units) else "changed"
            return self._continue(new, thread, history, shared, f"its history names {item_id} of the last answer")
        return None

    def _by_history(self, new: NewRequest) -> Turn | None:
        """A request whose conversation begins with the whole of a thread's last one."""
        if not new.has_answer:
            return None
        prefixes = new.conversation.prefixes
        for length in self._index.waiting_lengths(new.scope, len(prefixes) - 2):
            threads = self._index.by_history.get((new.scope, prefixes[length]))
            if threads:
                likely = [name for name in threads if self._answered(name, new, length)]
                if not likely and (new.scope, prefixes[-1]) in self._index.by_any_history:
                    return None  # It repeats a request that another thread made after its own answer.
                likely = likely or threads
                thread = next((name for name in likely if self._same_trace(name, new)), likely[0])
                before = self._index.last[thread].round_trip.index
                reason = f"its history begins with the whole of #{before}'s"
                return self._continue(new, thread, "extended", length, reason)
        return None

    def _same_trace(self, thread: str, new: NewRequest) -> bool:
        trace = new.identity.trace
        return trace is not None and trace == self._index.last[thread].identity.trace

    def _answered(self, thread: str, new: NewRequest, length: int) -> bool:
        """Whether the common history is followed by this thread's answer, and not by that of another thread."""
        last = self._index.last[thread]
        if last.call_ids:
            return any(call.id in last.call_ids for call in reversed(new.reading.request.calls))
        emission = last.reading.emission
        new_units = new.conversation.units.since(length)
        return emission is not None and not meanings_emitted(emission).isdisjoint(unit.meaning for unit in new_units)

    def _by_call_id(self, new: NewRequest) -> Turn | None:
        """A request whose history was changed, but still names calls that the thread emitted."""
        request = new.reading.request
        last = self._index.last
        for call_id in _named(request):
            threads = self._index.by_call_id.get((new.named_run, call_id), [])
            threads = [name for name in threads if last[name].identity.agent == new.identity.agent]
            if not threads:
                continue
            thread = max(threads, key=lambda name: common_units(last[name].conversation, new.conversation))
            # A history that holds the last answer, wherever that is, was changed: nobody went back.
            went_back = last[thread].call_ids.isdisjoint(_named(request)) and not self._holds_answer(thread, new)
            if went_back and (forked := self._fork(new, answered=True)) is not None:
                return forked
            return self._continue_changed(new, thread, f"its history holds the call {call_id}", "P")
        return None

    def _by_emission(self, new: NewRequest) -> Turn | None:
        """A request whose history was changed and has no ids, but still contains the last answer of the thread."""
        if not new.has_answer:
            return None
        for unit in reversed(new.conversation.units):
            thread = self._index.by_emitted.get((new.scope, unit.meaning))
            if thread is not None:
                number = self._index.last[thread].round_trip.index
                return self._continue_changed(new, thread, f"its history holds the answer of #{number}", "S")
        return None

    def _by_rebuilt_prompt(self, new: NewRequest) -> Turn | None:
        """A request without a history, whose prompt is the last one with the words of the last answer added."""
        found = self._rebuilt.find(new)
        if found is None:
            return None
        edge = Edge("rebuilt", found.before.round_trip.index, found.before.thread, found.reason, found.tier)
        shared = common_units(found.before.conversation, new.conversation)
        return self._next(new, found.before, edge, "changed", shared)

    def _holds_answer(self, thread: str, new: NewRequest) -> bool:
        """Whether the history holds the thread's last answer in text: then it was changed, and nobody went back."""
        last = self._index.last[thread]
        said = [unit for unit in joined(units_emitted(last.reading.emission or Emission())) if unit.kind == "text"]
        place, meanings = len(last.conversation.units), new.conversation.meanings
        return any(
            unit.meaning in meanings
            and (len(unit.text) >= DISTINCTIVE or meanings[place : place + 1] == [unit.meaning])
            for unit in said
        )

    def _fork(self, new: NewRequest, *, answered: bool = False) -> Turn | None:
        """A request that continues from an earlier point of a thread: regenerated, rewound or edited.

        One common piece is enough where the request has an `answered` call and that answer comes next.
        """
        if not new.has_answer:
            return None
        prefixes = new.conversation.prefixes
        for length in self._index.lengths(new.scope, len(prefixes) - 1):
            found = self._index.by_any_history.get((new.scope, prefixes[length]))
            if found is None or (length == 1 and not (answered and self._was_emitted(new, 1))):
                continue
            (thread, number), tools = found
            if tools != hash(new.tools):
                return None
            if self._holds_answer(thread, new):
                before = self._index.last[thread].round_trip.index
                return self._continue_changed(new, thread, f"its history holds the answer of #{before}", "S")
            edge = Edge("fork", number, thread, f"it continues differently from #{number}")
            return self._start(new, edge, "extended", length)
        return None

    def _was_emitted(self, new: NewRequest, place: int) -> bool:
        """Whether the piece at this place is, unchanged, a piece of an answer."""
        return any(
            (new.scope, unit.meaning) in self._index.by_emitted for unit in new.conversation.units[place : place + 1]
        )

    def _continue_changed(self, new: NewRequest, thread: str, reason: str, tier: Literal["P", "S"]) -> Turn:
        shared = common_units(self._index.last[thread].conversation, new.conversation)
        return self._continue(new, thread, "changed", shared, reason, tier)

    def _continue(
        self,
        new: NewRequest,
        thread: str,
        history: Literal["extended", "changed"],
        shared: int,
        reason: str,
        tier: Literal["P", "S"] = "P",
    ) -> Turn:
        """The next turn of a thread, whose history or whose answer's id leads to it."""
        before = self._index.last[thread]
        edge = Edge("continuation", before.round_trip.index, thread, reason, tier)
        if (call := _handoff(before)) and new.tools != before.tools:
            edge = Edge("handoff", before.round_trip.index, thread, f"the tools change after the call of {call!r}", "S")
        return self._next(new, before, edge, history, shared)

    def _next(
        self, new: NewRequest, before: Turn, edge: Edge, history: Literal["extended", "changed"], shared: int
    ) -> Turn:
        """The turn after `before` in its thread."""
        return Turn(
            seen=Seen(new.round_trip, new.reading, new.conversation),
            thread=before.thread,
            number=before.number + 1,
            history=history,
            shared=shared,
            edge=edge,
            usage_before=before.reading.usage,
            messages_before=len(before.reading.request.messages),
            body=new.body,
            identity=new.identity,
        )

    def _start(
        self, new: NewRequest, edge: Edge, history: Literal["first", "extended"] = "first", shared: int = 0
    ) -> Turn:
        """The first turn of a new thread; of one that an earlier segment began, where it was there."""
        mark = carried(new.round_trip) or Carried()
        known = mark.thread if mark.thread not in self._index.last else None
        self.count = max(self.count + (known is None), mark.threads)
        return Turn(
            seen=Seen(new.round_trip, new.reading, new.conversation),
            thread=known or f"t{self.count}",
            number=(mark.turn if known else None) or 1,
            attempt=(mark.attempt if known else None) or 1,
            history=history,
            shared=shared,
            edge=edge,
            body=new.body,
            identity=new.identity,
        )


def _named(request: RequestReading) -> Iterator[str]:
    """The ids of all results and calls in a history, the last ones first."""
    yield from reversed(_answered_ids(request.messages))
    yield from reversed(_call_ids(request.messages))


def _answered_by(message: Message) -> list[str]:
    results = (part.result for part in message.parts if part.result is not None)
    return [result.call_id for result in results if not result.server and result.call_id]


def _called_in(message: Message) -> list[str]:
    return [part.call.id for part in message.parts if part.call is not None and part.call.id]


_answered_ids, _call_ids = Joined(_answered_by).of, Joined(_called_in).of


def _handoff(turn: Turn) -> str | None:
    """The name of the call that hands the conversation to another agent, if the turn emitted one."""
    emission = turn.reading.emission
    names = (call.name for call in emission.calls) if emission else ()
    return next((name for name in names if name.startswith(_HANDOFF)), None)
