"""The screen of the fleet: the days, groups by branch, agent, day, model or finding, and the runs of a group."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, cast, override

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.message import Message
from textual.screen import Screen

from ...fleet_figures import ORDERS, By, FindingCount, FleetSource, Group, Order, Overview, RunFigures
from ...text.terminal_text import clip
from ..formatting import several
from ..pages.help_page import HelpSection
from ..theme import Palette
from ..widgets.header_footer import Bar, KeyHint, Keys
from ..widgets.line_view import LineView
from .fleet_lines import group_heads, heading, run_heads, summary
from .fleet_reader import (
    FleetReader,
    GroupsRead,
    OverviewRead,
    ReadingFailed,
    RunsRead,
    TapeFetched,
    Wanted,
)
from .fleet_widgets import DayStrip, GroupList, RunList, whose

TABS: tuple[tuple[str, str, By], ...] = (
    ("1", "Branches", "branch"),
    ("2", "Agents", "agent"),
    ("3", "Days", "day"),
    ("4", "Models", "model"),
    ("5", "Findings", "finding"),
)
SIDE_BY_SIDE = 140
"""From this width on the groups are beside the runs, in cells."""
HELP_SECTIONS: tuple[HelpSection, ...] = (
    LineView.HELP_KEYS,
    HelpSection(
        "the runs of a team",
        (
            ("1 to 5", "groups by branch, agent, day, model, and finding"),
            ("Enter l →", "on a group: to its runs; on a run: open it"),
            ("Esc h ←", "from the runs to the groups; from an open run back to this screen"),
            ("s", f"the order of the runs: {', '.join(ORDERS.values())}"),
            ("y", "copy the address of the run; `turntape view ADDRESS` opens it elsewhere"),
            ("r", "read the store again"),
        ),
    ),
    HelpSection(
        "other",
        (
            ("Ctrl-t", "next theme"),
            ("Ctrl-z", "back to the shell; fg comes back"),
            ("?", "this page"),
            ("q", "quit"),
        ),
    ),
    HelpSection(
        "what is shown",
        (
            ("✗ !", "errors and warnings: findings that follow from no other"),
            ("≥$0.12", "at least that: a part has no known price; the first lines and the run name what"),
            ("unpriced", "a cost that is not known: no tokens, or no price for the model"),
            ("–", "no runs on that day"),
            ("worst", "most errors first, then failed by verdict, warnings, cost"),
            ("days", "the days on which recordings began, in UTC"),
        ),
    ),
)


def strip_height(height: int) -> int:
    """The lines of the days on a screen of that height; 0 when there is no room."""
    return 8 if height >= 50 else 6 if height >= 36 else 4 if height >= 20 else 0


class FleetScreen(Screen[None]):
    """Shows what a source has. `Opened` with a recording that was fetched."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"group('{by}')", word, show=False) for key, word, by in TABS),
        Binding("tab", "other", "other pane", show=False, priority=True),
        Binding("escape,h,left", "out", "back", show=False),
        Binding("s", "sort", "order", show=False),
        Binding("r", "read", "read again", show=False),
        Binding("y", "copy", "copy", show=False),
    ]
    DEFAULT_CSS = """
    FleetScreen #fleet { height: 1fr; layout: vertical; }
    FleetScreen #runs-pane { height: 1fr; }
    FleetScreen #fleet.side { layout: horizontal; }
    FleetScreen #fleet.side #groups-pane { width: 45%; }
    FleetScreen #fleet.side #runs-pane { width: 1fr; border-left: solid $border; }
    GroupList, RunList { height: 1fr; background: $background; }
    """

    class Opened(Message):
        """A recording is to be shown."""

        def __init__(self, fetched: TapeFetched) -> None:
            super().__init__()
            self.fetched = fetched

    def __init__(self, source: FleetSource, palette: Palette) -> None:
        super().__init__()
        self._reader = FleetReader(source, self.post_message)
        self._palette = palette
        self._overview: Overview | None = None
        self._by: By = "branch"
        self._order: Order = "worst"
        self._groups: dict[By, Sequence[Group | FindingCount]] = {}
        self._listed: By | None = None
        """The tab whose groups are in the list; another one while those of the current tab are read."""
        self._shown: Wanted | None = None
        """What the listed runs answer to."""
        self._chosen: dict[By, str | None] = {}
        """The selected group of each tab."""
        self._notice = ""
        self._side, self._height = False, 24
        """Whether the groups are beside the runs, and the lines for both."""
        self.title_bar, self.summary_bar, self.strip = Bar(id="fleet-title"), Bar(id="fleet-sum"), DayStrip(id="days")
        self.tabs, self.group_heads, self.group_list = Keys(id="tabs"), Bar(id="group-heads"), GroupList(id="groups")
        self.run_heads, self.run_list = Bar(id="run-heads"), RunList(id="runs")
        self.keys = Keys(id="keys")

    @override
    def compose(self) -> ComposeResult:
        yield self.title_bar
        yield self.summary_bar
        yield self.strip
        with Container(id="fleet"):
            with Vertical(id="groups-pane"):
                yield self.tabs
                yield self.group_heads
                yield self.group_list
            with Vertical(id="runs-pane"):
                yield self.run_heads
                yield self.run_list
        yield self.keys

    def on_mount(self) -> None:
        self.use(self._palette)
        self.group_list.focus()
        self.action_read()

    def on_unmount(self) -> None:
        self._reader.stop()

    @property
    def settled(self) -> bool:
        """True when everything that was requested is shown, for programs that read the screen."""
        return not self._reader.busy and self._overview is not None

    def use(self, palette: Palette) -> None:
        """Draw in the looks of another theme."""
        for widget in (self.title_bar, self.summary_bar, self.strip, self.tabs, self.group_heads, self.group_list):
            widget.use(palette)
        for widget in (self.run_heads, self.run_list, self.keys):
            widget.use(palette)

    def say(self, text: str, look: str = "dim") -> None:
        """Show a notice in the place of the totals until the next key."""
        self._notice = text
        self.summary_bar.show(lambda width: [(f" {clip(text, max(1, width - 1))}", look)])

    def _draw(self) -> None:
        found = self._overview
        if found is not None:
            self.title_bar.show(partial(heading, found.store, f"{found.first} to {found.last}"))
            if not self._notice:
                self.summary_bar.show(partial(summary, found))
            self.strip.show(found.days, (self._chosen.get("day") or "") if self._by == "day" else "")
        self.tabs.show([(key, word, f"screen.group('{by}')") for key, word, by in TABS], f"screen.group('{self._by}')")
        groups, runs = self.group_list, self.run_list
        self.group_heads.show(lambda width: group_heads(self._by, min(width, groups.room), groups.longest))
        of, order = "", self._order
        if self._shown is not None:
            of, order = whose(self._shown.by, self._shown.name), self._shown.order
        what = f"{ORDERS[order]} of {several(runs.runs.count, 'run')}"
        what = f"{what} · {of}" if of else what
        self.run_heads.show(lambda width: run_heads(min(width, runs.room), what))
        self.keys.show(self._hints())

    def _hints(self) -> tuple[KeyHint, ...]:
        return self.run_list.HINTS if self.run_list.has_focus else self.group_list.HINTS

    # Messages of the terminal.

    def on_resize(self, event: events.Resize) -> None:
        lines = strip_height(event.size.height)
        self.strip.styles.height = lines
        self.strip.display = lines > 0
        self._side = event.size.width >= SIDE_BY_SIDE
        self._height = event.size.height - lines
        self._share_room()
        self._draw()

    def _share_room(self) -> None:
        """Groups beside the runs, or above them and no higher than they need."""
        self.query_one("#fleet").set_class(self._side, "side")
        most = max(4, round(0.4 * self._height))
        self.query_one("#groups-pane").styles.height = "1fr" if self._side else min(most, self.group_list.count() + 2)

    def on_descendant_focus(self) -> None:
        self._draw()

    def on_key(self) -> None:
        if self._notice:
            self._notice = ""
            self._draw()

    # Messages of the reader.

    def on_overview_read(self, message: OverviewRead) -> None:
        self._overview = message.overview
        self._groups.clear()
        self._notice = ""
        self._show_groups()
        self._draw()

    def on_groups_read(self, message: GroupsRead) -> None:
        self._groups[message.by] = message.groups
        if message.by == self._by:
            self._show_groups()

    def on_runs_read(self, message: RunsRead) -> None:
        if message.wanted == self._wanted:
            self._shown = message.wanted
            self.run_list.show(message.runs)
            self._draw()

    def on_tape_fetched(self, message: TapeFetched) -> None:
        self._notice = ""
        self._draw()
        self.post_message(self.Opened(message))

    def on_reading_failed(self, message: ReadingFailed) -> None:
        self.say(message.problem, "bad")

    # Messages of the panes.

    def on_group_list_selected(self) -> None:
        if self._listed != self._by:
            return  # the groups of this tab are still being read
        self._chosen[self._by] = self.group_list.chosen_name
        self._want_runs()

    def on_group_list_entered(self) -> None:
        self.run_list.focus()

    def on_run_list_opened(self, message: RunList.Opened) -> None:
        self._open(message.run)

    # Keys.

    def action_group(self, by: By) -> None:
        self._by = by
        self._show_groups()
        self.group_list.focus()

    def action_other(self) -> None:
        (self.group_list if self.run_list.has_focus else self.run_list).focus()

    def action_runs(self) -> None:
        self.run_list.focus()

    def action_out(self) -> None:
        """From the runs to the groups, then to all runs."""
        if self.run_list.has_focus:
            self.group_list.focus()
        else:
            self.group_list.go(0)

    def action_open(self) -> None:
        if self.run_list.current is not None:
            self._open(self.run_list.current)

    def action_sort(self) -> None:
        orders = list(ORDERS)
        self._order = orders[(orders.index(self._order) + 1) % len(orders)]
        self._want_runs()

    def action_read(self) -> None:
        self.say("reading the store …")
        self._reader.overview()

    def action_copy(self) -> None:
        if self.run_list.current is not None:
            app = cast(App[None], self.app)  # pyright: ignore[reportUnknownMemberType]
            app.copy_to_clipboard(self.run_list.current.address)
            self.say(f"copied {self.run_list.current.address}")

    # Requests.

    @property
    def _wanted(self) -> Wanted:
        return Wanted(self._by, self._chosen.get(self._by), self._order)

    def _show_groups(self) -> None:
        if self._overview is None:
            return
        found = self._groups.get(self._by)
        if found is None:
            self._listed = None
            self.group_list.show(self._overview.whole, ())
            self._reader.groups(self._by)
            self._draw()
            return
        self._listed = self._by
        self.group_list.show(self._overview.whole, found, self._chosen.get(self._by))
        self._share_room()
        self._chosen[self._by] = self.group_list.chosen_name
        self._want_runs()

    def _want_runs(self) -> None:
        self._reader.runs(self._wanted)
        self._draw()

    def _open(self, run: RunFigures) -> None:
        self.say("fetching the recording …")
        self._reader.tape(run)
