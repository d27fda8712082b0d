"""A round trip with its label, as the labeller gives it and the views take it."""

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip

from ..analysis.pricing import Cost
from ..analysis.turn import Turn
from ..tools.tool_run import ToolRun
from ..wire.values import Reading
from .emission_label import Label

type Key = tuple[int, float, float]
"""Sorts labels: the round trip's number, then time, since a WebSocket session is one round trip with many turns."""


@frozen
class LabelledRoundTrip:
    """A round trip with its reading and its label."""

    round_trip: RoundTrip
    reading: Reading
    turn: Turn | None
    label: Label
    tool_runs: tuple[ToolRun, ...] = ()
    """The tool runs of the turn's calls. A round trip of the tools' own wire has its run while no call has it."""
    cost: Cost | None = None
    """What the turn cost; None where that is not known, or the labeller was not asked for prices."""
