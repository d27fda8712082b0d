"""The page in pieces, so that the text of a long run is never completely in memory."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files

from turntape.cassettes.errors import CassetteError

from ...run.growth import GrowthStep, steps
from ...run.row import Row
from ...run.run_index import Run
from ...run.totals import totals
from ..text.number_format import count, dollars, lasted, several
from .findings_list import findings_list
from .growth_chart import growth_chart
from .markup import Html, joined, link, span, tag
from .turn_list import turn_list
from .turn_request import Shown
from .turn_view import turn_view

RAW, RAW_LEAST, RAW_WHOLE = 20_000, 1_000, 6_000_000
"""Characters of each raw body, at most and at least, and of all raw bodies together."""
KEYS = (
    ("j k ↓ ↑", "next, previous line"),
    ("Home End", "first, last line"),
    ("n p", "next, previous line with a finding"),
    ("Enter →", "read the turn; ← or Esc goes back"),
    ("f", "turns or findings"),
    ("o", "open or close all folds of the turn"),
    ("/", "filter by any word; Esc clears it"),
    ("t", "light, dark, or as the system"),
    ("?", "this help"),
)


def report(run: Run, title: str) -> Iterator[str]:
    """The page of a run."""
    rows = run.rows
    grown = list(steps(enumerate(rows.all)))
    script, style = (files(__package__).joinpath(name).read_text("utf-8") for name in ("page.js", "page.css"))
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} – turntape"),
        Html(f"<style>{style}</style>"),
    )
    yield f'<!doctype html>\n<html lang="en">{head}<body>\n'
    yield _banner(run, title)
    yield tag("section", growth_chart(grown), id="growth") if grown else ""
    yield "<main>\n"
    yield _aside(run)
    yield tag("div", tag("p", "Choose a turn.", class_="dim"), id="turn", tabindex="-1")
    yield "</main>\n"
    yield _help()
    by_place: dict[int, GrowthStep] = {step.place: step for step in grown}
    shown = Shown(max(RAW_LEAST, min(RAW, RAW_WHOLE // (2 * max(1, len(rows.all))))))
    for place in range(len(rows.all)):
        try:
            view = turn_view(run.detail(place), rows, place, by_place.get(place), shown)
        except CassetteError as exc:
            view = tag("p", f"This round trip cannot be read: {exc}", class_="bad")
        yield tag("template", view, id=f"view-{place}") + "\n"
    yield f"<script>{script}</script></body></html>\n"


def _banner(run: Run, title: str) -> Html:
    rows = run.rows.all
    sums = totals(rows)
    facts = [several(sums.turns, "turn")]
    if sums.retries:
        facts.append(several(sums.retries, "more attempt"))
    if sums.threads > 1:
        facts.append(several(sums.threads, "thread"))
    if sums.tool_runs:
        facts.append(several(sums.tool_runs, "tool run"))
    elif sums.tool_messages:
        facts.append(several(sums.tool_messages, "message") + " of tool servers")
    if sums.others:
        facts.append(several(sums.others, "other round trip"))
    cached = f" ({count(sums.cache_read)} from the cache)" if sums.cache_read else ""
    facts += [f"{count(sums.input)} tokens in{cached}, {count(sums.output)} out", lasted(sums.seconds * 1000)]
    facts += [", ".join(sums.models[:3]) + (" …" if len(sums.models) > 3 else "")] if sums.models else []
    if rows:
        facts.append(datetime.fromtimestamp(rows[0].started_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC"))
    unpriced = span("dim", f" ({several(sums.unpriced, 'turn')} unpriced)") if sums.unpriced and sums.cost else ""
    return tag(
        "header",
        tag("h1", title),
        tag("p", span("money", dollars(sums.cost)), unpriced, span("dim", " · " + " · ".join(facts))),
        tag("p", *_verdict(run), class_="verdict"),
        *(tag("p", f"! {problem}", class_="warn") for problem in run.problems),
        tag("noscript", tag("p", "This page needs its script to open a turn, and scripts are switched off here.")),
    )


def _verdict(run: Run) -> Iterator[Html]:
    """How many problems were found, and where the run went wrong first."""
    rows = run.rows.all
    if not any(row.findings for row in rows):
        yield span("good", "no findings")
        return
    yield joined([part if not at else joined((", ", part)) for at, part in enumerate(_counts(rows))])
    first = next(((place, row) for place, row in enumerate(rows) if row.worst == "error"), None)
    if first is not None:
        place, row = first
        mark = next(mark for mark in row.findings if mark.severity == "error")
        where = f"turn {row.turn} of {row.thread}" if row.is_turn else f"round trip #{row.index}"
        yield joined((" · first went wrong in ", link(place, where), f": {mark.layer}, {mark.id}"))


def _counts(rows: Sequence[Row]) -> Iterator[Html]:
    """How many findings there are of each severity."""
    sums = totals(rows)
    if sums.errors:
        yield span("bad", several(sums.errors, "error"))
    if sums.warnings:
        yield span("warn", several(sums.warnings, "warning"))
    infos = sum(mark.severity == "info" for row in rows for mark in row.findings)
    if infos:
        yield span("dim", f"{infos:,} info")


def _aside(run: Run) -> Html:
    found = sum(len(row.findings) for row in run.rows.all)
    tabs = tag(
        "div",
        tag("button", "Turns", id="tab-turns", role="tab", aria_selected="true", aria_controls="turns"),
        tag(
            "button",
            f"Findings ({found})",
            id="tab-findings",
            role="tab",
            aria_selected="false",
            aria_controls="findings",
        ),
        tag("input", type="search", id="filter", placeholder="filter  /", aria_label="filter by any word"),
        tag("button", "?", id="ask", title="keys", aria_label="keys"),
        class_="tabs",
        role="tablist",
    )
    turns = tag("nav", turn_list(run.rows), id="turns", aria_label="turns")
    none = tag("p", "No turn or finding has these words.", id="nothing", class_="dim", hidden=True)
    findings = tag("section", findings_list(run.rows), id="findings", hidden=True, aria_label="findings")
    return tag("div", tabs, turns, none, findings, id="list")


def _help() -> Html:
    lines = (tag("tr", tag("th", *_keys(keys)), tag("td", what)) for keys, what in KEYS)
    close = tag("form", tag("button", "close", autofocus=True), method="dialog")
    return tag("dialog", tag("h2", "Keys"), tag("table", *lines), close, id="help")


def _keys(keys: str) -> Iterator[Html]:
    for key in keys.split():
        yield tag("kbd", key)
