"""The timeline of a turn whose tools were recorded: when the API answered, when each tool ran, when the client asked
again."""

from collections.abc import Iterator, Sequence

from ....run.row import Row
from ....tools.tool_run import ToolRun
from ...text.number_format import lasted
from ...text.terminal_text import GLYPHS, clip, width_of
from .blocks import Block, Spans
from .sections import gap, rule

_NAME, _TIME = 22, 12
"""Cells of the names and of the times."""
MOST = 12
"""Lanes that are shown before the block is opened."""


def timeline(row: Row, after: Row | None) -> Iterator[Block]:
    """One lane for the API and one for each tool run; nothing for a turn without tool runs."""
    if not row.tool_runs:
        return
    yield gap("timeline")
    last = max(_end(run) for run in row.tool_runs)
    note = f"{lasted((last - row.started_at) * 1000)} to the last result"
    if after is not None and after.started_at >= last:
        note += f", the next request {lasted((after.started_at - last) * 1000)} later"
    yield Block("timeline", rule("timeline", note), _Lanes(row), open=False, preview=MOST, anchors=("timeline",))


def _end(run: ToolRun) -> float:
    return run.started_at + (run.duration_ms or 0) / 1000


class _Lanes:
    """The lines for a width."""

    def __init__(self, row: Row) -> None:
        self._row = row

    def __call__(self, width: int) -> Sequence[Spans]:
        row = self._row
        begin, done = row.started_at, row.started_at + (row.duration_ms or 0) / 1000
        end = max(done, *(_end(run) for run in row.tool_runs))
        cells = max(10, width - _NAME - _TIME - 4)

        def lane(layer: str, name: str, start: float, stop: float, time: str, look: str) -> Spans:
            scale = cells / (end - begin) if end > begin else 0
            first = min(cells - 1, max(0, round((start - begin) * scale)))
            length = max(1, min(cells - first, round((stop - begin) * scale) - first))
            label = clip(name, _NAME - 4)
            return [
                (f"  {GLYPHS[layer]} ", layer),
                (label + " " * (_NAME - 4 - width_of(label)), "plain"),
                (" " * first, "plain"),
                ("█" * length, look),
                (" " * (cells - first - length + 2), "plain"),
                (time, "dim"),
            ]

        out = [lane("api", "api", begin, done, lasted(row.duration_ms), "api")]
        for run in row.tool_runs:
            look = "bad" if run.is_error or run.outcome != "answered" else "tool"
            time = lasted(run.duration_ms) + (" ✗" if look == "bad" else "")
            out.append(lane("tool", run.name, run.started_at, _end(run), time, look))
        return out
