"""The summary at the end of a run, in a few lines."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from turntape.inspector.views.text.number_format import spent

from .run_totals import SEVERITIES, as_list, as_mapping, as_number


def summary_lines(totals: Mapping[str, object] | None, path: Path, count: int, colour: bool) -> list[str]:
    """What to print at the end of a run with `count` round trips.

    `totals` come from `RunTotals.as_json`; None when the labeller process sent none.
    """
    bold, dim, red, yellow, off = _colours(colour)
    if totals is None:
        return [
            f"{bold}turntape{off}  {_count(count, 'round trip')} recorded, not labelled",
            *_next(path, off, dim),
        ]
    parts = [_count(as_number(totals["turns"]), "turn"), _count(as_number(totals["tool_calls"]), "tool call")]
    if runs := as_number(totals.get("tool_runs")):
        parts.append(_count(runs, "tool run"))
    messages = as_number(totals.get("tool_messages"))
    if others := as_number(totals["round_trips"]) - as_number(totals["turns"]) - messages:
        parts.append(_count(others, "other round trip"))
    if failed := as_number(totals["failed"]):
        parts.append(f"{red}{failed} failed{off}")
    lines = [f"{bold}turntape{off}  {' · '.join(parts)}"]
    if totals["counted"]:
        lines.append(f"          {_tokens(totals)} · {_cost(totals)}")
    elif totals["uncounted"]:
        lines.append("          the API did not report token usage")
    counts = as_mapping(totals["findings"])
    found = [_count(as_number(counts[s]), s) if s != "info" else f"{counts[s]} info" for s in SEVERITIES if s in counts]
    if found:
        lines.append(f"          {red if 'error' in counts else yellow}{', '.join(found)}{off}")
        lines += [f"            {text}" for text in map(str, as_list(totals["worst"]))]
    else:
        lines.append("          no findings")
    if sent := as_number(as_mapping(totals.get("spans")).get("sent")):
        lines.append(f"          {_count(sent, 'span')} sent to the collector")
    lines += [f"          {yellow}{fault}{off}" for fault in map(str, as_list(totals["faults"]))]
    return [*lines, *_next(path, off, dim)]


def missed_spans(totals: Mapping[str, object] | None) -> str | None:
    """How many spans the collector does not have, and why, in one sentence; None when it has all."""
    counts = as_mapping(as_mapping(totals).get("spans"))
    missed = as_number(counts.get("dropped")) + as_number(counts.get("refused"))
    if not missed:
        return None
    why = counts.get("problem") or "there was no room for them while the collector did not answer"
    whole = missed + as_number(counts.get("sent"))
    return (
        f"{missed:,} of {_count(whole, 'span')} did not reach the collector: {why}; "
        "they can be made again with `turntape export --format otel`"
    )


def _next(path: Path, off: str, dim: str) -> list[str]:
    return [f"          {dim}recorded in{off} {path}", f"          {dim}next:{off} turntape show {path}"]


def _tokens(totals: Mapping[str, object]) -> str:
    cached = f" ({as_number(totals['cache_read']):,} cached)" if totals["cache_read"] else ""
    counted = f"{as_number(totals['input']):,} tokens in{cached}, {as_number(totals['output']):,} out"
    uncounted = as_number(totals["uncounted"])
    return f"{counted} ({_count(uncounted, 'turn')} not counted)" if uncounted else counted


def _cost(totals: Mapping[str, object]) -> str:
    unpriced = as_number(totals["unpriced"])
    cost = totals["cost_usd"]
    shown = spent(None if cost is None else Decimal(str(cost)), unpriced)
    if cost is None:
        return shown
    return f"{shown} ({_count(unpriced, 'request')} without a known price)" if unpriced else shown


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _colours(colour: bool) -> tuple[str, ...]:
    return ("\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m") if colour else ("",) * 5
