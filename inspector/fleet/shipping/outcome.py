"""What happened to each file that was to be shipped."""

from pathlib import Path
from typing import Literal

from turntape.cassettes.frozen import frozen

type State = Literal[
    "new", "grown", "unchanged", "older", "empty", "recording", "edited", "forgotten", "unreadable", "failed"
]
"""`new`, `grown`: shipped, for the first time or again. `unchanged`, `older`: the store has all of it. `empty`: nothing
is recorded in it. `recording`: it is being written. `edited`: the store has another recording of that name.
`forgotten`: it was deleted there and must not come back. `unreadable`: it is not a whole recording. `failed`: it was
not shipped, and a later attempt may succeed."""

SETTLED: tuple[State, ...] = ("new", "grown", "unchanged", "older", "empty", "edited", "forgotten", "unreadable")
"""The states after which another attempt would change nothing."""


@frozen
class ShippedFile:
    """What happened to one file."""

    path: Path
    state: State
    recording: str | None = None
    content: str | None = None
    """SHA-256 of its plain bytes, which names the object of the cassette."""
    rows: int = 0
    bytes: int = 0
    """What was uploaded, or would be."""
    problem: str | None = None
    """Why it was not shipped, in one sentence."""


@frozen
class Shipped:
    """What a call of `ship` did, file by file."""

    files: tuple[ShippedFile, ...] = ()
    from_spool: tuple[ShippedFile, ...] = ()
    """Files that waited in the spool."""
    spooled: int = 0
    """Files that were not shipped and now wait in the spool."""
    dropped: int = 0
    """Files that were removed from the spool because it was full."""

    def count(self, *states: State) -> int:
        """How many files ended in one of these states."""
        return sum(one.state in states for one in (*self.files, *self.from_spool))
