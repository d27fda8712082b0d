"""What the plugin chooses and notes for each `use_cassette` of `turntape.cassettes.vcr`.

Imported in every run of pytest, so it imports only pytest.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..replay.session import Session
    from ..vcr.session import VcrSession


class VcrUses:
    """The observer of `vcr/observer.py` for one run of pytest."""

    def __init__(self, mode: str | None, note: "Callable[[Path, VcrSession, int], None]") -> None:
        self._mode = mode
        self._note = note
        self.session: Session | None = None
        """That of the marked test that runs now."""

    @property
    def mode(self) -> str | None:
        """The mode on the command line; None without one."""
        return self._mode

    def used(self, path: Path, session: "VcrSession", recorded: int) -> None:
        """The context of the cassette at `path` was left."""
        self._note(path, session, recorded)


USES: pytest.StashKey[VcrUses] = pytest.StashKey()
