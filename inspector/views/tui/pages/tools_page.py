"""The page of tools: the runs of a turn with what was returned and what was seen, then all runs of the recording."""

from collections.abc import Iterator
from functools import partial

from ....run.row import Row
from ....run.rows import Rows
from ....tools.tool_run import ToolRun
from ...text.terminal_text import GLYPHS, width_of
from ...text.tool_text import run_spans_in
from ..formatting import several
from .blocks import Block, Goto, Spans
from .page import Page
from .sections import gap, rule
from .text_lines import flowing
from .timeline import timeline
from .tool_blocks import run_block

WHOLE = 40
"""Lines of a result that are shown before it is opened."""


def tools_page(rows: Rows, place: int) -> Page:
    """The runs of the round trip at `place`, those that no call explains, and the way to all others."""
    if not any(row.is_tool_wire for row in rows.all):
        text = "No messages of tool servers were recorded. `turntape run` records those of known clients."
        return Page("tools", [Block("none", (), flowing([(text, "dim")]))])
    return Page("tools", [*_here(rows, place), *_everywhere(rows)])


def _here(rows: Rows, place: int) -> Iterator[Block]:
    row = rows.all[place]
    yield Block("here", rule(f"tool runs of {rows.name_of(place)}", several(len(row.tool_runs), "run")))
    if not row.tool_runs:
        yield Block("here:none", (), flowing([(_why_none(row), "dim")]), indent=2)
    for run in row.tool_runs:
        yield run_block(run, indent=2, number=True, preview=WHOLE)
    after = rows.after(place)
    yield from timeline(row, rows.all[after] if after is not None else None)


def _why_none(row: Row) -> str:
    if not row.is_turn:
        return "this round trip is not a turn"
    return "none of its calls was seen on the wire of a tool server" if row.calls else "this turn calls no tool"


def _everywhere(rows: Rows) -> Iterator[Block]:
    found = [(place, run) for place, row in enumerate(rows.all) for run in row.tool_runs]
    found.sort(key=lambda one: one[1].started_at)
    yield gap("all")
    yield Block("all", rule("all tool runs", several(len(found), "run")), group=True, anchors=("all",))
    for place, run in found:
        where = rows.name_of(place) if rows.all[place].is_turn else ""
        title = partial(_title, where, run)
        key = f"all:{run.session}:{run.index}:{run.call_id}"
        yield Block(key, title, indent=2, parent="all", goto=Goto(place, f"tool_run/{run.index}", "tools"))


def _title(where: str, run: ToolRun, width: int) -> Spans:
    lead: Spans = [(f"{where:<10} ", "dim"), (f"{GLYPHS['tool']} ", "tool")]
    return [*lead, *run_spans_in(run, width - 2 - sum(width_of(text) for text, _ in lead))]
