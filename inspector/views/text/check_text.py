"""The text of `turntape check`: each cassette with its findings (roots first) and budgets, then the sum."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from ...check.budgets import Verdict
from ...check.check import Checked, Found, Node, Report, rooted
from ...findings.finding import SEVERITIES, Tier
from ...wire.printable import safe
from ...wire.printable import several as counted
from .explain_text import SEVERITY_GLYPHS
from .number_format import spent, turn_count
from .terminal_text import GLYPHS, Line, Style, clip_path, fit, width_of, wrap

_SURE: dict[Tier, str] = {"P": "proven", "S": "inferred", "H": "heuristic"}
_STATE: dict[str, tuple[str, Style]] = {"kept": ("✓", "good"), "broken": ("✗", "bad"), "unknown": ("?", "warn")}
_ROOMY = 70
"""From this width on, the lines of a budget are indented under its sentence."""
_WHOLE = 2
"""How many findings of one class are shown in full; the others are listed by their round trips."""


def check_text(report: Report, width: int) -> Iterator[Line]:
    """The whole report."""
    for one in report.checked:
        yield from _checked(one, width)
    for name, _ in report.unread:  # the command says why on standard error
        yield fit([("✗ ", "bad"), (clip_path(name, max(20, width - 12)), "bold"), ("  not read", "plain")], width)
    if report.unread:
        yield []
    yield from _sum(report, width)


def _checked(one: Checked, width: int) -> Iterator[Line]:
    facts = [turn_count(one.turns, one.attempts)]
    if one.threads > 1:
        facts.append(counted(one.threads, "thread"))
    if one.input:
        facts.append(f"{one.input:,} tokens in")
    if one.turns or one.cost is not None or one.unpriced:
        facts.append(spent(one.cost, one.unpriced))
    if len(one.runs) == 1:
        facts.append(f"run {safe(one.runs[0])}")
    elif one.runs:
        facts.append(counted(len(one.runs), "run"))
    head = clip_path(one.name, max(20, width - 2))
    about = " · ".join(facts)
    sign: tuple[str, Style] = ("  ", "plain") if one.findings or one.broken else ("✓ ", "good")
    if 2 + width_of(head) + 2 + width_of(about) <= width:
        yield [sign, (head, "bold"), (f"  {about}", "dim")]
    else:
        yield [sign, (head, "bold")]
        yield from _after([("  ", "plain")], about, "  ", width, "dim")
    if one.findings:
        yield []
    several_runs = len({found.run for found in one.findings}) > 1 or len(one.runs) > 1
    for _, alike in groupby(rooted(one.findings), key=_kind):
        yield from _alike(list(alike), width, runs=several_runs)
    widest = max((len(verdict.budget) for verdict in one.verdicts), default=0)
    for verdict in one.verdicts:
        yield from _verdict(verdict, widest, several=len({v.run for v in one.verdicts}) > 1, width=width)
    for problem in one.problems:
        yield from _after([("  ! ", "warn")], problem, "    ", width)
    if one.verdicts or one.problems:
        yield []


def _kind(node: Node) -> tuple[str, str, str]:
    finding = node.found.finding
    return finding.severity, finding.layer, finding.id


def _alike(nodes: list[Node], width: int, *, runs: bool) -> Iterator[Line]:
    """Findings of one class: the first ones in full, then where the others are."""
    whole = [node for place, node in enumerate(nodes) if place < _WHOLE or node.consequences]
    others = [node for place, node in enumerate(nodes) if place >= _WHOLE and not node.consequences]
    for place, node in enumerate(whole):
        yield from _node(node, "  ", width, fix=place == 0, runs=runs)
        if place < len(whole) - 1:
            yield []
    if others:
        places = ", ".join(dict.fromkeys(f"#{node.found.index}" for node in others))
        yield from _after([("    and ", "dim")], f"{len(others):,} more: {places}", "    ", width)
    yield []


def _node(node: Node, indent: str, width: int, *, fix: bool, runs: bool) -> Iterator[Line]:
    finding = node.found.finding
    glyph, style = SEVERITY_GLYPHS[finding.severity]
    layer: Style = finding.layer
    yield fit(
        [
            (f"{indent}{glyph} ", style),
            (f"{GLYPHS[finding.layer]} {finding.layer} ", layer),
            (finding.id, "bold"),
            (f"  {finding.severity}, {_SURE[finding.tier]}", style if finding.severity == "error" else "dim"),
            (f"  {_where(node.found, runs=runs)}", "dim"),
        ],
        width,
    )
    inner = indent + "  "
    yield from _paragraph(finding.message, inner, width)
    if finding.evidence:
        yield from _after([(f"{inner}at   ", "dim")], " · ".join(finding.evidence), f"{inner}     ", width, "dim")
    if fix and finding.fix:
        yield from _after([(f"{inner}fix  ", "dim")], finding.fix, f"{inner}     ", width, "good")
    if finding.because_of and indent == "  ":
        yield from _after([(f"{inner}", "plain")], f"because of {', '.join(finding.because_of)}", inner, width, "dim")
    if node.consequences:
        yield [(f"{inner}because of this:", "dim")]
    for consequence in node.consequences:
        yield from _node(consequence, inner + "  ", width, fix=False, runs=runs)


def _where(found: Found, *, runs: bool) -> str:
    run = f"run {safe(found.run)}, " if runs and found.run else ""
    turn = "" if found.turn is None else f"turn {found.turn} of {found.thread}, "
    return f"{run}{turn}#{found.index}"


def _verdict(verdict: Verdict, widest: int, *, several: bool, width: int) -> Iterator[Line]:
    glyph, style = _STATE[verdict.state]
    of = f" (run {verdict.run or 'without a name'})" if several else ""
    indent = " " * (widest + 6) if width >= _ROOMY else "    "
    yield from _after(
        [(f"  {glyph} ", style), (f"{verdict.budget:<{widest}}  ", "bold")], verdict.says + of, indent, width
    )
    if verdict.state == "broken" and verdict.evidence:
        yield from _after([(f"{indent}at ", "dim")], " · ".join(verdict.evidence), f"{indent}   ", width, "dim")


def _sum(report: Report, width: int) -> Iterator[Line]:
    found = [found for one in report.checked for found in one.findings]
    counts = Counter(one.finding.severity for one in found)
    broken = sum(len(one.broken) for one in report.checked)
    names = [counted(counts[s], s) if s != "info" else f"{counts[s]} info" for s in reversed(SEVERITIES) if counts[s]]
    parts = [", ".join(names) or "no findings"]
    if broken:
        parts.append(f"{counted(broken, 'budget')} broken")
    if report.unread:
        parts.append(f"{counted(len(report.unread), 'file')} not read")
    parts.append(f"{counted(len(report.checked), 'cassette')} checked")
    bad = report.failed or bool(report.unread)
    word: Line = [("failed", "bad")] if bad else [("passed", "good")]
    yield from _after([*word, ("  ", "plain")], " · ".join(parts), "        ", width)
    if not bad and found:
        tip = f"fails on {report.asked.fail_on}; `turntape explain ID` explains a finding"
        yield from _after([("        ", "plain")], tip, "        ", width, "dim")


def _paragraph(text: str, indent: str, width: int, style: Style = "plain") -> Iterator[Line]:
    for line in wrap(safe(text), max(20, width - width_of(indent))):
        yield [(indent, "plain"), (line, style)]


def _after(head: Line, text: str, indent: str, width: int, style: Style = "plain") -> Iterator[Line]:
    """`text` wrapped: the first line begins with `head`, the others with `indent`."""
    used = sum(width_of(part) for part, _ in head)
    pad = "·" * max(0, used - width_of(indent))
    first, *rest = wrap(pad + safe(text), max(20, width - width_of(indent)))
    yield fit([*head, (first[len(pad) :], style)], width)
    for line in rest:
        yield [(indent, "plain"), (line, style)]
