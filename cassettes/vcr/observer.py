"""Who wants to know of each `use_cassette`: the pytest plugin, while it runs."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .session import VcrSession


class Observer(Protocol):
    """Chooses the mode, closes the network of a replay, and learns of each cassette when its context is left."""

    @property
    def mode(self) -> str | None:
        """The mode on the command line; None without one."""
        ...

    @property
    def usual_mode(self) -> str | None:
        """The mode where the code sets none; None for that of vcrpy."""
        ...

    def close_network(self, undo: ExitStack, allowed: Iterable[str]) -> Callable[[str], object]:
        """Refuse connections to other machines than these until `undo`. The function that is returned lets one more
        host pass."""
        ...

    def used(self, path: Path, session: "VcrSession", recorded: int) -> None:
        """The context of the cassette at `path` was left; `recorded` round trips were written."""
        ...


observers: list[Observer] = []
"""The last one decides."""
