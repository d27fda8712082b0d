"""Playing: the answers as they came, turn after turn."""

import time

from textual.timer import Timer

from .loader import Wish
from .pages.play_page import play_page
from .playback import Playback
from .searching import Searching

TICK = 0.05
"""How often a turn that is played is drawn, in seconds."""


class Playing(Searching):
    """`p` plays from the turn that is looked at, and stops."""

    _ticks: Timer | None = None
    _ticked = 0.0

    def action_play(self) -> None:
        """Play from here, or stop."""
        if self.player.on is not None:
            self._stop()
            self._wish()
            self._bars()
        elif self.place is not None:
            if not self.player.start(self.place):
                self.say("there is no turn to play from here on", "dim")
                return
            self.view = "turn"
            self._show_view()
            self._ticked = time.monotonic()
            self._ticks = self.set_interval(TICK, self._tick)
            self._next_played()

    def _next_played(self) -> None:
        playing = self.player.on
        if playing is not None:
            self.place = self._list.playing = playing.place
            self._list.stand_on(playing.place)
            self._list.refresh()
            self._show_played(playing)

    def _tick(self) -> None:
        now = time.monotonic()
        passed, self._ticked = now - self._ticked, now
        what = self.player.tick(passed)
        if what == "next":
            self._next_played()
        elif what == "more" and self.player.on is not None:
            self._show_played(self.player.on)
        elif what == "end":
            self._stop()
            self._wish()
            self.say("played to the end", "dim")
        self._bars()

    def _show_played(self, playing: Playback) -> None:
        run, place, at = self.run_, playing.place, playing.at
        room = max(16, self._page.room)
        self._desk.wish(Wish(place, "play", room, lambda: play_page(run.detail(place), run.rows, place, at)))

    def _stop(self) -> None:
        if self._ticks is not None:
            self._ticks.stop()
            self._ticks = None
        if self.player.on is not None or self._list.playing is not None:
            self.player.stop()
            self._list.playing = None
            self._list.refresh()

    def action_speed(self, by: int) -> None:
        told = self.player.faster(by)
        if self.player.on is None:
            self.say(told, "dim")
        self._bars()
