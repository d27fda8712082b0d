"""Hooks with which other plugins extend this one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from ..tape.model import RoundTrip
    from ..tape.provenance import ForkSource


@pytest.hookspec(firstresult=True)
def pytest_turntape_actions(round_trips: "Sequence[RoundTrip]") -> list[str] | None:
    """What happened in each round trip of one cassette, such as `→ search`; None when the plugin cannot say."""


@pytest.hookspec(firstresult=True)
def pytest_turntape_deeds(  # plain-words: quoted
    round_trips: "Sequence[RoundTrip]",
) -> list[str] | None:
    """The old name of `pytest_turntape_actions`. A plugin that implements it is called first."""


@pytest.hookspec(firstresult=True)
def pytest_turntape_labels(round_trips: "Sequence[RoundTrip]") -> list[tuple[int, dict[str, object]]] | None:
    """The labels of what was just recorded, as `(number, label)`, to be stored in the cassette."""


@pytest.hookspec(firstresult=True)
def pytest_turntape_fork(path: "str", at: int, edits: "Sequence[str]") -> "ForkSource | None":
    """The turns of the cassette at `path` to replay for a fork at turn `at`, with the edits in the last answer."""


@pytest.hookspec
def pytest_turntape_finished(nodeid: str, path: "Path", outcome: str | None, recorded: int) -> None:
    """A test that played or recorded the cassette at `path` has ended; `outcome` is None when it was interrupted.
    `recorded` is how many round trips it has written."""
