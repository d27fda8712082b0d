"""The errors of this package.

TurntapeError
├── CassetteError        a file cannot be read or written
│   └── FormatError      it is not a cassette, or its major version is newer
├── NetworkBlocked       a test that replays connects to the network
└── ReplayMiss           no recorded round trip answers this request
"""


class TurntapeError(Exception):
    """The base class. Its message is one sentence: what happened, to which value, and what to do next."""


class CassetteError(TurntapeError):
    """A cassette cannot be read or written."""


class FormatError(CassetteError):
    """The file is not a cassette, or its major version is newer than this turntape reads."""


class ReplayMiss(TurntapeError):
    """No recorded round trip answers the request."""


class NetworkBlocked(TurntapeError):
    """A test with a blocked network connects to a host other than this machine."""
