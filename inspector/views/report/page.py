"""The page in pieces, so that the text of a long run is never completely in memory."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Protocol

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.excerpts import listed

from ...ledger import Ledger
from ...run.detail import Detail
from ...run.filters import FIELDS
from ...run.growth import GrowthStep, steps
from ...run.row import Row
from ...run.rows import Rows
from ...run.run_index import Run
from ...run.strip import strip_of
from ...run.totals import totals
from ..text.number_format import begun, count, lasted, several, spent
from ..text.short_names import distinct_models
from .colours import colours_of_kinds, colours_of_styles
from .costs import costs, printed_costs
from .findings_list import findings, name_of
from .growth_strip import growth_strip
from .later import Later
from .markup import Html, Markup, joined, link, span, tag
from .neutral import NeutralRun
from .packed import Blocks, node, packed
from .raw_bodies import RawBodies
from .timeline_page import timeline_page
from .turn_list import column_heads, dearest, groups, turn_line
from .turn_request import Shown
from .turn_view import turn_view

LABEL = 4
"""Characters of a turn's name that each list has room for."""
STATIC = 200
"""How many findings are in the page itself; the others need its script."""
PRINTED = 40
"""How many turns with errors a print shows."""
REDACTED = "Prose and code are replaced by neutral text of equal length."
NONE = "No turn and no finding fits the filter."
"""What a page says when its filter leaves nothing."""
KEYS = (
    ("j k ↓ ↑", "next, previous line"),
    ("Home End", "first, last line"),
    ("n N", "next, previous line with a finding"),
    ("e E", "next, previous line with an error"),
    ("Enter →", "read the turn; ← or Esc goes back"),
    ("f", "turns, findings, costs, timeline"),
    ("$", "the growth in dollars or in tokens"),
    ("o", "open or close all folds of the turn"),
    ("/", 'filter: all words, "two words" together, -word excludes, is:error; Esc clears it'),
    ("t", "light, dark, or as the system"),
    ("?", "this help"),
)


class Reported(Protocol):
    """A run as the report reads it."""

    @property
    def rows(self) -> Rows: ...

    @property
    def problems(self) -> list[str]: ...

    @property
    def ledger(self) -> Ledger: ...

    def detail(self, place: int) -> Detail: ...


def report(run: Run, title: str, *, redacted: bool = False) -> Iterator[str]:
    """The page of a run; `redacted`: with neutral text of equal length in place of all prose and code."""
    run.in_order()
    yield from _page(NeutralRun(run) if redacted else run, title, redacted=redacted)


def _page(run: Reported, title: str, *, redacted: bool) -> Iterator[str]:
    rows = run.rows
    grown, later = list(steps(enumerate(rows.all))), Later()
    yield f'<!doctype html>\n<html lang="en">{_head(title)}<body>\n'
    yield str(_banner(run, title, redacted=redacted))
    if grown:
        strip = growth_strip(strip_of(rows.all, run.ledger), later)
        yield str(tag("section", strip, id="growth", aria_label="growth"))
    yield "<main>\n"
    yield str(_list(run))
    yield str(tag("div", tag("p", "Choose a turn.", class_="dim"), id="turn", tabindex="0", role="region",
                  aria_label="the chosen turn"))  # fmt: skip
    yield "</main>\n"
    yield str(tag("section", id="print", hidden=True)) + str(_help())
    blocks = Blocks()
    for block in _views(run, grown, blocks, raw=not redacted):
        yield _data("block", block)
    yield _data("index", packed({**_index(run, blocks), "later": later.nodes}))
    yield f"<script>{_file('page.js')}</script></body></html>\n"


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _data(name: str, value: str) -> str:
    """Packed data in an element that no browser runs."""
    return f'<script type="text/turntape-{name}">{value}</script>\n'


def _head(title: str) -> Html:
    allowed = b64encode(sha256(_file("page.js").encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{allowed}'"
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} – turntape"),
        Markup(f"<style>{colours_of_styles()} {colours_of_kinds()}\n{_file('page.css')}</style>"),
    )


def _views(run: Reported, grown: Sequence[GrowthStep], blocks: Blocks, *, raw: bool) -> Iterator[str]:
    """The views of all round trips, in packed blocks."""
    by_place = {step.place: step for step in grown}
    shown, bodies, ledger = Shown(), RawBodies(blocks.texts), run.ledger
    for place in range(len(run.rows.all)):
        view: dict[str, object] = {}
        try:
            detail = run.detail(place)
            view["view"] = node(
                turn_view(detail, run.rows, place, by_place.get(place), ledger.at(place), shown), blocks.texts
            )
            if raw:
                view["raw"] = bodies.of(detail, place)
        except CassetteError as exc:
            view["view"] = node(tag("p", f"This round trip cannot be read: {exc}", class_="bad"))
        if (block := blocks.add(view)) is not None:
            yield block
    if (block := blocks.close()) is not None:
        yield block


def _index(run: Reported, blocks: Blocks) -> dict[str, object]:
    """What the page needs before a turn is opened."""
    rows = run.rows
    most = dearest(rows)
    found = [*findings(rows)]
    return {
        "rows": [node(turn_line(place, row, most)) for place, row in enumerate(rows.all)],
        "threads": [row.thread for row in rows.all],
        "fields": list(FIELDS),
        "none": NONE,
        "worst": [row.worst for row in rows.all],
        "quiet": [row.is_quiet for row in rows.all] if len(rows.threads) <= 1 else [],
        "groups": [
            {"head": None if one.head is None else node(one.head), "places": [*one.places], "open": one.is_open}
            for one in groups(rows)
        ],
        "first": rows.first_trouble(),
        "printed": _printed(run),
        "findings": [node(one) for one in found[STATIC:]],
        "panels": {"costs": node(costs(run.ledger, rows)), "timeline": node(timeline_page(rows))},
        "views": blocks.first_places,
        "texts": blocks.first_texts,
    }


