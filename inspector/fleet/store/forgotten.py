"""What was deleted from a store permanently: single recordings, and everything before a day.

A tombstone outlives what it names. Shippers look for it before and after they write, so that a copy of the recording
in a spool or on a laptop does not bring it back.
"""

from dataclasses import field
from datetime import date, datetime
from typing import Self

from turntape.cassettes.frozen import frozen

from ..errors import StoreError
from .names import FORGOTTEN, forgotten_name
from .store import Store

_BEFORE = "before="


@frozen
class Forgotten:
    """The tombstones of a store at one moment."""

    recordings: frozenset[str] = field(default_factory=frozenset[str])
    before: str = ""
    """The first day that is kept; empty when nothing has expired."""

    @classmethod
    def read(cls, store: Store) -> Self:
        """The tombstones that are there now."""
        names = [one.name.rpartition("/")[2] for one in store.listing(FORGOTTEN)]
        days = [name.removeprefix(_BEFORE) for name in names if name.startswith(_BEFORE)]
        return cls(frozenset(name for name in names if not name.startswith(_BEFORE)), max(days, default=""))

    def has(self, recording: str, day: str) -> bool:
        """True when this recording of that day must not be in the store."""
        return recording in self.recordings or day < self.before


def forget_recording(store: Store, recording: str) -> None:
    """Write the tombstone of a recording."""
    store.put(forgotten_name(recording), b"")


def forget_before(store: Store, first: date) -> None:
    """Write the tombstone of everything before the day `first`; those of earlier days are removed."""
    name = f"{FORGOTTEN}/{_BEFORE}{first.isoformat()}"
    store.put(name, b"")
    older = [one.name for one in store.listing(FORGOTTEN) if f"/{_BEFORE}" in one.name and one.name < name]
    store.delete(older)


def time_of(store: Store) -> datetime:
    """The time by the store's own clock, which decides what is old: that of this machine may be wrong.

    It is the time of a tombstone that forgets nothing. A folder has the clock of its file system.
    """
    name = f"{FORGOTTEN}/{_BEFORE}{date.min.isoformat()}"
    store.put(name, b"")
    found = next((one.modified for one in store.listing(FORGOTTEN) if one.name == name), None)
    if found is None:
        raise StoreError(f"{store.address!r} does not show {name}, which was just written; check its policy")
    return found


def is_forgotten(store: Store, recording: str) -> bool:
    """True when there is a tombstone of this recording now."""
    return store.get(forgotten_name(recording)) is not None
