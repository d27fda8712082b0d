"""What a run came to, in a few lines: counts from the labels, or, when nothing was recorded, what to try."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from shlex import join
from textwrap import wrap

from ..launch.runtimes import identify

SEVERITIES = ("error", "warning", "info")
"""Worst first."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the totals need of one label; a later label of the same round trip takes its place."""

    turn: bool
    calls: int
    usage: tuple[int, int, int] | None
    """Input, of it cached, output; None when the API did not say."""
    cost: Decimal | None
    failed: bool
    findings: tuple[tuple[str, str], ...]
    """(severity, one line)."""


class Totals:
    """Running totals over labels as `show --json` writes them."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, object, object], Row] = {}
        self._faults: list[str] = []

    def fault(self, sentence: str) -> None:
        """Note that something of ours failed; the first is told at the end."""
        self._faults.append(sentence)

    def add(self, index: int, label: Mapping[str, object]) -> None:
        model, usage = _mapping(label.get("model")), _mapping(label.get("usage"))
        api, cost = _mapping(label.get("api")), label.get("cost_usd")
        status = label.get("status")
        # A WebSocket session is one round trip with many turns.
        self._rows[(index, label.get("thread"), label.get("turn"))] = Row(
            turn=label.get("turn") is not None,
            calls=len(_list(model.get("tool_calls"))),
            usage=_counted(usage),
            cost=Decimal(cost) if isinstance(cost, str) else None,
            failed=api.get("error") is not None or not isinstance(status, int) or status >= 400,
            findings=tuple(
                (str(f.get("severity")), f"{f.get('layer')}: {f.get('message')} ({_where(f, index)})")
                for f in map(_mapping, _list(label.get("findings")))
            ),
        )

    @property
    def cost(self) -> Decimal | None:
        """The cost so far; None when nothing could be priced."""
        priced = [row.cost for row in self._rows.values() if row.cost is not None]
        return sum(priced, Decimal(0)) if priced else None

    def as_json(self) -> dict[str, object]:
        rows = self._rows.values()
        turns = [row for row in rows if row.turn]
        found = [finding for row in rows for finding in row.findings]
        return {
            "round_trips": len(rows),
            "turns": len(turns),
            "failed": sum(row.failed for row in rows),
            "tool_calls": sum(row.calls for row in rows),
            "input": sum(row.usage[0] for row in rows if row.usage),
            "cache_read": sum(row.usage[1] for row in rows if row.usage),
            "output": sum(row.usage[2] for row in rows if row.usage),
            "uncounted": sum(row.usage is None and not row.failed for row in turns),
            "counted": sum(row.usage is not None for row in rows),
            "cost_usd": None if self.cost is None else str(self.cost),
            "unpriced": sum(row.cost is None and not row.failed for row in turns),
            "findings": Counter(severity for severity, _ in found),
            "faults": self._faults[:1],
            "worst": [text for severity in SEVERITIES[:2] for s, text in found if s == severity][:3],
        }


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}  # pyright: ignore[reportUnknownVariableType]


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()  # pyright: ignore[reportUnknownVariableType]


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _counted(usage: Mapping[str, object]) -> tuple[int, int, int] | None:
    if usage.get("input") is None and usage.get("output") is None:
        return None
    return _number(usage.get("input")), _number(usage.get("cache_read")), _number(usage.get("output"))


def _where(finding: Mapping[str, object], index: int) -> str:
    evidence = _list(finding.get("evidence"))
    return str(evidence[0]) if evidence else f"#{index}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What came to the proxy and was no LLM traffic."""

    tunnelled: Mapping[str, int] = field(default_factory=dict[str, int])
    """Connections that were passed on untouched, by host."""
    distrusted: Mapping[str, int] = field(default_factory=dict[str, int])
    """Handshakes that the client broke off because it does not trust our certificate, by host."""
    bypassed: Mapping[str, int] = field(default_factory=dict[str, int])
    """Connections that the command made past the proxy, by place and program; only where it could be looked at."""


