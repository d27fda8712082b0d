"""What the connections of other libraries ask: where a request goes, and what answers it."""

from collections.abc import Callable
from typing import Literal
from urllib.parse import urlsplit

from ..frozen import frozen
from ..recording.pending import PendingTrip, PendingTrips
from ..replay.pace import Pace
from ..replay.player import Miss, Played
from ..replay.session import Session
from ..tape.model import Request

type Way = Literal["session", "network", "offline"]
"""What happens to a request: the session answers it, it is sent as usual, or it is refused as if offline."""
type Choice = Callable[[str, int | None, str], Way]
"""By host, port and path."""


@frozen
class Target:
    """Where a connection sends a request."""

    scheme: str
    host: str
    port: int | None
    """None for the port of the scheme."""
    path: str
    """With the query, as it was sent."""

    @classmethod
    def of(cls, scheme: str, host: str, port: int | None, target: str) -> "Target":
        """The target of a request line; a proxy gets the whole URL there."""
        if not target.startswith("/") and "://" in target.partition("?")[0]:
            parts = urlsplit(target)
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            return cls(parts.scheme, parts.hostname or host, _named(parts.scheme, parts.port), path)
        return cls(scheme, host.strip("[]"), _named(scheme, port), target or "/")

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{f':{self.port}' if self.port else ''}{self.path}"


def _named(scheme: str, port: int | None) -> int | None:
    return None if port == {"http": 80, "https": 443}.get(scheme) else port


@frozen
class Wires:
    """The session of a test, for connections of any library."""

    session: Session
    pace: Pace
    choice: Choice
    seen: Callable[[bytes], object]
    """Gets the body of each request that the session answers, before it does."""

    def way(self, target: Target) -> Way:
        """Where a request goes."""
        return self.choice(target.host, target.port, target.path.partition("?")[0])

    def ask(self, request: Request) -> Played | Miss | None:
        """The answer of the session; None when the live API must be called."""
        self.seen(request.body)
        return self.session.ask(request.method, request.url, request.headers, request.body)

    def compared(self, found: Played | Miss) -> bool:
        """True when the live API is called too, only to compare its answer."""
        return self.session.plan.compares and isinstance(found, Played)

    def begin(self, request: Request, host: str, found: Played | Miss | None = None) -> PendingTrip:
        """A running round trip for a live call: it is recorded, or only compared with `found`."""
        if isinstance(found, Played):
            return PendingTrips(lambda live: self.session.compare(found.trip, live)).begin(request, host)
        return self.session.exchanges.begin(request, host)
