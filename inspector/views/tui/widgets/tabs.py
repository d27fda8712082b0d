"""The tabs: the views, with the current one marked."""

from typing import ClassVar, override

from ..pages.help_page import HelpSection
from .header_footer import KeyHint, Keys, cells_of

VIEWS: tuple[KeyHint, ...] = (
    ("1", "Turn", "turn"),
    ("2", "Wire", "wire"),
    ("3", "Growth", "growth"),
    ("4", "Context", "context"),
    ("5", "Findings", "findings"),
    ("6", "Diff", "diff"),
)
"""Key, word and name of each view."""
TOOLS: KeyHint = ("7", "Tools", "tools")
"""The view of tool runs, where messages of tool servers were recorded."""
OUTPUT: KeyHint = ("8", "Output", "output")
"""The view of the output of the recorded command, if there is one."""

OF_THE_RUN: tuple[KeyHint, ...] = (("9", "Costs", "costs"), ("0", "Timeline", "timeline"))
"""Views of the whole run, after those that are not always there."""

COMPARE: KeyHint = ("m", "Compare", "compare")
"""The view that compares with the marked turn, while one is marked."""


class Tabs(Keys):
    """The views, with the one that is shown."""

    HELP_KEYS: ClassVar[HelpSection] = HelpSection(
        "views",
        (
            ("1 Turn", "what is new, the answer, calls with their results; what was sent before is folded"),
            ("2 Wire", "headers, events with their times, bodies as they were sent"),
            ("3 Growth", "tokens and cost of each turn, as stacked bars"),
            ("4 Context", "what this request consists of, and what each part has cost in the whole run"),
            ("5 Findings", "what went wrong, the layer to blame; Enter goes to the evidence"),
            ("6 Diff", "this request and the previous one; the answer and what was sent back of it"),
            ("7 Tools", "the tool runs of this turn: the result as returned beside the result as seen"),
            ("9 Costs", "what each piece of the prompts cost over the run, the most expensive first; cache misses"),
            ("0 Timeline", "where the time went: waiting, answers, client and tools, in lanes and turn by turn"),
            ("m", "mark this turn; m on another turn compares both: cost, tokens, time, then the changed words"),
            ("s", "the order of the list of turns, or on the page of costs that of its pieces"),
            ("r", "the raw bodies of this turn, and back"),
            ("z", "only this pane, and both again"),
            ("v", "list and page side by side, or one above the other"),
            ("mouse", "a click on a tab shows it; the line between list and page can be moved: drag it, or the tabs"),
        ),
    )

    @override
    def fitted(self, hints: tuple[KeyHint, ...], width: int) -> tuple[tuple[KeyHint, ...], str]:
        """All tabs. Without room, first the number of findings is left out, then one of two blanks between the tabs,
        and at last the words of tabs that are not shown.
        """
        if cells_of(hints) <= width:
            return hints, " "
        hints = tuple((key, word.partition(" (")[0], action) for key, word, action in hints)
        if cells_of(hints) <= width:
            return hints, " "
        shown = list(hints)
        for at in reversed(range(len(hints))):
            if cells_of(shown, "") <= width:
                break
            if not self.is_active(hints[at]):
                shown[at] = (hints[at][0], "", hints[at][2])
        return tuple(shown), ""

    def show_views(self, view: str, findings: int, *, output: bool, tools: bool, marked: bool = False) -> None:
        """Mark the tab of `view`; the tab of the findings shows how many the page lists."""
        views = (*VIEWS, *([TOOLS] if tools else ()), *([OUTPUT] if output else ()), *OF_THE_RUN)
        views = (*views, COMPARE) if marked else views
        hints = [
            (key, f"{word} ({findings})" if name == "findings" and findings else word, f"screen.view('{name}')")
            for key, word, name in views
        ]
        self.show(hints, f"screen.view('{view}')")
