"""What the workers of pytest-xdist share, as far as one process shows it."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from turntape.cassettes.pytest_plugin.workers import Recorded, folder_of_workers, leave_notice, notice_of, share


class Config(SimpleNamespace):
    """As much of a configuration as these functions use."""

    def __init__(self) -> None:
        super().__init__(stash=pytest.Stash(), ends=[])

    def add_cleanup(self, end: Callable[[], None]) -> None:
        self.ends.append(end)


def started(controller: Config, name: str) -> tuple[Any, Any]:
    """A worker that has started: the node that the controller has of it, and its own configuration."""
    node = SimpleNamespace(config=controller, workerinput={"workerid": name})
    share(node)
    return node, SimpleNamespace(workerinput=node.workerinput)


def test_all_workers_have_one_folder_until_the_session_ends() -> None:
    controller = Config()
    (_, one), (_, two) = started(controller, "gw0"), started(controller, "gw1")
    folder = folder_of_workers(one)

    assert folder is not None and folder == folder_of_workers(two) and folder.is_dir()
    assert len(controller.ends) == 1
    controller.ends[0]()
    assert not folder.exists()
    assert folder_of_workers(controller) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("refused", [True, False])
def test_a_worker_leaves_its_notice_for_the_controller_alone(refused: bool) -> None:
    controller = Config()
    (first, one), (second, _) = started(controller, "gw0"), started(controller, "gw1")

    assert notice_of(first) is None
    assert leave_notice(one, "it costs 3 €", refused=refused)
    assert (notice_of(first), notice_of(second)) == (("it costs 3 €", refused), None)
    controller.ends[0]()


def test_without_workers_nothing_is_left() -> None:
    assert not leave_notice(Config(), "said", refused=True)  # type: ignore[arg-type]
    assert notice_of(SimpleNamespace(config=Config(), workerinput={"workerid": "gw0"})) is None


def test_what_one_worker_has_recorded_all_of_them_know(tmp_path: Path) -> None:
    controller = Config()
    (_, one), (_, two) = started(controller, "gw0"), started(controller, "gw1")
    mine, theirs, alone = Recorded(one), Recorded(two), Recorded(Config())  # type: ignore[arg-type]

    with mine.alone(tmp_path / "a"), theirs.alone(tmp_path / "b"), alone.alone(tmp_path / "a"):
        mine.add(tmp_path / "a")
    alone.add(tmp_path / "c")

    assert tmp_path / "a" in mine and tmp_path / "a" in theirs and tmp_path / "a" not in alone
    assert tmp_path / "b" not in mine and tmp_path / "c" in alone and tmp_path / "c" not in theirs
    controller.ends[0]()
