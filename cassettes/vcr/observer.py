"""Who wants to know of each `use_cassette`: the pytest plugin, while it runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .session import VcrSession


class Observer(Protocol):
    """Chooses the mode, and learns of each cassette when its context is left."""

    @property
    def mode(self) -> str | None:
        """The mode on the command line; None without one."""
        ...

    def used(self, path: Path, session: "VcrSession", recorded: int) -> None:
        """The context of the cassette at `path` was left; `recorded` round trips were written."""
        ...


observers: list[Observer] = []
"""The last one decides."""
