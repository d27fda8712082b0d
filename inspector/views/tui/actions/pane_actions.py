"""Moving between the list and the page, between views, and out of whatever is open."""

from collections.abc import Sequence

from ..pages.blocks import Goto
from ..pages.cost_orders import ORDERS
from ..widgets.panes import Panes
from ..widgets.tabs import OUTPUT
from .bars import Bars
from .playback_actions import PlaybackActions
from .search_actions import SearchActions
from .selection import Selection
from .state import ScreenState


def following(names: Sequence[str], name: str) -> str:
    """The name after `name`; the first after the last."""
    return names[(names.index(name) + 1) % len(names)]


class PaneActions:
    """Each method is what a key, or a message of a widget in a pane, does."""

    def __init__(
        self,
        state: ScreenState,
        selection: Selection,
        playing: PlaybackActions,
        searching: SearchActions,
        panes: Panes,
        bars: Bars,
    ) -> None:
        self._state, self._selection, self._playing, self._searching = state, selection, playing, searching
        self._panes, self._bars = panes, bars

    def enter_page(self) -> None:
        """Give the focus to the page."""
        self._panes.enter_page(self._state.view)
        self._bars.refresh()

    def out(self) -> bool:
        """Close what is open: the search, playback, the page, the filter. False when nothing was."""
        closed = True
        if self._searching.opened:
            self._searching.end(keep=False)
        elif self._state.playback.turn is not None:
            self._playing.toggle()
        elif not self._panes.in_list:
            self._panes.enter_list()
        elif self._state.search.filter:
            self._searching.filter("")
        else:
            closed = False
        self._bars.refresh()
        return closed

    def other(self) -> None:
        """Go to the other pane."""
        if self._panes.in_list:
            self.enter_page()
        elif self._searching.typing:
            self._searching.end(keep=True)
        else:
            self.out()

    def view(self, name: str) -> None:
        """Show a view; when it is shown already, enter it."""
        if name == OUTPUT[2] and self._state.output is None:
            self._bars.say("no output of a command is here: `turntape run --view` shows it", "dim")
            return
        self._playing.stop()
        inside = not self._panes.in_list
        if name != self._state.view:
            self._selection.show_view(name)
            self._panes.show_page()
            self._selection.request_page(top=True)
            if inside or self._panes.list_only:
                self.enter_page()
        elif not inside:
            self.enter_page()

    def raw(self) -> None:
        """To the raw bodies of this turn, and back."""
        self.view("turn" if self._state.view == "wire" else "wire")

    def sort(self) -> None:
        """The next order: of the pieces when the page of costs has the focus, else of the list."""
        if self._state.view == "costs" and not self._panes.in_list:
            self._state.cost_order = following(tuple(ORDERS), self._state.cost_order)
            self._selection.request_page("pieces")
            self._bars.say(f"pieces by {self._state.cost_order}", "dim")
            return
        self._bars.say(f"turns {self._panes.turns.sort(self._state.place)}; s changes the order", "dim")

    def mark(self) -> None:
        """Mark the turn, compare it with the marked one, or on the marked one remove the mark."""
        state = self._state
        if state.place is None:
            return
        if state.marked == state.place:
            state.marked = None
            self._bars.say("no turn is marked", "dim")
            if state.view == "compare":
                self.view("turn")
        elif state.marked is None:
            state.marked = state.place
            name = state.run.rows.name_of(state.place)
            self._bars.say(f"{name} is marked; m on another turn compares, m here removes the mark", "accent")
        else:
            self.view("compare")
        self._panes.turns.mark(state.marked)

    def turn_selected(self, place: int) -> None:
        """The cursor of the list moved."""
        if place != self._state.place:
            self._playing.stop()
            self._selection.select(place, listed=True)

    def bar_picked(self, place: int) -> None:
        """A turn was picked in the growth strip, or in the page of growth."""
        if place != self._state.place:
            self._playing.stop()
            self._selection.select(place)

    def toggle_unit(self) -> None:
        """Dollars or tokens in the strip."""
        strip = self._panes.strip
        wanted = "tokens" if strip.unit == "dollars" else "dollars"
        if not strip.strip.has(wanted):
            why = "no price is known" if wanted == "dollars" else "the API reported no tokens"
            self._bars.say(f"no {wanted}: {why}", "dim")
            return
        strip.toggle(wanted)
        self._bars.refresh()

    def follow_line(self, goto: Goto) -> None:
        """A line of the page that leads to another place was chosen."""
        if goto.place >= len(self._state.run.rows.all):
            self._bars.say("this turn is not in the list yet; try again when more of the file is read", "dim")
            return
        self._playing.stop()
        self.enter_page()
        self._selection.select(goto.place, goto.anchor, goto.view)
