"""The tests that pytest has collected, also those that it has deselected."""

from pathlib import Path

import pytest

from ..errors import TurntapeError
from .marker import Marker, cassette_of

COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""Those that have a cassette."""


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
