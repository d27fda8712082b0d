"""The label of a turn that the rules have judged."""

from collections.abc import Iterable
from typing import cast

from ..findings import causes
from ..findings.engine import JudgedTurn
from ..findings.finding import roots_first
from ..tools.tool_run import ToolRun
from ..wire.json_value import as_object, objects_in
from .emission_label import Label, is_left_out, with_emission
from .labelled import LabelledRoundTrip


def labelled(judged: JudgedTurn, label: Label) -> LabelledRoundTrip:
    """A turn with its label, which gets the findings and the tool runs of `judged`."""
    turn = judged.context.turn
    label = with_emission(label, turn.reading.emission) if is_left_out(label) else label
    put_findings(judged, label)
    runs = judged.tool_calls.runs if judged.tool_calls is not None else ()
    label["tool_runs"] = [run.as_json() for run in runs]
    if runs:
        _prove(label, judged, runs)
    return LabelledRoundTrip(turn.round_trip, turn.reading, turn, label, runs, judged.cost)


def put_findings(judged: JudgedTurn, label: Label) -> None:
    """Write a turn's findings into its label, those about its tool runs too."""
    found = [causes.of_origin(one, judged.tool_sent) for one in judged.findings]
    if judged.tool_findings or judged.tool_causes:
        about_tools = [*judged.tool_causes, *(finding.id for finding in judged.tool_findings)]
        found = roots_first([*(causes.of_tool(one, about_tools) for one in found), *judged.tool_findings])
    label["findings"] = [finding.as_json() for finding in found]


def _prove(label: Label, judged: JudgedTurn, runs: Iterable[ToolRun]) -> None:
    """What the tools' own wire or the agent's spans prove of the client: which calls ran."""
    client = as_object(label["client"])
    calls = judged.tool_calls.calls if judged.tool_calls is not None else []
    ran = {call.call.id for call in calls if call.runs}
    for result in objects_in(client.get("results")):
        result["ran"] = True if result.get("call_id") in ran else cast(object, result.get("ran"))
    client["proof"] = "tool_wire" if any(run.source == "wire" for run in runs) else "spans"
    if client.get("outcome") == "open" and all(call.runs for call in calls):
        client["outcome"] = "dispatched"
