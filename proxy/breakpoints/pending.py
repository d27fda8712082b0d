"""An answer that is held, what is shown of it, and what becomes of it."""

from dataclasses import dataclass
from typing import Literal

from turntape.cassettes.tape.model import RoundTrip

MARK = "breakpoint"
"""The field of a round trip that was held: `{"on": …, "did": …, "held_ms": …}`, and `from_api` where it was changed."""

type Deed = Literal["passed", "edited", "refused"]


@dataclass(frozen=True, slots=True)
class Held:
    number: int
    """Of the turn, in the order in which the recording's turns were asked for."""
    on: str
    """The condition, and what met it."""
    round_trip: RoundTrip
    """As it would be recorded."""


@dataclass(frozen=True, slots=True)
class Decision:
    did: Deed
    pieces: tuple[bytes, ...] = ()
    """The new body, of an edit."""
    message: str = ""
    """What the client is told, of a refusal."""


PASSED = Decision("passed")
