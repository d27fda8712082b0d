"""The tests that pytest has collected, also those that it has deselected."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..errors import TurntapeError
from .marker import Marker, cassette_of
from .naming import file_of, is_cassette, top_of_folders

COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""Those that have a cassette."""
_LEFT: pytest.StashKey[list[tuple[Path, Path]]] = pytest.StashKey()
_SEARCHED = 3000
"""At most this many folders of a project are searched for cassettes."""


def cassettes_of(config: pytest.Config, file: Path) -> set[Path] | None:
    """The cassettes of all tests of a file; None when it is not known that all were collected."""
    items = config.stash.get(COLLECTED, None)
    chosen = {arg.partition("::")[0] for arg in config.args if "::" in arg}
    if items is None or any((config.invocation_params.dir / name).resolve() == file for name in chosen):
        return None
    found: set[Path] = set()
    for item in items:
        if item.path == file:
            try:
                found.add(cassette_of(item, Marker.of(item)))
            except TurntapeError:  # the test itself says it
                return None
    return found


def folders_left(config: pytest.Config) -> list[tuple[Path, Path]]:
    """The folders of cassettes in the project whose test file is not there, with this file: it was removed or moved."""
    if _LEFT not in config.stash:
        config.stash[_LEFT] = [
            (folder, file)
            for folder in _folders_of_cassettes(config)
            if (file := file_of(folder, config)) is not None and not file.exists()
        ]
    return config.stash[_LEFT]


def _folders_of_cassettes(config: pytest.Config) -> Iterator[Path]:
    """The folders that hold cassettes, without those of installed packages and in hidden folders."""
    for number, (at, folders, files) in enumerate(os.walk(top_of_folders(config))):
        if number == _SEARCHED:
            return
        if "pyvenv.cfg" in files:
            folders.clear()
        if any(map(is_cassette, files)):
            yield Path(at)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
