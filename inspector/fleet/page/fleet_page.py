"""The overview as one HTML page without scripts: it opens from a folder, in a mail, and as an artifact of a CI job."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from importlib.resources import files
from shlex import quote

from ...views.fleet_figures import Group, Overview, RunFigures
from ...views.report.colours import colours_of_styles
from ...views.report.markup import Html, Markup, joined, span, tag
from ...views.text.fleet_costs import bill, highest_bill, missing, named
from ...views.text.number_format import count, several, spent
from ...views.text.terminal_text import GLYPHS

BARS = 120
"""With more days than this, several share a bar."""
_SPANS = ((1, "day"), (7, "week"), (30, "30 days"), (365, "365 days"))
"""Days in a bar, and how such a bar is called."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
UNKNOWN = "not known"


def fleet_page(found: Overview, reports: Mapping[str, str] | None = None) -> str:
    """The page. `reports` has the file of the report for the address of a run, relative to the page."""
    style = files(__package__).joinpath("fleet.css").read_text("utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width"),
        tag("title", f"turntape fleet · {found.first} to {found.last}"),
        tag("style", Markup(f"{colours_of_styles()}\n{style}")),
    )
    body = tag(
        "body",
        tag(
            "header",
            tag("h1", "What the agents did, and what it cost"),
            tag("p", f"{found.first} to {found.last} · {found.store}", class_="dim"),
        ),
        _tiles(found),
        _days(found.days),
        tag(
            "div",
            _groups("Branches", found.branches),
            _groups("Agents", found.agents),
            _groups("Models", found.models),
            _findings(found),
            class_="blocks",
        ),
        _worst(found.worst, reports or {}),
        tag(
            "footer",
            "✗ errors and ! warnings are findings that follow from no other. ≥ is at least: a part has no known price. "
            "Days are in UTC. Made by ",
            tag("code", "turntape fleet"),
            "; ",
            tag("code", "turntape query"),
            " asks anything else.",
        ),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _tiles(found: Overview) -> Html:
    whole = found.whole
    cached = f"{found.cached * 100 // found.input} %" if found.input else "–"
    tiles = [
        (count(whole.runs), "run" if whole.runs == 1 else "runs", ""),
        (count(whole.turns), "turn" if whole.turns == 1 else "turns", ""),
        (spent(whole.cost, whole.unpriced), missing(found) or "in all", "money"),
        (count(whole.errors), "error" if whole.errors == 1 else "errors", "bad" if whole.errors else ""),
        (count(whole.warnings), "warning" if whole.warnings == 1 else "warnings", "warn" if whole.warnings else ""),
        (cached, f"of {count(found.input)} input tokens from the cache", ""),
    ]
    if whole.failed:
        tiles.insert(1, (count(whole.failed), "failed by verdict", "bad"))
    return tag(
        "div",
        *(
            tag("div", tag("b", value, class_=style), tag("span", words), class_="tile")
            for value, words, style in tiles
        ),
        class_="tiles",
    )


def _days(every: Sequence[Group]) -> Html:
    size, name = next((one for one in _SPANS if len(every) <= BARS * one[0]), _SPANS[-1])
    days = [_sum(every[at : at + size]) for at in range(0, len(every), size)] if size > 1 else every
    highest = max((one.cost or Decimal(0) for one in days), default=Decimal(0))
    bars = [
        tag(
            "div",
            tag("em", str(one.errors) if one.errors else ""),
            tag("i", style=f"height:{_percent(one.cost, highest)}%"),
            class_="day" if one.runs else "day none",
            title=f"{one.name}: {several(one.runs, 'run')}, {bill(one)}, {several(one.errors, 'error')}, "
            f"{several(one.warnings, 'warning')}",
        )
        for one in days
    ]
    return tag(
        "section",
        tag("h2", f"Cost by {name} ", span("dim", "with the number of errors")),
        tag("div", *bars, class_="days", role="img", aria_label=f"Cost by {name}"),
        tag(
            "div",
            tag("span", every[0].name if every else ""),
            tag("span", f"highest {highest_bill(days)}"),
            tag("span", every[-1].name if every else ""),
            class_="ends",
        ),
    )


def _sum(days: Sequence[Group]) -> Group:
    """Several days as one."""
    costs = [one.cost for one in days if one.cost is not None]
    return Group(
        days[0].name if len(days) == 1 else f"{days[0].name} to {days[-1].name}",
        sum(one.runs for one in days),
        sum(one.turns for one in days),
        sum(costs, Decimal(0)) if costs else None,
        sum(one.errors for one in days),
        sum(one.warnings for one in days),
        sum(one.failed for one in days),
        sum(one.unpriced for one in days),
    )


def _percent(cost: Decimal | None, highest: Decimal) -> int:
    return int(86 * (cost or 0) / highest) if highest else 0


def _groups(title: str, groups: Sequence[Group]) -> Html:
    highest = max((one.cost or Decimal(0) for one in groups), default=Decimal(0))
    head = tag(
        "tr",
        *(
            tag("th", one, class_=style)
            for one, style in (
                (title, ""),
                ("", "wide"),
                ("cost", "number"),
                ("runs", "number"),
                ("✗", "number"),
                ("!", "number"),
            )
        ),
    )
    rows = [
        tag(
            "tr",
            tag("td", one.name or span("dim", UNKNOWN), class_="name"),
            tag("td", tag("div", class_="bar", style=f"width:{_percent(one.cost, highest)}%"), class_="wide"),
            tag("td", bill(one), class_="number money"),
            tag("td", count(one.runs), class_="number"),
            tag("td", count(one.errors), class_="number bad" if one.errors else "number dim"),
            tag("td", count(one.warnings), class_="number warn" if one.warnings else "number dim"),
        )
        for one in groups
    ]
    return tag("section", tag("div", tag("table", head, *rows), class_="scrolls"))


def _findings(found: Overview) -> Html:
    head = tag("tr", tag("th", "Findings"), tag("th", "times", class_="number"), tag("th", "runs", class_="number"))
    rows = [
        tag(
            "tr",
            tag("td", span(one.layer, f"{GLYPHS.get(one.layer, '·')} "), one.id, class_="name"),
            tag("td", count(one.count), class_="number bad" if one.severity == "error" else "number warn"),
            tag("td", count(one.runs), class_="number"),
        )
        for one in found.findings
    ]
    inside = tag("table", head, *rows) if rows else tag("p", "No errors and no warnings.", class_="good")
    return tag("section", tag("div", inside, class_="scrolls"))


def _worst(runs: Sequence[RunFigures], reports: Mapping[str, str]) -> Html:
    head = tag(
        "tr",
        *(
            tag("th", one, class_=style)
            for one, style in (
                ("Worst runs", ""),
                ("began (UTC)", ""),
                ("turns", "number"),
                ("cost", "number"),
                ("✗", "number"),
                ("!", "number"),
            )
        ),
    )
    rows = [
        tag(
            "tr",
            tag("td", _run(one, reports.get(one.address)), class_="name"),
            tag("td", f"{one.started_at:%Y-%m-%d %H:%M}", class_="number"),
            tag("td", count(one.turns), class_="number"),
            tag("td", bill(one), class_="number money"),
            tag("td", count(one.errors), class_="number bad" if one.errors else "number dim"),
            tag("td", count(one.warnings), class_="number warn" if one.warnings else "number dim"),
        )
        for one in runs
    ]
    return tag(
        "section",
        tag("div", tag("table", head, *rows), class_="scrolls runs"),
        style="margin-top:.8rem",
    )


def _run(one: RunFigures, report: str | None) -> Html:
    about = " · ".join(text for text in (one.branch, one.task or one.name, one.agent) if text) or "run"
    verdict = span("bad" if one.verdict == "fail" else "dim", f" · {one.verdict}") if one.verdict else ""
    findings = tag("small", ", ".join(one.findings)) if one.findings else ""
    without = tag("small", named(one.without_price, "no known price: "), class_="warn") if one.without_price else ""
    title = tag("a", about, href=report) if report else about
    return joined([title, verdict, findings, without, tag("code", f"turntape view {quote(one.address)}")])
