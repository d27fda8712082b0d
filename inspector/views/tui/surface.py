"""What stands on the screen: the panes, the lines around them, the room that each has, and the themes."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, TypedDict, Unpack, override

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.widgets import Input

from ...run.filters import Filter
from ...run.run_index import Run
from ...run.totals import totals
from .commands import COMMANDS
from .formatting import several
from .headings import OUTPUT, VIEWS, State, first_trouble, keys_for, title
from .pages.help_page import help_page
from .pages.page import Spans
from .pages.page_table import PAGES
from .playback import Player
from .theme import PALETTES, theme_of
from .widgets.dialogs import PageScreen
from .widgets.growth_plot import GrowthPlot
from .widgets.header_footer import Bar, Keys
from .widgets.page_view import PageView
from .widgets.turn_list import TurnList, heading

SIDE_BY_SIDE = 140
"""From this width on the list stands beside the page."""


class Options(TypedDict, total=False):
    """How the viewer is opened."""

    live: bool
    """Follow the file while it is being written."""
    goes_on: Callable[[], bool]
    """Whether more may come; asked while the file is followed."""
    output: Path | None
    """What the command that is recorded writes."""
    theme: str
    turn: int | None
    """Begin at this turn."""
    folder: Path
    """Where things are saved; here when not given."""
    traceback: bool
    """Show where an internal error was."""


class Surface(App[None]):
    """The viewer's screen; what is shown on it is the business of those that build on it."""

    TITLE = "turntape"
    CSS_PATH = Path(__file__).with_name("viewer.tcss")
    ENABLE_COMMAND_PALETTE = True
    ALLOW_SELECT = False

    def __init__(self, run: Run, **options: Unpack[Options]) -> None:
        super().__init__()
        self._traceback = options.get("traceback", False)
        self.run_ = run
        self.live = self.following = options.get("live", False)
        """True while the file may grow, and while the cursor goes with it."""
        self.output = options.get("output")
        self.place: int | None = None
        """Where the run is looked at."""
        self.view = "turn"
        self.filter = Filter("", ())
        self.list_folds: dict[str, bool] = {}
        self.player = Player(run.rows, lambda row: self.filter(row))
        self._palette = PALETTES[options.get("theme", "dark")]
        self._said: Spans = ()
        self._reading = True
        self._page_focus = False
        """True while the page was gone into, so that it has the more room."""
        self._zoomed: Literal["list", "page"] | None = None
        self._side: bool | None = None
        self._match = ""
        """Which match of the search the page's cursor stands on."""
        self._behind = 0
        """How many turns came after the one that is looked at, while following."""
        self._top, self._told = Bar(self._title, id="title"), Bar(self._status, id="status")
        self._tabs, self._keys = Keys(id="tabs"), Keys(id="keys")
        self._list, self._page, self._plot = TurnList(id="turns"), PageView(id="page"), GrowthPlot(id="growth")
        self._body, self._left, self._right = Container(id="body"), Vertical(id="left"), Vertical(id="right")
        hint = "words, tool:name, layer:client, is:error, cost:>0.05 … ? explains"
        self._search = Input(placeholder=hint, id="search")
        for palette in PALETTES.values():
            self.register_theme(theme_of(palette))

    @override
    def compose(self) -> ComposeResult:
        yield self._top
        with self._body:
            with self._left:
                yield Bar(heading, id="heading")
                yield self._list
            with self._right:
                yield self._tabs
                yield self._page
                yield self._plot
        yield self._told
        yield self._search
        yield self._keys

    @override
    def _fatal_error(self) -> None:
        """One line instead of a traceback, unless that was asked for."""
        if self._traceback or self.is_headless:
            super()._fatal_error()
            return
        error = sys.exception()
        told = f"internal error, {type(error).__name__}: {error}; `turntape --debug view …` shows where"
        self.panic(Text(f"turntape: {told}"))

    def _title(self, width: int) -> Spans:
        state = State(self.run_.path.name, self._reading, self.live, self.following, self._behind)
        return title(state, self._totals, self._trouble, width)

    def _sum_up(self) -> None:
        """What the title says of all rows; they may be many."""
        rows = self.run_.rows
        self._totals = totals(rows.all)
        place = first_trouble(rows)
        row = rows.all[place] if place is not None else None
        many = len(rows.threads) > 1
        self._trouble = f"turn {row.turn}" + (f" of {row.thread}" if many else "") if row is not None else ""

    _totals = totals(())

    _trouble = ""

    def _status(self, width: int) -> Spans:
        playing = self.player.on
        if playing is not None:
            return playing.told(self.run_.rows.all[playing.place], width)
        if self._said:
            return self._said
        if self.filter:
            shown, whole = len(self._list.outline.places), len(self.run_.rows.all)
            told: list[tuple[str, str]] = [
                (" filter ", "accent"),
                (f"{self.filter.text}  ", "bold"),
                (f"{shown:,} of {several(whole, 'round trip')}", "plain" if shown else "warn"),
                ("   ", "dim"),
                (self._match or "Esc shows all", "dim"),
            ]
            return [*told, (f"   {self.filter.problem}", "warn")] if self.filter.problem else told
        if self.following and self._behind:
            return [(f" {several(self._behind, 'newer turn')} below  ", "accent"), ("G goes there", "dim")]
        return ()

    def _use_palette(self) -> None:
        for widget in self.query("Bar, Keys, TurnList, PageView, GrowthPlot"):
            widget.use(self._palette)  # type: ignore[attr-defined]

    def _bars(self) -> None:
        """Draw the bars anew."""
        self._top.refresh()
        self._told.set_class(bool(self._status(80)) and not self._search.has_class("shown"), "shown")
        self._told.refresh()
        errors = self._totals.errors + self._totals.warnings
        tabs = [
            (key, f"{word} {errors}" if name == "findings" and errors else word, f"view('{name}')")
            for key, word, name in (VIEWS if self.output is None else (*VIEWS, OUTPUT))
        ]
        self._tabs.show(tabs, f"view('{self.view}')")
        self._keys.show(keys_for(self._pane(), bool(self.filter.words) and self.view in PAGES))

    def _pane(self) -> str:
        panes = {"list": self._list, "growth": self._plot, "search": self._search}
        return next((name for name, pane in panes.items() if pane.has_focus), "page")

    def say(self, text: str, look: str = "plain") -> None:
        """A line that stays until the next key."""
        self._said = [(f" {text}", look)]
        self._bars()

    def on_resize(self, event: events.Resize) -> None:
        self._arrange(event.size.width, event.size.height)

    def on_descendant_focus(self) -> None:
        self._bars()

    def on_key(self, event: events.Key) -> None:
        del event
        if self._said:
            self._said = ()
            self._bars()

    def _arrange(self, width: int = 0, height: int = 0) -> None:
        """Share the room out between list and page."""
        width, height = width or self.size.width, height or self.size.height
        body, left = self._body, self._left
        side = self._side if self._side is not None else width >= SIDE_BY_SIDE
        body.set_class(side, "side")
        body.set_class(self._zoomed == "list", "list-only")
        body.set_class(self._zoomed == "page", "page-only")
        if side or self._zoomed == "list":
            left.styles.height = "1fr"
        else:
            most = round((height - 3) * (0.2 if self._page_focus else 0.4))
            left.styles.height = max(4, min(most, len(self._list.outline) + 1))

    def _show_view(self) -> None:
        self._match = ""
        self._right.set_class(self.view == "growth", "plot")
        self._bars()

    def action_zoom(self) -> None:
        self._zoomed = None if self._zoomed else "list" if self._list.has_focus else "page"
        self._arrange()

    def action_side(self) -> None:
        self._side = not self._body.has_class("side")
        self._arrange()

    def action_help(self) -> None:
        self.push_screen(PageScreen("turntape view", help_page(), self._palette))

    def action_next_theme(self) -> None:
        names = list(PALETTES)
        self.use_theme(names[(names.index(self._palette.name) + 1) % len(names)])

    def use_theme(self, name: str) -> None:
        """Take one of the themes by its name."""
        self._palette = PALETTES[name]
        self.theme = name
        self._use_palette()
        self.say(f"theme {name}", "dim")

    @override
    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        del screen
        for word, told, action in COMMANDS:
            yield SystemCommand(word, told, lambda action=action: self.call_later(self.run_action, action))
        for name in PALETTES:
            yield SystemCommand(f"Theme: {name}", "how it looks", lambda name=name: self.use_theme(name))
