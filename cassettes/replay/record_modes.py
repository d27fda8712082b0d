"""Record modes: which requests are answered from the cassette, which go to the live API, and what is written.

This module only decides; it does not read or write files. In CI the mode in the code is ignored, because it could cost
money or change a file. There, only the command line or the environment can choose a mode other than `none`.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from ..errors import TurntapeError
from ..frozen import frozen

type Mode = Literal["none", "once", "new", "all", "verify", "restamp"]
"""What to do with requests.

`none`: answer from the cassette, never call the API. `once`: record if the cassette does not exist, otherwise like
`none`. `new`: answer recorded requests from the cassette; send others to the API and add them. `all`: send everything
to the API and replace the cassette. `verify`: answer from the cassette, and also call the API to compare. `restamp`:
answer from the cassette by turn, and write the requests of this run into it; never call the API.
"""

MODES: tuple[Mode, ...] = get_args(Mode.__value__)

VARIABLE = "TURNTAPE_MODE"
"""The environment variable with the mode; it is also used in CI."""


@frozen
class Plan:
    """What a mode does, once it is known whether there is a cassette."""

    plays: bool
    """True when requests are answered from the cassette."""
    calls: Literal["never", "missing", "always"]
    """Which requests go to the live API."""
    writes: Literal["nothing", "appended", "replaced"]
    restamps: bool = False
    """True when recorded requests are replaced and recorded answers stay."""

    @property
    def compares(self) -> bool:
        """True when the agent gets the recorded answer, and the live answer is only compared with it."""
        return self.plays and self.calls == "always"


_REPLAY = Plan(plays=True, calls="never", writes="nothing")
_RECORD = Plan(plays=False, calls="always", writes="replaced")

_PLANS: dict[Mode, tuple[Plan, Plan]] = {
    "none": (_REPLAY, _REPLAY),
    "once": (_RECORD, _REPLAY),
    "new": (_RECORD, Plan(plays=True, calls="missing", writes="appended")),
    "all": (_RECORD, _RECORD),
    "verify": (_REPLAY, Plan(plays=True, calls="always", writes="nothing")),
    "restamp": (_REPLAY, Plan(plays=True, calls="never", writes="nothing", restamps=True)),
}
"""For each mode: without a cassette, and with one."""


def plan(mode: Mode, exists: bool) -> Plan:
    """What `mode` does, with or without an existing cassette."""
    return _PLANS[mode][exists]


def parse_mode(word: str) -> Mode:
    """A mode by its name. Raises TurntapeError for an unknown name."""
    if word not in MODES:
        raise TurntapeError(f"the record mode {word!r} is unknown; give one of {', '.join(MODES)}")
    return word


def in_ci(environ: Mapping[str, str]) -> bool:
    """True in CI: the variable `CI` is set and is not empty, `0`, `false` or `no`."""
    return environ.get("CI", "").strip().lower() not in ("", "0", "false", "no")


def effective_mode(asked: str | None, environ: Mapping[str, str], override: str | None = None) -> Mode:
    """The mode to use.

    `override`, from the command line, takes precedence; then `TURNTAPE_MODE`; then `none` in CI; then `asked`, which
    is what the code says; then `none`. Raises TurntapeError for an unknown mode.
    """
    asked = None if asked is None else parse_mode(asked)
    if word := override or environ.get(VARIABLE):
        return parse_mode(word)
    if in_ci(environ):
        return "none"
    return asked or "none"
