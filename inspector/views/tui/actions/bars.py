"""The one-line bars around the panes: title, status and keys."""

from collections.abc import Callable
from functools import partial

from ..headings import Title, behind_status, filter_status, summarize, title
from ..pages.blocks import Spans
from ..pages.page_table import PAGES
from ..played_rows import PlayedSummary
from ..theme import Palette
from ..widgets.header_footer import Bar, KeyHint, Keys
from ..widgets.panes import Panes
from ..widgets.search_box import SearchBox
from .state import ScreenState


def playing(*, paused: bool, unit: str) -> tuple[KeyHint, ...]:
    """The keys while a run is played; `unit` is what the strip shows now."""
    return (
        ("space", "continue" if paused else "pause", "screen.pause"),
        ("←", "back", "screen.seek(-1)"),
        ("→", "next turn", "screen.seek(1)"),
        ("+", "faster", "screen.speed(1)"),
        ("-", "slower", "screen.speed(-1)"),
        ("$", "tokens" if unit == "dollars" else "dollars", "screen.unit"),
        ("p", "stop", "screen.play"),
        ("q", "quit", "app.quit"),
    )


def _no_line(width: int) -> Spans:
    """The status line when it is empty."""
    del width
    return ()


class Bars:
    """Draws the bars from the state. `refresh` after a change; `summarize` after new rows."""

    def __init__(self, state: ScreenState, panes: Panes, search_box: SearchBox) -> None:
        self._state, self._panes, self._search_box = state, panes, search_box
        self.title, self.status, self.keys = Bar(id="title"), Bar(id="status"), Keys(id="keys")
        self.back = ""
        """What Escape leads back to from the list; empty for nothing."""
        self._summary = summarize(state.run.rows)
        self._played = PlayedSummary(state.run.rows)
        self._notice: Spans = ()
        """The text of the status line until the next key."""

    def use(self, palette: Palette) -> None:
        """Draw in the looks of another theme."""
        for widget in (self.title, self.status, self.keys):
            widget.use(palette)

    def summarize(self) -> None:
        """Compute the totals of the title again."""
        self._summary = summarize(self._state.run.rows)

    def refresh(self) -> None:
        """Draw the title, the status line, the tabs and the keys again."""
        state = self._state
        share = state.run.share if state.reading else 1.0
        self._panes.strip.point_to(state.place)
        summary = self._summary
        if (turn := state.playback.turn) is not None:
            summary = self._played.at(turn.place, turn.share)
        heading = Title(
            state.run.path.name, state.reading, state.follow.live, state.follow.on, share, bool(state.run.problems)
        )
        self.title.show(partial(title, heading, summary))
        status = self._status_line()
        self.status.show(status or _no_line)
        self.status.set_class(status is not None and not self._search_box.opened, "shown")
        tools = bool(self._summary.totals.tool_messages)
        shown, marked = state.output is not None, state.marked is not None
        self._panes.tabs.show_views(state.view, summary.findings, output=shown, tools=tools, marked=marked)
        self.keys.show(self._hints())

    def _hints(self) -> tuple[KeyHint, ...]:
        if self._search_box.has_focus:
            return self._search_box.hints
        if self._state.playback.turn is not None:
            return playing(paused=self._state.playback.paused, unit=self._panes.strip.unit)
        first, *rest = self._panes.hints
        if self._state.search.words and self._state.view in PAGES:
            return (first, ("n", "match", "match(1)"), *(hint for hint in rest if hint[0] != "n"))
        if self.back and self._panes.in_list:
            return (first, ("Esc", self.back, "screen.out"), *rest)
        return (first, *rest)

    def _status_line(self) -> Callable[[int], Spans] | None:
        """The content of the status line; None when it is empty."""
        state = self._state
        if (turn := state.playback.turn) is not None:
            return partial(turn.status, state.run.rows.all[turn.place], paused=state.playback.paused)
        if spans := self._notice:
            return lambda width: spans
        if state.search.filter:
            shown, whole = len(self._panes.turns.places), len(state.run.rows.all)
            match, share = state.search.match, state.search.share
            return lambda width: filter_status(state.search.filter, match, shown, whole, share)
        if state.follow.on and (behind := state.follow.behind):
            return lambda width: behind_status(behind)
        return None

    def say(self, text: str, look: str = "plain") -> None:
        """Show a notice until the next key."""
        self._notice = [(f" {text}", look)]
        self.refresh()

    def forget_notice(self) -> None:
        """Remove the notice."""
        if self._notice:
            self._notice = ()
            self.refresh()
