from pathlib import Path

import pytest
from plugin_project import project, server

from turntape.proxy.capture.certificates import ensure_authority

__all__ = ["confdir", "project", "server", "tape"]


@pytest.fixture(scope="session")
def confdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a certificate authority, made once."""
    folder = tmp_path_factory.mktemp("authority")
    ensure_authority(folder)
    return folder


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "run.cassette.jsonl"