def summary_lines(totals: Mapping[str, object] | None, path: Path, count: int, colour: bool) -> list[str]:
    """The end of a run. `totals` is None when the reader beside the proxy did not answer."""
    bold, dim, red, yellow, off = _colours(colour)
    if totals is None:
        return [
            f"{bold}turntape{off}  {_count(count, 'round trip')} recorded, not labelled",
            *_next(path, off, dim),
        ]
    parts = [_count(_number(totals["turns"]), "turn"), _count(_number(totals["tool_calls"]), "tool call")]
    if others := _number(totals["round_trips"]) - _number(totals["turns"]):
        parts.append(_count(others, "other round trip"))
    if failed := _number(totals["failed"]):
        parts.append(f"{red}{failed} failed{off}")
    lines = [f"{bold}turntape{off}  {' · '.join(parts)}"]
    if totals["counted"]:
        lines.append(f"          {_tokens(totals)} · {_cost(totals)}")
    elif totals["uncounted"]:
        lines.append("          the API did not say how many tokens that took")
    counts = _mapping(totals["findings"])
    found = [_count(_number(counts[s]), s) if s != "info" else f"{counts[s]} info" for s in SEVERITIES if s in counts]
    if found:
        lines.append(f"          {red if 'error' in counts else yellow}{', '.join(found)}{off}")
        lines += [f"            {text}" for text in map(str, _list(totals["worst"]))]
    else:
        lines.append("          no findings")
    lines += [f"          {yellow}{fault}{off}" for fault in map(str, _list(totals["faults"]))]
    return [*lines, *_next(path, off, dim)]


def _next(path: Path, off: str, dim: str) -> list[str]:
    return [f"          {dim}recorded in{off} {path}", f"          {dim}next:{off} turntape show {path}"]


def _tokens(totals: Mapping[str, object]) -> str:
    cached = f" ({_number(totals['cache_read']):,} cached)" if totals["cache_read"] else ""
    told = f"{_number(totals['input']):,} tokens in{cached}, {_number(totals['output']):,} out"
    uncounted = _number(totals["uncounted"])
    return f"{told} ({_count(uncounted, 'turn')} not counted)" if uncounted else told


def _cost(totals: Mapping[str, object]) -> str:
    unpriced = _number(totals["unpriced"])
    if totals["cost_usd"] is None:
        return "no price known"
    cost = Decimal(str(totals["cost_usd"]))
    # Small amounts need their digits, large ones only cents.
    shown = f"${cost:.6f}".rstrip("0").rstrip(".") if cost < 1 else f"${cost:,.2f}"
    return f"{shown} ({_count(unpriced, 'turn')} without a known price)" if unpriced else shown


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _colours(colour: bool) -> tuple[str, ...]:
    return ("\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m") if colour else ("",) * 5


STANDING = "export the lines above in the shell that starts the client"


def advice(command: Sequence[str]) -> str:
    """What to try for this command, by the runtime that it starts; without one, for a standing proxy."""
    if not command:
        return STANDING
    return identify(command, os.environ).runtime.advice


def nothing_lines(seen: Seen, command: Sequence[str], authority: Path, colour: bool) -> list[str]:
    """The end of a recording without a round trip: what was seen instead, and what to try."""
    bold, dim, _, yellow, off = _colours(colour)
    lines = [f"{bold}turntape{off}  {yellow}no LLM API was called through the proxy{off}"]

    def tell(seen: str, tip: str) -> None:
        lines.extend(f"          {line}" for line in wrap(seen, 70))
        first, *rest = wrap(tip, 65)
        lines.append(f"          {dim}try:{off} {first}")
        lines.extend(f"               {line}" for line in rest)

    if seen.distrusted:
        tell(
            f"the client does not trust turntape's certificate for {_hosts(seen.distrusted)}",
            f"a base URL, or give its own CA list our certificate: {authority}",
        )
    if seen.tunnelled:
        tell(
            f"passed on untouched: {_hosts(seen.tunnelled)}",
            "--intercept HOST, if one of them is an LLM API",
        )
    if seen.bypassed:
        tell(f"the command connected past the proxy to {_hosts(seen.bypassed)}", advice(command))
    elif not seen.distrusted and not seen.tunnelled:
        tell("nothing at all came to it", advice(command))
    if command:
        lines.append(f"          {dim}why:{off} turntape doctor -- {join(command)}")
    return lines


def _hosts(counts: Mapping[str, int]) -> str:
    most: Iterable[tuple[str, int]] = sorted(counts.items(), key=lambda item: -item[1])
    shown = [f"{host} ({number})" if number > 1 else host for host, number in most]
    return ", ".join(shown[:6]) + (f" and {len(shown) - 6} more" if len(shown) > 6 else "")
