"""What the scripted LLM does wrong on request.

By turn, given to the server (`faults={1: Fault("cut")}`), or by anyone who asks: the header `x-scripted-fault`,
or a model named `scripted:KIND`, with `KIND` or `KIND=NUMBER`.
"""

from dataclasses import dataclass
from typing import Literal, cast, get_args

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


@dataclass(frozen=True, slots=True)
class Fault:
    """`reset` closes before any answer; `cut` closes after `number` events; `stall` never ends after `number`;

    `slow` waits `number` ms before the head; `status` answers with HTTP `number`; `malformed_sse`, `error_event`,
    `bad_arguments` (no JSON), `truncated_arguments` (with the length label), `wrong_finish` (a plain end beside
    calls), `empty` and `invalid_json` change what is said; `gzip`, `br`, `zstd` encode it.
    """

    kind: Kind
    number: int = 2


def parse(text: str | None) -> Fault | None:
    """A fault from `KIND` or `KIND=NUMBER`; None for anything else."""
    name, _, number = (text or "").partition("=")
    if name not in KINDS:
        return None
    kind = cast(Kind, name)
    return Fault(kind, int(number)) if number.isdigit() else Fault(kind)
