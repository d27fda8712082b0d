"""Fixtures for what an agent did: `turntape_run` for assertions, `turntape_approve` for the trajectory as a file.

pytest imports this module in every run if turntape is installed, so it imports only pytest.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from turntape.cassettes.replay.session import Session
    from turntape.cassettes.tape.model import RoundTrip
    from turntape.cassettes.tape.provenance import ForkSource

    from .agent_run import AgentRun


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("turntape")
    group.addoption(
        "--turntape-approve",
        action="store_true",
        help="store the trajectories of this run as the approved ones",
    )
    group.addoption(
        "--turntape-ship",
        metavar="STORE",
        default=None,
        help="ship the cassettes of this run to s3://BUCKET/PREFIX, gs://…, az://… or a folder, with test and verdict",
    )

    parser.addini(
        "turntape_trajectories",
        "true: recording a cassette writes its trajectory beside it, for pull requests",
        type="bool",
        default=False,
    )


def pytest_configure(config: pytest.Config) -> None:
    to = config.getoption("turntape_ship")
    if to:
        from turntape.inspector.fleet.errors import NotAStore
        from turntape.inspector.fleet.store.place import checked

        from .suite_shipping import SuiteShipping

        try:
            checked(to)
        except NotAStore as exc:
            raise pytest.UsageError(f"--turntape-ship: {exc}") from None
        config.pluginmanager.register(SuiteShipping(config, to), "turntape_ship")

    if config.getini("turntape_trajectories"):
        config.pluginmanager.register(_Trajectories(), "turntape_trajectories")


class _Trajectories:
    """Writes what an agent did into a file beside each cassette that a test has recorded."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_turntape_finished(self, path: "Path", recorded: int) -> None:
        if recorded:
            from .trajectory_snapshot import write_trajectory

            write_trajectory(path)


@pytest.hookimpl(optionalhook=True)
def pytest_turntape_actions(round_trips: "Sequence[RoundTrip]") -> list[str]:
    from .agent_run import actions

    return actions(round_trips)


@pytest.hookimpl(optionalhook=True)
def pytest_turntape_labels(round_trips: "Sequence[RoundTrip]") -> list[tuple[int, dict[str, object]]]:
    from ..run.labels import label_all

    return [(one.round_trip.index, one.label) for one in label_all(round_trips)]


@pytest.hookimpl(optionalhook=True)
def pytest_turntape_fork(path: str, at: int, edits: Sequence[str]) -> "ForkSource":
    from functools import partial

    from turntape.cassettes.tape.reader import Cassette

    from ..run.fork_plan import plan_fork
    from ..wire.rewrite.answer_edit import edited, parse_edit

    plan = plan_fork(Cassette.load(path), at)
    for edit in map(parse_edit, edits):
        plan = plan.changed(partial(edited, edit=edit))
    return plan.tape


@pytest.fixture
def turntape_run(turntape_cassette: "Session") -> "AgentRun":
    """The agent's run so far in this test: `tool_calls`, `turns`, `text`, `cost`, `findings(…)`, `trajectory()`."""
    from .agent_run import AgentRun

    return AgentRun(lambda: turntape_cassette.passed)


@pytest.fixture
def turntape_approve(
    turntape_cassette: "Session", turntape_run: "AgentRun", request: pytest.FixtureRequest
) -> Callable[[], None]:
    """`turntape_approve()` fails when the trajectory is not the approved one, `<test>.trajectory.txt`.

    The file is written when the test records, and with `--turntape-approve`.
    """
    from .trajectory_snapshot import approve, trajectory_path

    path = trajectory_path(turntape_cassette.path)
    written = turntape_cassette.plan.writes != "nothing" or request.config.getoption("turntape_approve")

    def check() -> None:
        __tracebackhide__ = True
        said = approve(path, turntape_run.trajectory(), write=bool(written))
        if said is not None:
            pytest.fail(said, pytrace=False)

    return check
