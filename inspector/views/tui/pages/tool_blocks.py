"""Tool runs as blocks: a title with the facts, and the result as returned beside the result as seen."""

from collections.abc import Iterator, Sequence
from functools import partial

from ....run.row import Row
from ....tools.run_words import WHOLE
from ....tools.tool_run import ToolRun
from ...text.terminal_text import GLYPHS, width_of
from ...text.tool_diff import DiffPair, as_returned, as_seen, cut_note, diff_lines, diff_pairs, left_out_text
from ...text.tool_text import run_spans_in
from .blocks import Block, Body, Goto, Spans
from .text_lines import Prose, prose

WIDE = 76
"""From this many cells on, the two texts are side by side."""
PREVIEW = 8
"""Lines that are shown before the block is opened."""


def run_block(
    run: ToolRun, *, indent: int, number: bool = False, preview: int = PREVIEW, goto: Goto | None = None
) -> Block:
    """A run; where the model saw another result than was returned, with both."""
    shown = 0 if run.seen_as in WHOLE and not number else preview
    return Block(
        f"tool_run:{run.session}:{run.index}:{run.call_id}",
        partial(_title, run, indent, number),
        _body(run),
        open=False,
        preview=shown,
        indent=indent,
        anchors=(f"tool_run/{run.index}",),
        goto=goto,
    )


def _title(run: ToolRun, indent: int, number: bool, width: int) -> Spans:
    return [(f"{GLYPHS['tool']} ", "tool"), *run_spans_in(run, width - indent - 4, number=number)]


def runs_of_call(row: Row, number: int, call_id: str | None) -> Iterator[ToolRun]:
    """The runs of the call with this place and id. Without ids, all runs are below the last call."""
    for run in row.tool_runs:
        if run.call_id == call_id and (call_id is not None or number == len(row.calls) - 1):
            yield run


def _body(run: ToolRun) -> Body:
    if run.seen_as in WHOLE:
        return prose(as_returned(run) or "nothing was returned", "plain" if as_returned(run) else "dim")
    return lambda width: list(_both(run, width))


def _both(run: ToolRun, width: int) -> Iterator[Spans]:
    """The two texts: side by side, or one list of lines where there is no room."""
    returned, seen = as_returned(run), as_seen(run)
    if width >= WIDE:
        yield from _side_by_side(list(diff_pairs(returned, seen)), (width - 3) // 2)
    else:
        yield [("− as returned  ", "removed"), ("+ as seen", "added")]
        marks = {"equal": ("  ", "dim"), "removed": ("− ", "removed"), "added": ("+ ", "added")}
        for one in diff_lines(returned, seen):
            mark, look = marks[one.change]
            for at, line in enumerate(Prose(one.text, width - 2, look)):
                yield [("  " if at else mark, look), *line]
    if note := cut_note(run):
        yield [(note, "dim")]


def _side_by_side(pairs: Sequence[DiffPair], cells: int) -> Iterator[Spans]:
    yield [("as returned".ljust(cells), "bold"), (" │ ", "faint"), ("as seen by the model", "bold")]
    for pair in pairs:
        if pair.left_out:
            text = left_out_text(pair)
            yield [(text.ljust(cells), "dim"), (" │ ", "faint"), (text, "dim")]
            continue
        left = _column(pair.returned, cells, "dim" if pair.equal else "removed")
        right = _column(pair.seen, cells, "dim" if pair.equal else "added")
        for at in range(max(len(left), len(right))):
            one = left[at] if at < len(left) else (" " * cells, "plain")
            other = right[at] if at < len(right) else ("", "plain")
            yield [one, (" │ ", "faint"), other]


def _column(text: str | None, cells: int, look: str) -> list[tuple[str, str]]:
    """A text in lines of exactly `cells` cells; none for a side that has no such line."""
    if text is None:
        return []
    return [(line[0][0] + " " * max(0, cells - width_of(line[0][0])), look) for line in Prose(text, cells, look)]
