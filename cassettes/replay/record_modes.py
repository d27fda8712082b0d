"""Record modes: what is answered from the cassette, what is asked of the live API, and what is written.

Only the decision is here; nothing is read or written. A mode that could cost money or change a file is never in
force in CI by what stands in the code: there it takes the command line or the environment to say so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ..errors import TurntapeError

type Mode = Literal["none", "once", "new", "all", "verify"]
"""What to do with requests.

`none`: answer from the cassette, never call. `once`: record where there is no cassette yet, else as `none`. `new`:
answer what is recorded, call and add what is not. `all`: call everything and record anew. `verify`: answer from the
cassette, and beside that call, to compare.
"""

MODES: tuple[Mode, ...] = get_args(Mode.__value__)

VARIABLE = "TURNTAPE_MODE"
"""The environment's word for the mode; it counts in CI too."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a mode comes to, once it is known whether there is a cassette."""

    plays: bool
    """True when requests are answered from the cassette."""
    calls: Literal["never", "missing", "always"]
    """Which requests go to the live API."""
    writes: Literal["nothing", "appended", "anew"]

    @property
    def compares(self) -> bool:
        """True when the live answer is only compared with the recorded one, which is what the agent gets."""
        return self.plays and self.calls == "always"


_REPLAY = Plan(plays=True, calls="never", writes="nothing")
_RECORD = Plan(plays=False, calls="always", writes="anew")

_PLANS: dict[Mode, tuple[Plan, Plan]] = {
    "none": (_REPLAY, _REPLAY),
    "once": (_RECORD, _REPLAY),
    "new": (_RECORD, Plan(plays=True, calls="missing", writes="appended")),
    "all": (_RECORD, _RECORD),
    "verify": (_REPLAY, Plan(plays=True, calls="always", writes="nothing")),
}
"""For each mode: without a cassette, and with one."""


def plan(mode: Mode, exists: bool) -> Plan:
    """What `mode` comes to when the cassette does, or does not, exist."""
    return _PLANS[mode][exists]


def parse_mode(word: str) -> Mode:
    """A mode by its name. Raises TurntapeError for another word."""
    if word not in MODES:
        raise TurntapeError(f"the record mode {word!r} is unknown; give one of {', '.join(MODES)}")
    return word


def in_ci(environ: Mapping[str, str]) -> bool:
    """True where CI says that it is CI: `CI` is set and neither empty, 0 nor false."""
    return environ.get("CI", "").strip().lower() not in ("", "0", "false", "no")


def mode_in_force(asked: str | None, environ: Mapping[str, str], told: str | None = None) -> Mode:
    """The mode that holds.

    `told` is the command line's word and comes first, then the environment's, then CI's (`none`), then `asked`, what
    the code says. Raises TurntapeError for a word that is no mode.
    """
    asked = None if asked is None else parse_mode(asked)
    if word := told or environ.get(VARIABLE):
        return parse_mode(word)
    if in_ci(environ):
        return "none"
    return asked or "none"
