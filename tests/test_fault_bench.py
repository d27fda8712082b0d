"""The fault bench: its clean loops are clean, each fault edits one layer, and the bars hold."""

import json
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from turntape.cassettes import Cassette
from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import label_all

sys.path.append(str(Path(__file__).parent.parent))  # bench is not installed

from bench.faults.__main__ import write
from bench.faults.catalogue import CASES, Case
from bench.faults.clean import Clean, clean_loops
from bench.faults.dialects import DIALECTS
from bench.faults.loop import LAYERS, Loop, Step, asks, record
from bench.faults.score import found_in, score
from bench.faults.story import incident


def one_of_each() -> list[Case]:
    """One case of every fault, each fault in another API than the one before it."""
    rows: dict[int, list[Case]] = {}
    for case in CASES:
        rows.setdefault(id(case.fault), []).append(case)
    return [cases[place % len(cases)] for place, cases in enumerate(rows.values())]


SAMPLE = one_of_each()
PLAIN = [loop for loop in clean_loops() if loop.name.startswith("plain ")]
VARIED = [loop for place, loop in enumerate(clean_loops()) if place % 7 == 0 and loop not in PLAIN]


def wire(loop: Loop) -> list[tuple[object, ...]]:
    """Everything of a loop that a tape holds."""
    return [_wire(trip) for trip in record(loop).trips]


def _wire(trip: RoundTrip) -> tuple[object, ...]:
    answer = trip.response
    reported = answer and (answer.status, answer.headers, answer.body, answer.chunks)
    return trip.request, reported, trip.started_at, trip.failure, trip.closed_first


@pytest.mark.parametrize("clean", PLAIN, ids=lambda clean: clean.name)
def test_a_clean_loop_reads_as_its_story(clean: Clean) -> None:
    labels = [labelled.label for labelled in label_all(record(clean.loop()).trips)]

    assert {label["protocol"] for label in labels} == {DIALECTS[clean.dialect].protocol}
    assert {label["thread"] for label in labels} == {"t1"}
    assert [label["turn"] for label in labels] == [1, 2, 3, 4, 5, 6]
    effective = [api["effective"] for label in labels if isinstance(api := label["api"], dict)]
    assert effective == ["tool_calls"] * 5 + ["complete"]
    outcomes = [client["outcome"] for label in labels if isinstance(client := label["client"], dict)]
    assert outcomes == ["dispatched"] * 5 + ["ended"]
    assert len({label["streamed"] for label in labels}) == 1


@pytest.mark.parametrize("clean", PLAIN + VARIED, ids=lambda clean: clean.name)
def test_a_clean_loop_has_no_finding_above_info(clean: Clean) -> None:
    found, _ = found_in(clean.loop())

    assert not [str(one) for one in found if one.rank]


def changed(before: Step, after: Step) -> str | None:
    """The first layer, in wire order, of which a field differs."""
    for layer, names in LAYERS:
        if any(_plain(getattr(before, name)) != _plain(getattr(after, name)) for name in names):
            return layer
    return None


def _plain(value: object) -> object:
    """Two functions that one line of the catalogue made are the same edit."""
    if isinstance(value, tuple):
        return tuple(_plain(one) for one in value)
    if callable(value):
        cells = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
        reported = tuple(_plain(cell) for cell in cells if callable(cell) or isinstance(cell, str | int | float))
        return getattr(value, "__qualname__", ""), reported
    return value


def first_change(before: Loop, after: Loop) -> str | None:
    """The layer of the first difference between two loops, in the order in which it meets the wire."""
    settings = [f.name for f in fields(Loop) if f.name not in ("steps", "others", "dialect", "streamed")]
    if any(getattr(before, name) != getattr(after, name) for name in settings):
        return "client"
    for place, (old, new) in enumerate(zip(before.steps, after.steps, strict=False)):
        layer = changed(old, new)
        # A loop that ends has nothing to answer: what ends it is in the step itself.
        ended = place == len(after.steps) - 1 < len(before.steps) - 1
        if layer is not None and not (ended and layer == "client" and changed(old, _unanswered(old, new)) is None):
            return layer
    if len(before.steps) != len(after.steps) or len(before.others) != len(after.others):
        return "client"
    return None


def _unanswered(old: Step, new: Step) -> Step:
    from dataclasses import replace

    return replace(new, results=old.results, says=old.says)


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_a_fault_edits_one_layer(case: Case) -> None:
    clean = case.clean()
    faulty, where = case.faulty()

    assert wire(faulty) != wire(clean)
    assert first_change(clean, faulty) in ({case.fault.edits} if case.fault.edits else set(case.fault.layers))
    assert where and all(0 <= step < len(faulty.steps) for step in where)
    assert len(asks(faulty)) == len(faulty.steps)


@pytest.mark.parametrize("case", [c for c in SAMPLE if c.fault.base], ids=lambda case: case.name)
def test_what_a_fault_is_injected_into_is_clean_but_for_what_it_reacts_to(case: Case) -> None:
    found, _ = found_in(case.clean())

    assert not [str(one) for one in found if one.rank and one.id not in case.fault.given and not one.because_of]


def test_recording_twice_gives_the_same_bytes() -> None:
    assert wire(incident(DIALECTS["bedrock-converse"], streamed=True)) == wire(
        incident(DIALECTS["bedrock-converse"], streamed=True)
    )


def test_the_bench_holds_what_it_promises() -> None:
    classes = {case.fault.id for case in CASES if case.fault.tier in ("P", "S")}

    assert len(classes) >= 60
    assert {case.dialect for case in CASES} == set(DIALECTS)
    assert {case.fault.layers[0] for case in CASES} == {"model", "api", "client"}


def test_a_written_cassette_is_the_loop(tmp_path: Path) -> None:
    case = CASES[0]
    write(tmp_path, case.name, case.faulty()[0])
    [path] = tmp_path.iterdir()

    read = list(Cassette.load(path))

    assert [_body(trip) for trip in read] == [_body(trip) for trip in record(case.faulty()[0]).trips]


def _body(trip: RoundTrip) -> tuple[bytes, bytes]:
    return trip.request.body, trip.response.body if trip.response else b""


@pytest.mark.parametrize("case", SAMPLE[::5], ids=lambda case: case.name)
def test_requests_are_json_that_a_client_could_have_sent(case: Case) -> None:
    for trip in record(case.clean()).trips:
        assert json.loads(trip.request.body)


def test_the_bars_hold() -> None:
    """On one case of every fault; `make faults` holds all of them to the same bars."""
    assert not score(SAMPLE, ()).missed
