"""Faults that the scripted LLM makes on request.

The server gets them by turn (`faults={1: Fault("cut")}`). A client can ask for one with the header
`x-scripted-fault: KIND` or the model `scripted:KIND`, where `KIND=NUMBER` works as well.
"""

from typing import Literal, cast, get_args

from turntape.cassettes.frozen import frozen
from turntape.cassettes.whole_number import whole_number

type Kind = Literal[
    "reset",
    "cut",
    "stall",
    "slow",
    "status",
    "malformed_sse",
    "error_event",
    "bad_arguments",
    "truncated_arguments",
    "wrong_finish",
    "empty",
    "invalid_json",
    "gzip",
    "br",
    "zstd",
]

KINDS: tuple[str, ...] = get_args(Kind.__value__)


@frozen
class Fault:
    """One fault in one answer.

    - `reset` closes the connection before any answer, `cut` after `number` events.
    - `stall` sends nothing more after `number` events; `slow` waits `number` ms before the head.
    - `status` answers with HTTP status `number`.
    - `malformed_sse`, `error_event`, `empty` and `invalid_json` damage the answer.
    - `bad_arguments` are not valid JSON; `truncated_arguments` end early, with the finish for length.
    - `wrong_finish` is the finish of a plain answer although there are calls.
    - `gzip`, `br` and `zstd` encode the answer.
    """

    kind: Kind
    number: int = 2


def parse(text: str | None) -> Fault | None:
    """A fault from `KIND` or `KIND=NUMBER`; None for anything else."""
    name, _, number = (text or "").partition("=")
    if name not in KINDS:
        return None
    kind = cast(Kind, name)
    given = whole_number(number)
    return Fault(kind) if given is None else Fault(kind, given)
