"""The page of growth: the growth strip in large, in the other unit, with the keys that move its turn."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from ..pages.help_page import HelpSection
from .growth_strip import GrowthStrip
from .header_footer import KeyHint


class GrowthPlot(GrowthStrip, can_focus=True):
    """Left and Right, or the mouse, move the turn: in order of arrival, through all threads."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h,k,up", "step(-1)", "turn before", show=False),
        Binding("right,l,j,down", "step(1)", "next turn", show=False),
        Binding("home,g", "step(-1000000)", "first", show=False),
        Binding("end,G", "step(1000000)", "last", show=False),
        Binding("enter", "screen.open_turn", "open", show=False),
    ]
    HELP_KEYS: ClassVar[HelpSection] = HelpSection(
        "3 Growth: the strip in large",
        (
            ("← → h l", "previous, next turn; the mouse shows the numbers of a turn"),
            ("Enter", "read the turn"),
            ("$", "the unit; it has tokens while the strip has dollars"),
        ),
    )
    HINTS: ClassVar[tuple[KeyHint, ...]] = (
        ("← →", "turn", ""),
        ("↵", "open", "screen.open_turn"),
        ("$", "unit", "screen.unit"),
        ("Esc", "list", "screen.out"),
        ("z", "zoom", "screen.zoom"),
        ("x", "save", "app.save"),
        ("?", "help", "app.help"),
        ("q", "quit", "app.quit"),
    )

    def action_step(self, by: int) -> None:
        """Post `Picked` for another turn."""
        turns = self.strip.in_order
        if not turns:
            return
        at = max((n for n, turn in enumerate(turns) if self.place is not None and turn.place <= self.place), default=0)
        self.post_message(self.Picked(turns[max(0, min(at + by, len(turns) - 1))].place))
