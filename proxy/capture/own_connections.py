"""The connections that we opened: what comes from one of them has come in a circle."""

type Place = tuple[str, int]
"""An address and a port."""


class OwnConnections:
    """The connections that we opened, each by its local end and the port at its other end.

    The local end alone is not enough: a client's connection to us may have the same one.
    """

    def __init__(self) -> None:
        self._open: set[tuple[Place, int]] = set()

    def add(self, local: Place, remote: int) -> None:
        self._open.add((local, remote))

    def discard(self, local: Place, remote: int) -> None:
        self._open.discard((local, remote))

    def has(self, local: Place, remote: int) -> bool:
        return (local, remote) in self._open
