"""The growth strip: what each turn cost or how many tokens it had, thread by thread, on every page."""

from typing import ClassVar, override

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip as TextualStrip

from ....run.strip import Strip, Unit
from ..pages.help_page import HelpSection
from ..strip_layout import StripLayout, lay_out
from ..strip_lines import CURSOR, GROUND, HOVER, Shown, joined, strip_line
from .themed import Themed


def strip_height(height: int) -> int:
    """The lines of the strip on a screen of that height; 0 when there is no room at all."""
    for least, lines in ((50, 10), (36, 6), (28, 5), (20, 4), (12, 3)):
        if height >= least:
            return lines
    return 0


class GrowthStrip(Themed):
    """`show(strip, place)`; a click goes to a turn, the mouse shows its numbers, `toggle` changes the unit."""

    DEFAULT_CSS = "GrowthStrip { height: 4; }"
    HELP_KEYS: ClassVar[HelpSection] = HelpSection(
        "the growth strip",
        (
            ("$", "dollars or tokens, in the strip and in 3 Growth"),
            ("mouse", "a click on a bar goes to its turn, one on `first in turn 3` in the first line to that turn"),
        ),
    )

    class Picked(Message):
        """A turn was picked in the strip."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    class Emptied(Message):
        """It has no bars to draw, or has some again."""

    def __init__(self, twin: "GrowthStrip | None" = None, **fields: str) -> None:
        super().__init__(**fields)
        self._twin = twin
        """Shows the same run in the other unit."""
        self.strip = Strip((), None, 0)
        self._known = False
        """Whether it was shown a run: before, nobody knows that there are no turns."""
        self.unit: Unit = "dollars"
        self.chosen = False
        """Whether the user chose the unit; until then it is dollars where any turn has a price."""
        self.place: int | None = None
        self.under: int | None = None
        self.playing: int | None = None
        """The row that is being played."""
        self.share = 1.0
        """How much of its answer has arrived."""
        self._laid_out: tuple[object, StripLayout] | None = None

    def show(self, strip: Strip, place: int | None) -> None:
        """Show this run, with the cursor on the row at `place`."""
        was_empty = self.empty
        self.strip, self.place, self._known = strip, place, True
        if self.empty != was_empty:
            self.post_message(self.Emptied())
        if not self.chosen:
            self.unit = "dollars" if strip.has("dollars") or not strip.has("tokens") else "tokens"
        if self._twin is not None:
            self._twin.chosen, self._twin.unit = True, self._other
            self._twin.show(strip, place)
        self.refresh()

    @property
    def empty(self) -> bool:
        """Whether it is known that there are no bars to draw, so that one line is enough."""
        return self._known and not (self.strip.has("dollars") or self.strip.has("tokens"))

    @property
    def blank(self) -> bool:
        """Whether it has shown no turns yet."""
        return not self.strip.lanes

    @property
    def _other(self) -> Unit:
        """The other unit, if any turn has it."""
        other: Unit = "tokens" if self.unit == "dollars" else "dollars"
        return other if self.strip.has(other) else self.unit

    def point_to(self, place: int | None) -> None:
        """Move the cursor."""
        if self._twin is not None:
            self._twin.point_to(place)
        if place != self.place:
            self.place, self.under = place, None
            self.refresh()

    def play(self, playing: int | None, share: float = 1.0) -> None:
        """Show the run up to the row that is being played; None shows all of it."""
        if self._twin is not None:
            self._twin.play(playing, share)
        if (playing, share) != (self.playing, self.share):
            self.playing, self.share = playing, share
            self.refresh()

    def toggle(self, unit: Unit) -> None:
        """Show the other unit."""
        self.unit, self.chosen = unit, True
        if self._twin is not None:
            self._twin.toggle(self._other)
        self.refresh()

    @property
    def layout_(self) -> StripLayout:
        """The layout for the size that the widget has. The thread of the cursor has a lane."""
        key = (id(self.strip), self.unit, self.size)
        thread = self.strip.thread_at(self.place if self.playing is None else self.playing)
        if self._laid_out is None or self._laid_out[0] != key or not self._laid_out[1].has(thread):
            self._laid_out = key, lay_out(self.strip, self.unit, self.size.width, self.size.height, thread)
        return self._laid_out[1]

    def on_click(self, event: events.Click) -> None:
        found = self._place_at(event.x)
        if found is not None:
            self.post_message(self.Picked(found))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._hover(self._place_at(event.x))

    def on_leave(self, event: events.Leave) -> None:
        del event
        self._hover(None)

    def _hover(self, place: int | None) -> None:
        if place != self.under:
            self.under = place
            self.refresh()

    def _place_at(self, x: int) -> int | None:
        """The turn of the bar in that cell; of a bar of several turns the cursor's, or else the dearest one."""
        found = self.layout_.bar_at(x) if not self.empty and self.strip.lanes else None
        if found is None:
            return None
        bar = found.bar
        if bar.shows(self.place):
            return self.place
        return max(bar.turns, key=lambda turn: turn.amount(self.unit) or 0).place

    @override
    def render_line(self, y: int) -> TextualStrip:
        width, palette = self.size.width, self.palette
        if self.empty or not self.strip.lanes:
            why = " no turns" if not self.strip.lanes else " no tokens were counted: there is no growth to draw"
            if len(why) > width:
                why, _, _ = why.partition(":")
            text = why if y == 0 and self.empty else ""
            return TextualStrip([Segment(text.ljust(width), palette["dim"] + Style(bgcolor=palette.background))], width)
        shown = Shown(self.place, self.under, self.playing, self.share, palette.coloured)
        segments = [
            Segment(text, palette.on(look, self._ground(under)))
            for text, look, under in joined(strip_line(self.layout_, shown, y))
        ]
        return TextualStrip(segments).adjust_cell_length(width, Style(bgcolor=palette.background))

    def _ground(self, under: str) -> str:
        """A background for `Palette.on`."""
        palette = self.palette
        return {GROUND: palette.background, CURSOR: palette.column, HOVER: palette.trail}.get(under, under)
