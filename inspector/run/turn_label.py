"""The label of a round trip as far as its own bytes say it: without its client layer, and without findings."""

from decimal import Decimal

from turntape.cassettes.tape.format import stamp
from turntape.cassettes.tape.model import RoundTrip

from ..analysis.pricing import Cost
from ..analysis.turn import Turn
from ..wire.values import Emitted, Reading, Usage
from .emission_label import Label, emission_label


def _milliseconds(at: int | None) -> float | None:
    return None if at is None else round(at / 1000, 3)


def _common(trip: RoundTrip, reading: Reading) -> Label:
    return {
        "index": trip.index,
        "run": trip.run,
        "thread": None,
        "turn": None,
        "attempt": None,
        "edge": None,
        "protocol": reading.protocol,
        "kind": reading.kind,
        "provider": reading.provider,
        "method": trip.request.method,
        "url": trip.request.url,
        "status": (trip.response.status or None) if trip.response else None,
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
        "tool_runs": [],
        "usage": None,
        "cost_usd": None,
        "cost_source": None,
        "unpriced_fees": [],
        "ledger": None,
        "findings": [],
    }


def other_label(trip: RoundTrip, reading: Reading, cost: Cost | None = None) -> Label:
    """The label of a round trip outside generation: no turn, no layers."""
    label = _common(trip, reading)
    if reading.usage is not None:
        label["usage"] = _usage(reading.usage)
    return _with_cost(label, cost)


def _usage(usage: Usage) -> dict[str, object]:
    return {name: getattr(usage, name) for name in ("input", "cache_read", "cache_write", "output", "reasoning")}


def _with_cost(label: Label, cost: Cost | None) -> Label:
    label["cost_usd"] = money(cost.amount) if cost else None
    label["cost_source"] = cost.source if cost else None
    label["unpriced_fees"] = list(cost.unpriced_fees) if cost else []
    return label


def money(amount: Decimal | None) -> str | None:
    """Dollars as a plain decimal string, or None."""
    return None if amount is None else format(amount.normalize(), "f")


def turn_label(turn: Turn, cost: Cost | None, emitted: Emitted | None = None) -> Label:
    """The label of a turn without its client layer and findings. `emitted` is what the run shows that was emitted."""
    trip, reading = turn.round_trip, turn.reading
    emission, finish, usage, error = reading.emission, reading.finish, reading.usage, reading.error
    label = _common(trip, reading)
    label["thread"], label["turn"] = turn.thread, turn.number
    label["attempt"], label["edge"] = turn.attempt, turn.edge.as_json()
    if emission is not None:
        label["model"] = {**emission_label(emission), "emitted": emitted or emission.emitted}
    if finish is not None:
        label["api"] = {
            "finish_raw": finish.raw,
            "finish": finish.label,
            "effective": finish.effective,
            "error": None
            if error is None
            else {"message": error.message, "type": error.type, "code": error.code, "status": error.status},
        }
    label["usage"] = _usage(usage or Usage())
    return _with_cost(label, cost)
