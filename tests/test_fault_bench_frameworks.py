"""The part of the fault bench with real frameworks: what it runs, how it judges, and the page that it writes."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent))  # bench is not installed

from bench.faults import page
from bench.faults.dialects import DIALECTS
from bench.faults.frameworks.catalogue import FRAMEWORKS, SERVED
from bench.faults.frameworks.run import judge
from bench.faults.loop import record
from bench.faults.recorded.catalogue import FAULTS
from bench.faults.recorded.known import PENDING
from bench.faults.story import incident
from turntape.inspector.findings.catalogue import catalogue


def test_ten_frameworks_of_five_protocols_take_faults_of_every_layer() -> None:
    assert len(FRAMEWORKS) >= 10
    assert len({framework.variant.protocol for framework in FRAMEWORKS}) == 5
    assert {framework.variant.streamed for framework in FRAMEWORKS} == {True, False}
    for framework in FRAMEWORKS:
        assert {served.layers[0] for served in SERVED if served.fits(framework)} == {"model", "api", "client"}


def test_a_fault_is_served_only_where_the_api_has_it() -> None:
    gemini = next(framework for framework in FRAMEWORKS if framework.variant.protocol == "gemini-generate")
    names = {served.name for served in SERVED if served.fits(gemini)}

    assert "a stream that ends early" in names
    assert not names & {"arguments are broken JSON", "a body that is not JSON"}


def test_every_finding_that_a_fault_names_exists() -> None:
    known = {rule.id for rule in catalogue().rules}
    named = {identity for fault in FAULTS for identity in fault.finds | fault.also | fault.given}
    named |= {identity for served in SERVED for identity in served.finds}

    assert named - known <= PENDING


def test_the_most_severe_root_that_the_healthy_run_does_not_have_is_blamed() -> None:
    framework = FRAMEWORKS[0]
    served = next(served for served in SERVED if served.name == "an empty last answer")
    loop = incident(DIALECTS["openai-chat"], streamed=False)
    silent = judge(framework, served, record(loop).trips, ())
    loop.steps[-1].blocks = ()
    trips = record(loop).trips

    outcome = judge(framework, served, trips, ())

    assert (silent.found, silent.blamed, silent.word) == (False, None, "missed, nothing (none)")
    assert (outcome.found, outcome.root, outcome.word) == (True, "model-empty-response", "ok")
    wrong = judge(framework, replace(served, layers=("client",)), trips, ())
    assert wrong.found and not wrong.right and wrong.word == f"blames {outcome.blamed}: model-empty-response"


def test_figures_are_put_between_the_marks_of_their_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "faults.md"
    path.write_text("# A\n<!-- recorded: generated -->\nold\n<!-- recorded: end -->\nrest\n")
    monkeypatch.setattr(page, "PAGE", path)

    page.put("recorded", page.table(["fault", "cases"], [["a", 1]]))

    figures = "| fault | cases |\n| --- | ---: |\n| a | 1 |"
    assert path.read_text() == f"# A\n<!-- recorded: generated -->\n\n{figures}\n\n<!-- recorded: end -->\nrest\n"
    with pytest.raises(LookupError):
        page.put("frameworks", [])
