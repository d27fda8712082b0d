"""An answer that is held at a breakpoint, and the decision about it."""

from typing import Literal

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip

MARK = "breakpoint"
"""The field of a round trip that was held: `{"on": …, "did": …, "held_ms": …}`, with `from_api` when it was changed."""

type Action = Literal["passed", "edited", "refused"]


@frozen
class HeldAnswer:
    number: int
    """The number of the turn, from 1, in the order of the requests."""
    on: str
    """The condition with the value that met it: `tool=send_email`."""
    round_trip: RoundTrip
    """What would be recorded if the answer is passed."""


@frozen
class Decision:
    did: Action
    pieces: tuple[bytes, ...] = ()
    """The new body of an edited answer."""
    message: str = ""
    """What the client gets in place of a refused answer."""


PASSED = Decision("passed")
