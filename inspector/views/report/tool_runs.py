"""Tool runs in the report: the facts of each, its result as returned beside the result as seen, and the timeline."""

from collections.abc import Iterable, Iterator

from ...run.row import Row
from ...run.tool_lanes import timeline_of
from ...tools.run_words import WHOLE
from ...tools.tool_run import ToolRun
from ..text.number_format import lasted
from ..text.terminal_text import GLYPHS
from ..text.tool_diff import as_returned, as_seen, cut_note, diff_pairs, left_out_text
from ..text.tool_text import run_spans
from .markup import NOTHING, Html, joined, span, tag
from .text_blocks import block


def run_block(run: ToolRun, *, number: bool = False) -> Html:
    """One run; where the model saw another result than was returned, with both."""
    head = [span("tool", f"{GLYPHS['tool']} "), *(span(look, text) for text, look in run_spans(run, number=number))]
    if run.seen_as in WHOLE:
        body = block(as_returned(run), shut=not number)
    else:
        body = _both(run)
    note = tag("p", cut_note(run), class_="dim") if cut_note(run) else ""
    return tag("div", tag("div", *head), body, note, class_="run")


def runs_of_call(row: Row, number: int, call_id: str | None) -> Iterator[Html]:
    """The runs of the call with this place and id. Without ids, all runs are below the last call."""
    for run in row.tool_runs:
        if run.call_id == call_id and (call_id is not None or number == len(row.calls) - 1):
            yield run_block(run)


def _both(run: ToolRun) -> Html:
    """The two texts side by side, line by line."""
    heads = tag("tr", tag("th", "as returned"), tag("th", "as seen by the model"))
    rows: list[Html] = []
    for pair in diff_pairs(as_returned(run), as_seen(run)):
        if pair.left_out:
            rows.append(tag("tr", tag("td", left_out_text(pair), colspan=2, class_="dim")))
        else:
            rows.append(
                tag("tr", _side(pair.returned, "del", equal=pair.equal), _side(pair.seen, "ins", equal=pair.equal))
            )
    return tag("table", heads, *rows, class_="sides")


def _side(text: str | None, changed: str, *, equal: bool) -> Html:
    if text is None:
        return tag("td")
    return tag("td", text if equal else tag(changed, text), class_="dim" if equal else None)


def tools_layer(runs: Iterable[ToolRun]) -> Html:
    """The runs of a turn in a few words: each with its time, then what the model did not see."""
    parts: list[Html] = []
    for number, run in enumerate(runs):
        parts.append(joined((", " if number else "", run.name, span("dim", f" {lasted(run.duration_ms)}"))))
        if run.is_error or run.outcome != "answered":
            parts.append(span("bad", " ✗"))
        if run.seen_as not in WHOLE:
            parts.append(span("warn", " not seen as returned"))
    return joined(parts)


def timeline(row: Row, after: Row | None) -> Html:
    """The lanes of a turn; nothing for a turn without tool runs."""
    found = timeline_of(row, after)
    if found is None:
        return NOTHING
    note = f"{lasted(found.milliseconds)} to the last result"
    if found.idle is not None:
        note += f", the next request {lasted(found.idle)} later"
    lanes = [
        tag(
            "div",
            tag("span", span(lane.layer, GLYPHS[lane.layer]), f" {lane.name}", class_="lane-name"),
            tag(
                "span",
                tag(
                    "span",
                    class_=f"ran {'bad' if lane.failed else lane.layer}",
                    style=f"left:{lane.start:.2%};width:{max(0.003, lane.stop - lane.start):.2%}",
                ),
                class_="lane-bar",
            ),
            span("dim", lasted(lane.milliseconds) + (" ✗" if lane.failed else "")),
            class_="lane",
        )
        for lane in found.lanes
    ]
    return tag("section", tag("h3", "Timeline ", span("dim", note)), *lanes)
