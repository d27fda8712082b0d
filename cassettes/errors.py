"""The errors of this package.

TurntapeError
├── CassetteError        a file cannot be read or written
│   └── FormatError      it is no cassette, or one of a newer major version
├── NetworkBlocked       a test that replays reaches for the network
└── ReplayMiss           no recorded round trip answers this request
"""


class TurntapeError(Exception):
    """The base: one sentence that says what happened, to which value, and what to do next."""


class CassetteError(TurntapeError):
    """A cassette cannot be read or written."""


class FormatError(CassetteError):
    """The file is no cassette, or its major version is newer than this turntape."""


class ReplayMiss(TurntapeError):
    """No recorded round trip answers the request."""


class NetworkBlocked(TurntapeError):
    """A test whose network is blocked reaches for a host that is not this machine."""
