"""Labels: each round trip as one `show --json` object, made while the run is being recorded.

The layers of a turn are its own answer (model, api) and what the next request of its thread shows of the client.
So `client.results` and `client.outcome` say what was done with this turn's emission, while `client.history` says
how this turn's own request relates to the thread. A turn is labelled when it ends, and again when the next one
decides its client layer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from turntape.cassettes.lines import stamp
from turntape.cassettes.model import RoundTrip

from .client_layer import dispatch
from .findings import Case, findings
from .prices import cost
from .reader import read
from .reading import Reading, ToolCall
from .threads import Threads, Turn
from .websocket import turns_of

type Label = dict[str, object]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A round trip with all that is said of it."""

    round_trip: RoundTrip
    reading: Reading
    turn: Turn | None
    label: Label


class Labeller:
    """`add` round trips in the order in which they ended; `close` when there will be no more."""

    def __init__(self) -> None:
        self._threads = Threads()
        self._open: dict[str, tuple[Turn, Label]] = {}
        """The last turn of each thread, with its label."""

    def add(self, round_trip: RoundTrip) -> list[tuple[int, Label]]:
        """The label of this round trip, and the new one of the turn whose client layer it decides."""
        return [(index, done.label) for index, done in self.follow(round_trip)]

    def follow(self, round_trip: RoundTrip) -> Iterator[tuple[int, Labelled]]:
        """As `add`, with the readings. The turns of a WebSocket session all have its number."""
        if round_trip.frames and (turns := turns_of(round_trip)):
            for turn in turns:
                yield from self.follow(turn)
            return
        reading = read(round_trip)
        if not reading.is_generation:
            yield round_trip.index, Labelled(round_trip, reading, None, other_label(round_trip, reading))
            return
        turn = self._threads.add(round_trip, reading)
        before = self._open.get(turn.thread)
        if before is not None and turn.number > before[0].number:
            earlier, label = before
            _settle(label, earlier, turn)
            yield earlier.round_trip.index, Labelled(earlier.round_trip, earlier.reading, earlier, label)
        label = turn_label(turn)
        _settle(label, turn, None)
        self._open[turn.thread] = (turn, label)
        yield round_trip.index, Labelled(round_trip, reading, turn, label)

    def close(self) -> list[tuple[int, Label]]:
        """What the end of the recording changes: nothing that is not labelled already."""
        return []


type Key = tuple[int, float, float]
"""Sorts labels: the round trip's number, then time, since a WebSocket session is one round trip with many turns."""


def labelled(round_trips: Iterable[RoundTrip]) -> Iterator[tuple[Key, Labelled]]:
    """All round trips labelled as they come; what comes again under a key stands for what came before."""
    labeller = Labeller()
    for place, given in enumerate(round_trips):
        numbered = given if given.index >= 0 else replace(given, index=place)
        for index, done in labeller.follow(numbered):
            yield (index, done.round_trip.started_at, done.round_trip.request_at or 0), done


def label_all(round_trips: Iterable[RoundTrip]) -> list[Labelled]:
    """All round trips labelled, in order of their numbers; all of them in memory."""
    done = dict(labelled(round_trips))
    return [done[key] for key in sorted(done)]


def _settle(label: Label, turn: Turn, following: Turn | None) -> None:
    done = dispatch(turn, following)
    label["client"] = {
        "results": [{"call_id": r.call_id, "is_error": r.is_error} for r in done.results],
        "history": turn.history,
        "outcome": done.outcome,
    }
    label["findings"] = [finding.as_json() for finding in findings(Case(turn, done, following))]


def _milliseconds(at: int | None) -> float | None:
    return None if at is None else round(at / 1000, 3)


def _common(trip: RoundTrip, reading: Reading) -> Label:
    return {
        "index": trip.index,
        "run": trip.run,
        "thread": None,
        "turn": None,
        "protocol": reading.protocol,
        "provider": reading.provider,
        "method": trip.request.method,
        "url": trip.request.url,
        "status": trip.response.status if trip.response else None,
        "streamed": reading.streamed,
        "started_at": stamp(trip.started_at),
        "first_byte_ms": _milliseconds(trip.first_byte_at),
        "duration_ms": _milliseconds(trip.ended_at),
        "request_model": reading.request.model,
        "response_model": reading.response_model,
        "tools_offered": [tool.name for tool in reading.request.tools],
        "model": None,
        "api": None,
        "client": None,
        "usage": None,
        "cost_usd": None,
        "findings": [],
    }


def other_label(trip: RoundTrip, reading: Reading) -> Label:
    """The label of a round trip outside generation: no turn, no layers."""
    return _common(trip, reading)


def _call(call: ToolCall) -> dict[str, object]:
    return {"id": call.id, "name": call.name, "arguments": call.arguments, "arguments_raw": call.arguments_raw}


def money(amount: Decimal | None) -> str | None:
    """Dollars as a plain decimal string, or None."""
    return None if amount is None else format(amount.normalize(), "f")


def turn_label(turn: Turn) -> Label:
    """The label of a turn but for its client layer and findings."""
    trip, reading = turn.round_trip, turn.reading
    emission, finish, usage, error = reading.emission, reading.finish, reading.usage, reading.error
    label = _common(trip, reading)
    label["thread"], label["turn"] = turn.thread, turn.number
    if emission is not None:
        label["model"] = {
            "emitted": emission.emitted,
            "text": emission.text,
            "reasoning": emission.reasoning,
            "refusal": emission.refusal,
            "tool_calls": [_call(call) for call in emission.calls],
        }
    if finish is not None:
        label["api"] = {
            "finish_raw": finish.raw,
            "finish": finish.label,
            "effective": finish.effective,
            "error": None
            if error is None
            else {"message": error.message, "type": error.type, "code": error.code, "status": error.status},
        }
    label["usage"] = {
        "input": usage.input if usage else None,
        "cache_read": usage.cache_read if usage else None,
        "cache_write": usage.cache_write if usage else None,
        "output": usage.output if usage else None,
        "reasoning": usage.reasoning if usage else None,
    }
    label["cost_usd"] = money(cost(trip, reading))
    return label
