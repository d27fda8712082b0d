"""A project that uses the pytest plugin, and a cassette's file in both forms."""

from pathlib import Path

import pytest
from plugin_project import project, server

__all__ = ["project", "server"]


@pytest.fixture(params=["jsonl", "jsonl.zst"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"run.cassette.{request.param}"


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    return tmp_path / "run.cassette.jsonl.zst"
