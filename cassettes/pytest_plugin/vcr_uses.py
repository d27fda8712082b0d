"""What the plugin chooses and notes for each `use_cassette` of `turntape.cassettes.vcr`.

Imported in every run of pytest, so it imports only pytest.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..replay.session import Session
    from ..vcr.session import VcrSession


class VcrUses:
    """The observer of `vcr/observer.py` for one run of pytest."""

    def __init__(
        self,
        mode: str | None,
        note: "Callable[[Path, VcrSession, int], None]",
        *,
        usual_mode: str | None = None,
        allowed: Sequence[str] = (),
    ) -> None:
        self._mode, self._usual_mode = mode, usual_mode
        self._allowed = allowed
        self._note = note
        self.session: Session | None = None
        """That of the marked test that runs now."""
        self.empty_addresses: list[str] = []
        """What `use_cassette` in the test that runs now has asked (`replay/empty_addresses.py`)."""

    @property
    def mode(self) -> str | None:
        """The mode on the command line; None without one."""
        return self._mode

    @property
    def usual_mode(self) -> str | None:
        """The mode of the ini file; None without one."""
        return self._usual_mode

    def close_network(self, undo: ExitStack, allowed: Iterable[str]) -> Callable[[str], object]:
        """Refuse connections of this process, and of those that it starts, to other machines. A marked test has closed
        its network already."""
        if self.session is not None:
            return len
        from .network import Network
        from .subprocesses import watch_processes

        hosts = (*self._allowed, *allowed)
        network = undo.enter_context(Network(hosts, of="use_cassette", to_allow="ignore_hosts=[{!r}]"))
        watch_processes(len, undo, closed=not network.allows("*"), allowed=hosts)
        return network.allow

    def used(self, path: Path, session: "VcrSession", recorded: int) -> None:
        """The context of the cassette at `path` was left."""
        self.empty_addresses += session.empty_addresses
        self._note(path, session, recorded)


USES: pytest.StashKey[VcrUses] = pytest.StashKey()
