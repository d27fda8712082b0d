"""The session of one `use_cassette`: what is answered, what passes, and what is recorded, as vcrpy decides it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..matching.fingerprints import Fingerprint
from ..matching.grades import Matching
from ..matching.request_index import RequestIndex
from ..matching.request_key import path_key, plain
from ..replay.player import Miss, Played, Player, Taken
from ..replay.session import Session
from ..tape import model
from ..tape.model import Headers, RoundTrip, split_url
from .matchers import Equal
from .request import Request
from .settings import Settings


class VcrPlayer(Player):
    """Gives each request the first recording that was not yet played and for which all matchers hold."""

    def __init__(self, source: Any, *, settings: Settings, **options: Any) -> None:
        super().__init__(source, **options)
        self._settings = settings
        self._requests: dict[int, Request] = {}
        """The recorded requests by place, without those that the suite drops."""
        for place, trip in enumerate(self._trips):
            stored = settings.stored(trip)
            if stored is None:
                self._taken[place] = 1
                continue
            self._trips[place], self._requests[place] = stored, Request.of(stored.request)

    @property
    def recorded(self) -> list[RoundTrip]:
        """What the suite sees of the recording."""
        return [self._trips[place] for place in self._requests]

    def rewind(self) -> None:
        """Let every recording be played once more."""
        with self._lock:
            for place in self._requests:
                self._taken[place] = 0
            self._asked.clear()

    def play(self, method: str, url: str, headers: Headers, body: bytes) -> Played:
        """The recording that answers this request. Raises Miss."""
        body = plain(body, headers)
        clean = self._redactor.round_trip(RoundTrip(model.Request(method, url, headers, body), None, 0.0)).request
        asked, index = Request.of(clean), self._index_at_hand()
        given = index.given(method.upper(), path_key(clean.url), headers, body)
        equal: list[int] = []
        taken: Taken | None = None
        for place, recorded in self._requests.items():
            if not self._equal(index, given, place)(asked, recorded):
                continue
            equal.append(place)
            with self._lock:
                taken = self._take(place) if not self._taken[place] else None
            if taken is not None:
                break
        if taken is None and equal and self.matching.repeats:
            with self._lock:
                taken = self._take(equal[0])
        if taken is not None:
            return self._played_for(index, given, taken)
        miss = self._repeated(given, equal) if equal else self._miss(index, given)
        self._note_miss(miss)
        raise miss

    def _equal(self, index: RequestIndex, given: Fingerprint, place: int) -> Equal:
        return Equal(self._settings.matchers, lambda: index.graded(place, given).grade == "exact")


class VcrSession(Session):
    """One use of the cassette at `path`. `mode` is the mode in the code, `override` that of the command line. `on_pass`
    is called with the host of each request that the suite lets pass."""

    def __init__(
        self,
        path: Path,
        mode: str,
        settings: Settings,
        *,
        override: str | None = None,
        on_miss: Callable[[Miss], object] | None = None,
        on_pass: Callable[[str], object] = len,
    ) -> None:
        self.settings = settings
        self._on_pass = on_pass
        player: Callable[..., Player] = lambda *given, **more: VcrPlayer(*given, settings=settings, **more)  # noqa: E731
        matching = Matching("sequence", repeats=settings.repeats)
        super().__init__(path, mode, override=override, matching=matching, on_miss=on_miss, player=player)

    def ask(self, method: str, url: str, headers: Headers, body: bytes) -> Played | Miss | None:
        """As `Session.ask`, for the request after the functions of the suite; None for one that they let pass."""
        asked = self.settings.request(Request(method, url, body or None, headers))
        if asked is None:
            self._on_pass(split_url(url).hostname or "")
            return None
        return super().ask(asked.method, asked.uri, asked.headers.fields, asked.body or b"")

    def _keep(self, trip: RoundTrip) -> None:
        stored = self.settings.stored(trip)
        if stored is not None:
            super()._keep(stored)
