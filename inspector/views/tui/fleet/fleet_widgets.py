"""The panes of the fleet's screen: the days, the groups and the runs."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import ClassVar, override

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from ...fleet_figures import FindingCount, Group, RunFigures, SomeRuns
from ...text.terminal_text import width_of
from ..pages.blocks import Spans
from ..widgets.header_footer import KeyHint
from ..widgets.line_view import LineView
from ..widgets.themed import Themed
from .fleet_lines import ALL, UNKNOWN, finding_line, group_line, run_line, strip_lines


class DayStrip(Themed):
    """Cost and errors of each day."""

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)
        self._days: Sequence[Group] = ()
        self._chosen = ""

    def show(self, days: Sequence[Group], chosen: str = "") -> None:
        """Show these days; `chosen` is the name of the one that is selected."""
        self._days, self._chosen = days, chosen
        self.refresh()

    @override
    def render_line(self, y: int) -> Strip:
        base = Style(bgcolor=self.palette.background)
        lines = strip_lines(self._days, self.size.width, self.size.height, self._chosen)
        spans = lines[y] if y < len(lines) else ()
        segments = [Segment(text, base + self.palette[look]) for text, look in spans if text]
        return Strip(segments).adjust_cell_length(self.size.width, base)


class GroupList(LineView):
    """The groups below one line for all runs. `Selected` when the cursor moves, `Entered` when one is opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("l,right", "choose", "runs", show=False)]

    class Selected(Message):
        """The cursor moved to another group."""

    class Entered(Message):
        """The runs of the group are wanted."""

    HINTS: ClassVar[tuple[KeyHint, ...]] = (
        ("↵", "its runs", "screen.runs"),
        ("Tab", "runs", "screen.other"),
        ("s", "order", "screen.sort"),
        ("r", "read again", "screen.read"),
        ("?", "help", "app.help"),
        ("q", "quit", "app.quit"),
    )

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self._whole = Group(ALL, 0, 0, None, 0, 0, 0)
        self.groups: Sequence[Group | FindingCount] = ()
        self._highest = Decimal(0)
        self.longest = 0
        """The cells of the longest name."""

    def show(self, whole: Group, groups: Sequence[Group | FindingCount], name: str | None = None) -> None:
        """Show these groups, with the cursor on the one of that name."""
        self._whole, self.groups = whole, groups
        self._highest = max((one.cost or Decimal(0) for one in groups if isinstance(one, Group)), default=Decimal(0))
        names = [_name(one) for one in groups]
        self.longest = max((width_of(name or UNKNOWN) for name in names), default=0)
        self.fit()
        self.go(names.index(name) + 1 if name in names else 0, quietly=True)

    @property
    def chosen_name(self) -> str | None:
        """The name of the selected group; None for all runs."""
        at = self.cursor - 1
        return _name(self.groups[at]) if 0 <= at < len(self.groups) else None

    @override
    def count(self) -> int:
        return len(self.groups) + 1

    @override
    def line(self, y: int, width: int) -> Spans:
        if y == 0:
            return self._all(width)
        one = self.groups[y - 1]
        if isinstance(one, FindingCount):
            return finding_line(one, width)
        return group_line(one, self._highest, self.longest, width)

    def _all(self, width: int) -> Spans:
        if self.groups and isinstance(self.groups[0], FindingCount):
            return [(f" {ALL}", "bold")]
        return group_line(replace(self._whole, name=ALL), Decimal(0), self.longest, width, "bold")

    @override
    def cursor_moved(self) -> None:
        self.post_message(self.Selected())

    @override
    def chosen(self, line: int, *, clicked: bool) -> None:
        if not clicked:
            self.post_message(self.Entered())


def _name(one: Group | FindingCount) -> str:
    return one.name if isinstance(one, Group) else one.id


class RunList(LineView):
    """Runs in an order. `Opened` with the one that is opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("l,right", "choose", "open", show=False)]

    class Opened(Message):
        """A run is to be shown."""

        def __init__(self, run: RunFigures) -> None:
            super().__init__()
            self.run = run

    HINTS: ClassVar[tuple[KeyHint, ...]] = (
        ("↵", "open", "screen.open"),
        ("Esc", "groups", "screen.out"),
        ("s", "order", "screen.sort"),
        ("y", "copy address", "screen.copy"),
        ("?", "help", "app.help"),
        ("q", "quit", "app.quit"),
    )

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self.runs = SomeRuns(0, ())

    def show(self, runs: SomeRuns, *, keep: bool = False) -> None:
        """Show these runs; with `keep` the cursor stays on its line."""
        self.runs = runs
        self.fit()
        if not keep:
            self.scroll_to(y=0, animate=False, immediate=True)
            self.go(0)

    @property
    def current(self) -> RunFigures | None:
        """The run of the cursor."""
        return self.runs.listed[self.cursor] if self.cursor < len(self.runs.listed) else None

    @override
    def count(self) -> int:
        return len(self.runs.listed) + (self.runs.count > len(self.runs.listed))

    @override
    def line(self, y: int, width: int) -> Spans:
        if y >= len(self.runs.listed):
            left = self.runs.count - len(self.runs.listed)
            return [(f" … {left:,} more; `turntape query` lists all", "dim")]
        return run_line(self.runs.listed[y], width)

    @override
    def chosen(self, line: int, *, clicked: bool) -> None:
        if line < len(self.runs.listed) and not clicked:
            self.post_message(self.Opened(self.runs.listed[line]))


def whose(by: str, name: str | None) -> str:
    """What the listed runs have in common, in a few words."""
    return "" if name is None else f"{by} {name or UNKNOWN}"
