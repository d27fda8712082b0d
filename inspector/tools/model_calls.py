"""The calls of a turn, with the tool runs that were joined to them."""

from dataclasses import field

from turntape.cassettes.frozen import mutable

from ..analysis.turn import Turn
from ..wire.values import ToolCall
from .arguments import meaning
from .seen import Shown, seen
from .tool_run import ToolRun
from .tool_sessions import RunKey


@mutable(eq=False)
class ModelCall:
    """A call that the model emitted and the client must answer."""

    call: ToolCall
    place: int
    """Its place among the calls of the turn."""
    turn: "TurnCalls"
    meaning: str
    """Its arguments, comparable."""
    tool: tuple[str, str] | None = None
    """The server and the tool that its name fits best; None when none does."""
    runs: list[ToolRun] = field(default_factory=list[ToolRun])
    """Its executions, in order. More than one is a fault, or a retry."""
    shown: Shown | None = None
    """Its result in the next request."""

    def put(self, run: ToolRun) -> None:
        """Add a run, or the newer form of one, with what the next request shows of it.

        A span is left out where the tool's own wire shows the same execution.
        """
        if run.source == "wire":
            self.runs[:] = [one for one in self.runs if one.source == "wire"]
        elif any(one.source == "wire" for one in self.runs):
            return
        if self.shown is not None:
            run = seen(run, self.shown)
        for place, one in enumerate(self.runs):
            if key_of(one) == key_of(run):
                self.runs[place] = run
                return
        self.runs.append(run)
        self.runs.sort(key=lambda one: one.started_at)

    def show(self, shown: Shown) -> None:
        """Note what the next request has for it."""
        self.shown = shown
        self.runs[:] = [seen(run, shown) for run in self.runs]


@mutable(eq=False)
class TurnCalls:
    """The calls of one turn."""

    index: int
    thread: str
    run: str | None
    begun: float
    """When the turn's request began: no run of its calls is older."""
    offered: frozenset[str]
    """The names of the tools that its request offered."""
    trace: str | None
    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    until: float | None = None
    """When the next request of the thread began: no run of its calls is newer. None before that."""
    followed_by: int | None = None
    """The round trip of that request."""

    @property
    def runs(self) -> tuple[ToolRun, ...]:
        return tuple(run for call in self.calls for run in call.runs)

    @property
    def open(self) -> list[ModelCall]:
        """The calls without a run."""
        return [call for call in self.calls if not call.runs]

    def covers(self, run: ToolRun) -> bool:
        """Whether a run falls into the time in which the client worked on these calls."""
        return self.begun <= run.started_at and (self.until is None or run.started_at <= self.until)


def key_of(run: ToolRun) -> RunKey:
    """What a run keeps while it changes."""
    return run.session, run.sequence


def calls_of(turn: Turn) -> TurnCalls:
    """The calls of a turn that has ended."""
    emission, trip = turn.reading.emission, turn.round_trip
    request = turn.reading.request
    made = TurnCalls(
        trip.index,
        turn.thread,
        trip.run,
        trip.started_at + (turn.round_trip.request_at or 0) / 1e6,
        frozenset(tool.name for tool in (*request.tools, *request.added_tools)),
        turn.identity.trace,
    )
    for call in emission.calls if emission is not None else ():
        if call.name or call.id:
            made.calls.append(ModelCall(call, len(made.calls), made, meaning(call.arguments)))
    return made
