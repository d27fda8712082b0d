"""The first line of the screen and the status line: the file, the totals of the run, and remarks for the user."""

from collections.abc import Sequence

from turntape.cassettes.frozen import frozen

from ...run.filters import Filter
from ...run.rows import Rows
from ...run.totals import Totals, totals
from ..text.number_format import spent
from ..text.short_names import model_names
from ..text.terminal_text import clip, width_of
from .formatting import count, several

type Spans = Sequence[tuple[str, str]]
"""Texts with the names of their looks."""

WORDS = 100
"""From this width on the title spells out errors and warnings."""
NAME = 8
"""Cells of the file's name that stay."""

type Group = list[tuple[str, str]]
"""Spans that are shown together or not at all."""


@frozen
class Title:
    """The content of the title in addition to the totals."""

    name: str
    """The name of the file."""
    reading: bool = True
    live: bool = False
    following: bool = False
    share: float = 0.0
    """How much of the file was read and labelled, from 0 to 1."""
    damaged: bool = False
    """Whether parts of the file cannot be read."""


@frozen
class Summary:
    """The totals of a run, and where it went wrong first."""

    totals: Totals
    trouble: str = ""
    """The first turn with an error, else the first with a warning; empty when there is none."""

    @property
    def problems(self) -> int:
        """How many errors and warnings were found."""
        return self.totals.errors + self.totals.warnings

    @property
    def findings(self) -> int:
        """How many findings the page of findings lists."""
        return self.problems + self.totals.infos


def summarize(rows: Rows) -> Summary:
    """The totals of all rows."""
    place = rows.first_trouble()
    if place is None:
        return Summary(totals(rows.all))
    return Summary(totals(rows.all), rows.name_of(place))


def title(state: Title, summary: Summary, width: int) -> Spans:
    """The first line: the file on the left, the totals on the right. What has no room is left out.

    The number of problems and the cost are left out last, after the name of this program and a part of the file's.
    """
    vital = [*_findings(state, summary, width)[:1], *_cost(state, summary.totals)[:1]]
    reserved = sum(map(_width, vital))
    brand, *lead = _lead(state)
    if _width([brand, *lead]) + reserved <= width:
        lead = [brand, *lead]
    elif (over := _width(lead) + reserved - width) > 0:
        name = clip(state.name, max(NAME, width_of(state.name) - over))
        lead = [(f" {name} ", "plain"), *lead[1:]]
    room = width - _width(lead)
    shown: Group = []
    for group in _groups(state, summary, width):
        if group in vital:
            reserved -= _width(group)
        free = room if group in vital else room - reserved
        if _width(group) <= free:
            shown += group
            room -= _width(group)
    return [*lead, (" " * room, "plain"), *shown]


def _width(spans: Group) -> int:
    return sum(width_of(text) for text, _ in spans)


def _lead(state: Title) -> Group:
    lead = [(" turntape ", "title"), (f" {state.name} ", "plain")]
    if state.live:
        lead.append((" ● live " if state.following else " ○ live ", "good" if state.following else "dim"))
    elif state.reading:
        # At the end of the file, the last turns are labelled.
        what = f"reading {int(100 * state.share)} %" if state.share < 1 else "labelling"
        lead.append((f" {what} ", "dim"))
    return lead


def _groups(state: Title, summary: Summary, width: int) -> list[Group]:
    """The totals, the most important first."""
    sums = summary.totals
    if not sums.turns and not sums.others and not sums.tool_messages:
        return [[("nothing recorded yet " if state.live else "", "dim")]]
    groups = [*_findings(state, summary, width), *_cost(state, sums)]
    if sums.input is not None or sums.output is not None:
        groups.append([(f" {count(sums.input)} in {count(sums.output)} out ", "dim")])
    if sums.tool_runs:
        groups.append([(f" {several(sums.tool_runs, 'tool run')} ", "dim")])
    if sums.threads > 1:
        groups.append([(f" {several(sums.threads, 'thread')} ", "dim")])
    if models := model_names(sums.models):
        more = f" +{len(models) - 1}" if len(models) > 1 else ""
        groups.append([(f" {models[0]}{more} ", "dim")])
    return groups


def _findings(state: Title, summary: Summary, width: int) -> list[Group]:
    sums, words = summary.totals, width >= WORDS
    damage: list[Group] = [[("! damaged file " if words else "! damaged ", "warn")]] if state.damaged else []
    if not summary.problems:
        return damage or ([[("✓ no problems ", "good")]] if sums.turns and not state.reading else [])
    group: Group = []
    if sums.errors:
        group.append((f"✗ {several(sums.errors, 'error')} " if words else f"✗{sums.errors} ", "bad"))
    if sums.warnings:
        group.append((f"! {several(sums.warnings, 'warning')} " if words else f"!{sums.warnings} ", "warn"))
    first: list[Group] = [[(f"first in {summary.trouble} ", "first")]] if summary.trouble else []
    return [group, *damage, *first]


def _cost(state: Title, sums: Totals) -> list[Group]:
    if not sums.billed:
        return []
    cost: Group = [(f" {spent(sums.cost, sums.unpriced)} ", "money" if sums.cost is not None else "dim")]
    # Prices are looked up after the rows are read: until then, nothing is known to be without one.
    known = sums.cost is not None or not state.reading
    return [*([cost] if known else []), [(f" {several(sums.turns, 'turn')} ", "plain")]]


def filter_status(query: Filter, match: str, shown: int, whole: int, share: float | None = None) -> Spans:
    """The status line while a query filters the list; `share` of everything was searched, None for all of it."""
    if share is not None:
        match = f"searching everything sent, {100 * share:.0f} %"
    spans = [
        (" filter ", "accent"),
        (f"{query.text}  ", "bold"),
        (f"{shown:,} of {several(whole, 'round trip')}", "plain" if shown else "warn"),
        ("   ", "dim"),
        (match or "Esc shows all", "dim"),
    ]
    return [*spans, (f"   {query.problem}", "warn")] if query.problem else spans


def behind_status(behind: int) -> Spans:
    """The status line while newer turns came after the selected one."""
    return [(f" {several(behind, 'newer turn')} below  ", "accent"), ("G goes there", "dim")]


def several_problems(problems: Sequence[str]) -> str:
    """Several problems as one line."""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}"


def ended_notice(*, recorded: bool, command: bool) -> str:
    """The message when a followed recording, or the recorded command, has ended."""
    what, then = ("command", "; q quits and prints its output") if command else ("recording", "")
    return f"the {what} has ended{'' if recorded else ', and nothing was recorded'}{then}"
