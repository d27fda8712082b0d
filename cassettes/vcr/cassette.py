"""A cassette with the names of vcrpy's, for a test to look at: `requests`, `responses`, `play_count`, `all_played`,
`record_mode` and a few more. `use_cassette` and the fixture `vcr` of moved suites give it.
"""

from collections import Counter
from typing import Any

from ..replay.session import Session
from ..tape.model import RoundTrip
from .record_mode import VCRPY, RecordMode
from .request import Request
from .session import VcrPlayer
from .settings import answer_of


class Cassette:
    """The cassette of a marked test, with the names of vcrpy's."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def _trips(self) -> list[RoundTrip]:
        """What the cassette holds; while it is recorded, what was recorded so far."""
        player = self._session.player
        held = player.recorded if isinstance(player, VcrPlayer) else list(player.cassette)
        return held + self._session.live if held else self._session.passed

    @property
    def requests(self) -> list[Request]:
        """The recorded requests."""
        return [Request.of(trip.request) for trip in self._trips]

    @property
    def responses(self) -> list[dict[str, Any]]:
        """The recorded answers."""
        return [answer_of(trip.response) for trip in self._trips]

    @property
    def data(self) -> list[tuple[Request, dict[str, Any]]]:
        """The recorded requests with their answers."""
        return list(zip(self.requests, self.responses, strict=True))

    @property
    def record_mode(self) -> RecordMode:
        """The mode, by vcrpy's name for it; equal to vcrpy's own value."""
        return VCRPY[self._session.mode]

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

    @property
    def allow_playback_repeats(self) -> bool:
        """True when an answer is given more than once."""
        return self._session.player.matching.repeats

    def rewind(self) -> None:
        """Let every recording be played once more."""
        if isinstance(self._session.player, VcrPlayer):
            self._session.player.rewind()
