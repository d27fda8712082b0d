"""The part of the fault bench with tool servers: its wires agree until a fault is put in, and each fault is found."""

import json
import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent))  # bench is not installed

from bench.faults.dialects import DIALECTS
from bench.faults.loop import record
from bench.faults.recorded.catalogue import Fault
from bench.faults.recorded.loops import Recording
from bench.faults.recorded.score import faulty, judge, score
from bench.faults.recorded.shapes import shape_of
from bench.faults.score import Found, label_trips
from bench.faults.story import incident
from bench.faults.tools.catalogue import FAULTS
from bench.faults.tools.wire import ToolRecording, with_tools
from turntape.inspector.findings.rules import tool_calls, tool_clients, tool_protocol, tool_results, tool_servers
from turntape.inspector.run.labels import label_all

MODULES = (tool_calls, tool_clients, tool_protocol, tool_results, tool_servers)
CLASSES = {rule.id for module in MODULES for rule in module.RULES}
APIS = {"chat": "openai-chat", "anthropic-messages": "anthropic-messages", "gemini-generate": "gemini-generate",
        "openai-responses": "openai-responses", "bedrock-converse": "bedrock-converse"}  # fmt: skip
WITH_MARK = frozenset({"the mark of an error is lost", "an error is invented"})


@cache
def recording(dialect: str) -> ToolRecording:
    """The story of the bench with a tool server beside it; a loop of it is a copy."""
    trips = tuple(record(incident(DIALECTS[dialect], streamed=False)).trips)
    shape = shape_of(APIS.get(dialect, dialect), json.loads(trips[0].request.body))
    assert shape is not None
    return ToolRecording(Recording(dialect, shape.protocol, dialect, shape, trips))


@cache
def found_before(dialect: str) -> tuple[Found, ...]:
    """What is found in the story without a fault."""
    return tuple(label_trips(recording(dialect).loop().trips()))


STORIES = [name for name in DIALECTS if name in {*APIS, "openai-chat"}]


@pytest.mark.parametrize("dialect", STORIES)
def test_both_wires_agree_before_a_fault(dialect: str) -> None:
    made = recording(dialect)
    assert with_tools([made.recording]) == [made]
    rows = label_all(made.loop().trips())
    runs = [run for row in rows for run in row.tool_runs]

    assert len(runs) == 6
    assert {(run.seen_as, run.joined is not None, run.lost) for run in runs} == {("equal", True, ())}
    assert {f.id for f in label_trips(made.loop().trips()) if f.id in CLASSES} <= {"tool-reported-error"}


CASES = [(fault, STORIES[(n + more) % len(STORIES)]) for n, fault in enumerate(FAULTS) for more in (0, 2)]
"""Each fault in two of the dialects; `make faults` puts it into all of them."""


@pytest.mark.parametrize(("fault", "dialect"), CASES, ids=lambda one: one if isinstance(one, str) else one.name)
def test_a_fault_is_found_and_blamed_on_its_layer(fault: Fault, dialect: str) -> None:
    made = recording(dialect)
    loop = made.loop()
    changed = faulty(made, fault)  # type: ignore[arg-type]
    if changed is None:
        assert fault.name in WITH_MARK or fault.name in ("a result is cut",)
        return
    assert [trip.request.body for trip in changed[0]] != [trip.request.body for trip in loop.trips()] or [
        trip.response for trip in changed[0]
    ] != [trip.response for trip in loop.trips()]
    outcome = judge(made, fault, found_before(dialect))  # type: ignore[arg-type]

    assert outcome is not None
    assert outcome.hits, [str(found) for found in outcome.found]
    assert outcome.right, [str(found) for found in outcome.found]


def test_the_score_takes_loops_with_tools() -> None:
    total = score([recording("openai-chat")], FAULTS[:1]).total  # type: ignore[list-item]

    assert (total.cases, total.found, total.right) == (1, 1, 1)


def test_every_class_about_tools_has_a_fault() -> None:
    assert {name for fault in FAULTS for name in fault.finds if name in CLASSES} == CLASSES
