"""Where requests go to a URL that the stream of an upstream has named."""

from turntape.cassettes.routes.upstreams import Location

_MOST = 1000
"""How many URLs are remembered; a client uses one as long as its stream is open."""


class NamedPlaces:
    """Places by the URL as the client sees it."""

    def __init__(self) -> None:
        self._places: dict[str, Location] = {}

    def add(self, url: str, place: Location) -> None:
        """A stream has named this URL."""
        if len(self._places) >= _MOST:
            del self._places[next(iter(self._places))]
        self._places[url] = place

    def get(self, url: str) -> Location | None:
        """Where its requests go; None for a URL that no stream has named."""
        return self._places.get(url)
