"""The timeline of a turn whose tools were recorded."""

from collections.abc import Iterator, Sequence

from ....run.row import Row
from ....run.tool_lanes import Lane, Timeline, timeline_of
from ...text.number_format import lasted
from ...text.terminal_text import GLYPHS, clip, width_of
from .blocks import Block, Spans
from .sections import gap, rule

_NAME, _TIME = 18, 12
"""Cells of the names and of the times."""
MOST = 12
"""Lanes that are shown before the block is opened."""


def timeline(row: Row, after: Row | None) -> Iterator[Block]:
    """One lane for the API and one for each tool run; nothing for a turn without tool runs."""
    found = timeline_of(row, after)
    if found is None:
        return
    yield gap("timeline")
    note = f"{lasted(found.milliseconds)} to the last result"
    if found.idle is not None:
        note += f", the next request {lasted(found.idle)} later"
    yield Block("timeline", rule("timeline", note), _Lanes(found), open=False, preview=MOST, anchors=("timeline",))


class _Lanes:
    """The lines for a width."""

    def __init__(self, found: Timeline) -> None:
        self._found = found

    def __call__(self, width: int) -> Sequence[Spans]:
        cells = max(10, width - _NAME - _TIME - 8)
        return [_line(lane, cells) for lane in self._found.lanes]


def _line(lane: Lane, cells: int) -> Spans:
    first = min(cells - 1, round(lane.start * cells))
    length = max(1, min(cells - first, round(lane.stop * cells) - first))
    name = clip(lane.name, _NAME)
    return [
        (f"  {GLYPHS[lane.layer]} ", lane.layer),
        (name + " " * (_NAME - width_of(name)), "plain"),
        (" " * first, "plain"),
        ("█" * length, "bad_bar" if lane.failed else lane.layer),
        (" " * (cells - first - length + 2), "plain"),
        (lasted(lane.milliseconds) + (" ✗" if lane.failed else ""), "dim"),
    ]
