"""What the fixture `vcr` gives, for tests that were written for pytest-recording or pytest-vcr.

It is there when none of these plugins is. It gives what vcrpy's cassette gives a test to look at: `requests`,
`responses`, `play_count`, `all_played`, `record_mode` and a few more. Nothing can be changed through it.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ..replay.session import Session
from ..tape.model import Request, Response, RoundTrip

_MODES = {"once": "once", "new": "new_episodes", "all": "all"}


@dataclass(frozen=True, slots=True)
class VcrRequest:
    """A request with the names of vcrpy's."""

    method: str
    uri: str
    body: bytes | None
    headers: dict[str, str]

    @classmethod
    def of(cls, request: Request) -> "VcrRequest":
        return cls(request.method, request.url, request.body or None, dict(request.headers))

    @property
    def url(self) -> str:
        return self.uri

    @property
    def scheme(self) -> str:
        return urlsplit(self.uri).scheme

    @property
    def host(self) -> str | None:
        return urlsplit(self.uri).hostname

    @property
    def port(self) -> int | None:
        return urlsplit(self.uri).port or {"https": 443, "http": 80}.get(self.scheme)

    @property
    def path(self) -> str:
        return urlsplit(self.uri).path

    @property
    def query(self) -> list[tuple[str, str]]:
        return sorted(parse_qsl(urlsplit(self.uri).query))


def _response(response: Response | None) -> dict[str, Any]:
    if response is None:
        return {}
    headers: dict[str, list[str]] = {}
    for name, value in response.headers:
        headers.setdefault(name, []).append(value)
    status = {"code": response.status, "message": response.reason}
    return {"status": status, "headers": headers, "body": {"string": response.body}}


class VcrCassette:
    """The cassette of a marked test, with the names of vcrpy's."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def _trips(self) -> list[RoundTrip]:
        """What the cassette holds; while it is recorded, what was recorded so far."""
        return list(self._session.player.cassette) or self._session.passed

    @property
    def requests(self) -> list[VcrRequest]:
        """The recorded requests."""
        return [VcrRequest.of(trip.request) for trip in self._trips]

    @property
    def responses(self) -> list[dict[str, Any]]:
        """The recorded answers."""
        return [_response(trip.response) for trip in self._trips]

    @property
    def data(self) -> list[tuple[VcrRequest, dict[str, Any]]]:
        """The recorded requests with their answers."""
        return list(zip(self.requests, self.responses, strict=True))

    @property
    def record_mode(self) -> str:
        """The mode, by vcrpy's name for it; equal to vcrpy's own value."""
        return _MODES.get(self._session.mode, "none")

    @property
    def write_protected(self) -> bool:
        """True when nothing is recorded."""
        return self._session.plan.writes == "nothing"

    @property
    def dirty(self) -> bool:
        """True when something was recorded."""
        return bool(self._session.live)

    @property
    def rewound(self) -> bool:
        """True when answers are played."""
        return self._session.plan.plays

    @property
    def play_counts(self) -> Counter[int]:
        """How often each recorded answer was played, by its place."""
        places = {turn: place for place, turn in enumerate(self._session.player.turns)}
        return Counter(places[match.turn] for match in self._session.player.matches)

    @property
    def play_count(self) -> int:
        """How many answers were played."""
        return len(self._session.player.matches)

    @property
    def all_played(self) -> bool:
        """True when every recorded answer was played."""
        return not self._session.unplayed

    def __len__(self) -> int:
        return len(self._trips)
