"""Which mistakes are made, and which of the listed ones cannot be made any longer."""

from pathlib import Path

import pytest

from mutants import __main__ as program
from mutants.__main__ import Job, jobs, stale
from mutants.modules import Module, modules

DELTA = modules(["delta"])


def lines_of(seed: int) -> list[tuple[int, str]]:
    return [(one.line, one.after) for job in jobs(DELTA, 20, 7, seed) for one in job.mistakes]


def test_a_seed_gives_the_same_sample_each_time_and_another_seed_another() -> None:
    assert lines_of(1) == lines_of(1) != lines_of(2)
    assert len(lines_of(1)) == 20


def test_a_sample_of_0_is_every_mistake() -> None:
    assert sum(len(job.mistakes) for job in jobs(DELTA, 0, 7)) > 50


def test_a_listed_survivor_that_cannot_be_made_any_longer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tmp_path / "survivors.toml"
    row = '[["{}"]]\nbefore = "{}"\nafter = "{}"\nreason = "speed only"\n'
    listed.write_text(
        row.format("a.py", "x = 1", "x = 2")
        + row.format("a.py", "x = 1", "x = 3")
        + row.format("a.py", "y = 1", "y = 2")
        + row.format("b.py", "y = 1", "y = 2")
    )
    monkeypatch.setattr(program, "SURVIVORS", listed)

    found = stale([Job(Module("g", "a.py", ()), "x = 1\n", [])])

    assert found == [("a.py", "x = 1", "x = 3"), ("a.py", "y = 1", "y = 2")]