def _printed(run: Reported) -> dict[str, object]:
    """What a print shows beside the findings: the costs, the turns with errors, and how many there was no room for."""
    rows = run.rows
    places = [place for place, row in enumerate(rows.all) if row.worst == "error"]
    note = f"The first {PRINTED} of {len(places):,} turns with errors are printed." if len(places) > PRINTED else ""
    return {"costs": node(printed_costs(run.ledger, rows)), "places": places[:PRINTED], "note": note}


def _banner(run: Reported, title: str, *, redacted: bool) -> Html:
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
    cached = f" ({count(sums.cache_read)} cache read)" if sums.cache_read else ""
    known = sums.input is not None or sums.output is not None
    facts += [f"{count(sums.input)} tokens in{cached}, {count(sums.output)} out"] if known else []
    facts.append(lasted(sums.seconds * 1000))
    models = distinct_models(sums.models)
    facts += [listed(models, 3)] if models else []
    if rows and (began := begun(rows[0].started_at)):
        facts.append(began)
    unpriced = (
        span("dim", f" ({several(sums.unpriced, 'request')} without a known price)")
        if sums.unpriced and sums.cost is not None
        else ""
    )
    return tag(
        "header",
        tag("h1", title),
        tag("p", span("money", spent(sums.cost, sums.unpriced)), unpriced, span("dim", " · " + " · ".join(facts))),
        tag("p", *_verdict(run), class_="verdict"),
        *(tag("p", f"! {problem}", class_="warn") for problem in run.problems),
        tag("p", REDACTED, class_="dim") if redacted else "",
        tag(
            "noscript",
            tag("p", "Scripts are switched off here. The findings are below; a turn needs the page's script."),
        ),
    )


def _verdict(run: Reported) -> Iterator[Html]:
    """How many problems were found, and where the run went wrong first."""
    rows = run.rows.all
    if not any(row.findings for row in rows):
        yield span("good", "no findings")
        return
    yield joined([part if not at else joined((", ", part)) for at, part in enumerate(_counts(rows))])
    place = run.rows.first_trouble()
    if place is not None:
        row = rows[place]
        mark = next(mark for mark in row.findings if mark.severity == row.worst)
        yield joined((" · first went wrong in ", link(place, name_of(run.rows, place)), f": {mark.layer}, {mark.id}"))


def _counts(rows: Sequence[Row]) -> Iterator[Html]:
    """How many findings there are of each severity."""
    sums = totals(rows)
    if sums.errors:
        yield span("bad", several(sums.errors, "error"))
    if sums.warnings:
        yield span("warn", several(sums.warnings, "warning"))
    if sums.infos:
        yield span("dim", f"{sums.infos:,} info")


def _list(run: Reported) -> Html:
    found = [*findings(run.rows)]
    tabs = [
        ("turns", "Turns"),
        ("findings", f"Findings ({len(found)})" if found else "Findings"),
        ("costs", "Costs"),
        ("timeline", "Timeline"),
    ]
    bar = tag(
        "div",
        tag("div", *(_tab(name, words, first=not at) for at, (name, words) in enumerate(tabs)), role="tablist"),
        tag("input", type="search", id="filter", placeholder="filter  /", aria_label="filter by any word"),
        tag("button", "?", id="ask", title="keys", aria_label="keys"),
        class_="tabs",
    )
    turns = tag("div", id="turns", role="tabpanel", aria_labelledby="tab-turns", tabindex="0")
    none = tag("p", NONE, id="nothing", class_="dim", hidden=True)
    shown = tag("ol", *found[:STATIC], class_="findings") if found else tag("p", "No findings.", class_="dim none")
    more = tag("p", f"{len(found) - STATIC:,} more findings need the page's script.", id="more", class_="dim")
    panel = [shown, *([tag("noscript", more)] if len(found) > STATIC else [])]
    marked = tag("div", *panel, id="findings", role="tabpanel", aria_labelledby="tab-findings", tabindex="0")
    others = [
        tag("div", id=name, role="tabpanel", aria_labelledby=f"tab-{name}", tabindex="0", hidden=True, class_="panel")
        for name in ("costs", "timeline")
    ]
    longest = max((len(row.label) for row in run.rows.all if row.is_turn), default=0)
    room = f"--label:{longest}.2ch" if longest > LABEL else None
    return tag("div", bar, column_heads(), none, turns, marked, *others, id="list", style=room)


def _tab(name: str, words: str, *, first: bool) -> Html:
    chosen = str(first).lower()
    return tag("button", words, id=f"tab-{name}", role="tab", aria_selected=chosen, aria_controls=name)


def _help() -> Html:
    lines = (tag("tr", tag("th", *_keys(keys)), tag("td", what)) for keys, what in KEYS)
    close = tag("form", tag("button", "close", autofocus=True), method="dialog")
    return tag("dialog", tag("h2", "Keys"), tag("table", *lines), close, id="help")


def _keys(keys: str) -> Iterator[Html]:
    for key in keys.split():
        yield tag("kbd", key)
