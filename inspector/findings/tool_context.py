"""The argument of every rule about tools: the calls of a turn with their runs, a run that no call has, or a note."""

from collections.abc import Sequence
from typing import Literal

from turntape.cassettes.frozen import frozen

from ..analysis.turn import Turn
from ..tools.definitions import Definition
from ..tools.join import ToolJoin
from ..tools.model_calls import ModelCall, TurnCalls
from ..tools.returned import returned_of
from ..tools.session_state import WireNote
from ..tools.tool_run import ToolRun
from ..wire.json_value import is_object
from ..wire.values import Tool
from .finding import Finding
from .schema_check import Violation, violations

type Over = Literal["open", "followed", "closed"]
"""`open`: the turn is the last of its thread so far. `followed`: the next one shows its results. `closed`: nothing
more will come."""


@frozen
class Execution:
    """A run on a tool's own wire, with the call of the model that it belongs to."""

    run: ToolRun
    call: ModelCall | None = None
    """None where no answer of the model has that call, as in a recording of a tool server alone."""

    @property
    def answer(self) -> tuple[str, ...]:
        """The evidence for the call: the model's answer that has it."""
        return () if self.call is None else (f"#{self.call.turn.index} response",)

    @property
    def repeated(self) -> bool:
        """Whether the call was made again, and then had a result."""
        last = self.call.runs[-1] if self.call is not None else self.run
        return last is not self.run and last.outcome == "answered"

    @property
    def went_on(self) -> bool:
        """Whether the client asked the model again after the call."""
        return self.call is not None and self.call.turn.followed_by is not None


@frozen(slots=False)
class ToolContext:
    """What a rule may look at. It runs again whenever more is seen, and its earlier findings are replaced."""

    over: Over = "closed"
    turn: Turn | None = None
    calls: TurnCalls | None = None
    """The calls of the turn."""
    loose: ToolRun | None = None
    """A run that no call has, when the recording has ended."""
    note: WireNote | None = None
    """Something on a tool's wire that is not a run."""
    join: ToolJoin | None = None
    offers: Sequence[tuple[Tool, Definition]] = ()
    """The tools of servers that the turn offers to the model for the first time, each as its server defines it."""

    outdated: Sequence[tuple[str, int]] = ()
    """The servers of offered tools that announced a change and were not listed again, with the round trip of that."""

    found: frozenset[str] = frozenset()
    """The ids of the findings about the turn itself."""

    inherited: Sequence[Finding] = ()
    """What is wrong with parts of the turn's request that tool servers sent as they are."""

    @property
    def runs(self) -> list[tuple[ModelCall, ToolRun]]:
        """The runs of the turn on the tools' own wire, each with its call.

        What a span says is not judged: each instrumentation writes arguments and results in its own form.
        """
        every = self.calls.calls if self.calls else []
        return [(call, run) for call in every for run in call.runs if run.source == "wire"]

    @property
    def executions(self) -> list[Execution]:
        """The runs of the turn, or the one that no call has: what a server did with a call is judged either way."""
        alone = [] if self.loose is None or self.loose.source != "wire" else [Execution(self.loose)]
        return [*(Execution(run, call) for call, run in self.runs), *alone]

    @property
    def final(self) -> list[tuple[ModelCall, ToolRun]]:
        """The last run of each call that has one: its result is what the model should see.

        Without results that clients must refuse: what the model sees in place of those is the server's fault.
        """
        last = {id(call): (call, run) for call, run in self.runs}.values()
        return [(call, run) for call, run in last if is_whole(run) or not self.must_refuse(run)]

    def must_refuse(self, run: ToolRun) -> bool:
        """Whether a result breaks MCP's form, or the schema that its tool states for structured content."""
        return run.flaw is not None or bool(self.breaks_schema(run))

    @property
    def missing(self) -> list[ModelCall]:
        """The calls of tools of a recorded server that have no run."""
        return [call for call in self.calls.calls if not call.runs and call.tool is not None] if self.calls else []

    def returned_before(self, call: ModelCall) -> ToolRun | None:
        """The earlier run whose result is shown for a call that was not executed."""
        if self.join is None or call.shown is None:
            return None
        return self.join.returned_before(call.shown)

    def breaks_schema(self, run: ToolRun) -> tuple[Violation, ...]:
        """How the structured content of a result breaks the schema that its tool states."""
        if not is_object(run.output_schema) or run.result is None or run.is_error:
            return ()
        value = returned_of(run.result).structured
        if value is None:
            return (Violation("missing-required", "it has no structured content", coercible=False),)
        return tuple(violations(run.output_schema, value))

    def definition(self, run: ToolRun) -> Definition | None:
        """The tool as its server listed it last."""
        return self.join.tools.get(run.server, {}).get(run.name) if self.join is not None else None


def is_whole(run: ToolRun) -> bool:
    """Whether the model sees all of a result that holds something, and no error in its place."""
    seen = run.seen_as in ("equal", "structured", "text") and not run.lost
    return seen and (not run.seen_error or bool(run.is_error))
