"""The lines around the panes: what file this is, what the run came to, and which keys do what here."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...run.rows import Rows
from ...run.totals import Totals
from ..text.terminal_text import clip, width_of
from .formatting import count, dollars, model_name, several
from .pages.page import Spans

VIEWS: tuple[tuple[str, str, str], ...] = (
    ("1", "Turn", "turn"),
    ("2", "Wire", "wire"),
    ("3", "Growth", "growth"),
    ("4", "Context", "context"),
    ("5", "Findings", "findings"),
    ("6", "Diff", "diff"),
)
"""Key, word and name of each view."""
WORDS = 100
"""From this width on the title says errors and warnings in words."""
OUTPUT = ("7", "Output", "output")
"""The view of what the recorded command writes, while there is one."""

LIST_KEYS: tuple[tuple[str, str, str], ...] = (
    ("↵", "open", "open"),
    ("/", "search", "search"),
    ("n", "finding", "jump('finding', 1)"),
    ("e", "error", "jump('error', 1)"),
    ("c", "call", "jump('call', 1)"),
    ("p", "play", "play"),
    ("y", "copy", "copy"),
    ("?", "help", "help"),
    ("q", "quit", "quit"),
)
PAGE_KEYS: tuple[tuple[str, str, str], ...] = (
    ("Esc", "list", "out"),
    ("o", "fold", "fold"),
    (", .", "turn", "step(1)"),
    ("r", "raw", "raw"),
    ("z", "zoom", "zoom"),
    ("y", "copy", "copy"),
    ("x", "save", "save"),
    ("?", "help", "help"),
    ("q", "quit", "quit"),
)
SEARCH_KEYS: tuple[tuple[str, str, str], ...] = (
    ("↵", "keep", ""),
    ("Esc", "show all", "out"),
    ("", "words and tool: layer: is: finding: status: cost: in: out: ms: model: thread:", ""),
)
PLOT_KEYS: tuple[tuple[str, str, str], ...] = (
    ("← →", "turn", ""),
    ("↵", "open", "open_turn"),
    ("Esc", "list", "out"),
    ("z", "zoom", "zoom"),
    ("x", "save", "save"),
    ("?", "help", "help"),
    ("q", "quit", "quit"),
)


@dataclass(frozen=True, slots=True)
class State:
    """What the title says beside the totals."""

    name: str
    """The file's name."""
    reading: bool = True
    live: bool = False
    following: bool = False
    behind: int = 0
    """How many turns came after the one that is looked at, while following."""


def first_trouble(rows: Rows) -> int | None:
    """The place of the first row with an error, else of the first with a warning."""
    for severity in ("error", "warning"):
        found = next((p for p, r in enumerate(rows.all) if any(m.severity == severity for m in r.findings)), None)
        if found is not None:
            return found
    return None


def title(state: State, sums: Totals, trouble: str, width: int) -> Spans:
    """The first line: the file on the left, what the run came to on the right; what matters less goes first."""
    lead: list[tuple[str, str]] = [(" turntape ", "title"), (f" {state.name} ", "plain")]
    if state.live:
        lead.append((" ● live " if state.following else " ○ live ", "good" if state.following else "dim"))
    elif state.reading:
        lead.append((" reading … ", "dim"))
    ends: list[list[tuple[str, str]]] = []
    if sums.errors or sums.warnings:
        marks: list[tuple[str, str]] = []
        wide = width >= WORDS
        if sums.errors:
            marks.append((f"✗ {several(sums.errors, 'error')} " if wide else f"✗{sums.errors} ", "bad"))
        if sums.warnings:
            marks.append((f"! {several(sums.warnings, 'warning')} " if wide else f"!{sums.warnings} ", "warn"))
        ends.append([*marks, (f"first in {trouble} ", "dim")] if trouble else marks)
    elif not state.reading and sums.turns:
        ends.append([("✓ no findings ", "good")])
    about = ("≥ " if sums.unpriced and sums.cost is not None else "") + dollars(sums.cost)
    if sums.turns:
        ends.append([(f" {about} ", "money" if sums.cost is not None else "dim")])
        ends.append([(f" {several(sums.turns, 'turn')} ", "plain")])
    ends.append([(f" {count(sums.input)} in {count(sums.output)} out ", "dim")])
    if sums.threads > 1:
        ends.append([(f" {sums.threads} threads ", "dim")])
    if sums.models:
        more = f" +{len(sums.models) - 1}" if len(sums.models) > 1 else ""
        ends.append([(f" {model_name(next(iter(sums.models)))}{more} ", "dim")])
    if not sums.turns and not sums.others:
        ends = [[("nothing recorded yet " if state.live else "", "dim")]]
    room = width - sum(width_of(text) for text, _ in lead)
    tail: list[tuple[str, str]] = []
    for group in ends:
        size = sum(width_of(text) for text, _ in group)
        if size > room:
            break
        tail += group
        room -= size
    if room < 0:
        lead = [(" turntape ", "title"), (clip(state.name, max(4, width - 12)), "plain")]
        room = 0
    return [*lead, (" " * room, "plain"), *tail]


def keys_for(pane: str, searched: bool = False) -> Sequence[tuple[str, str, str]]:
    """The keys that the last line names while a pane has the focus, and while words are searched."""
    keys = {"list": LIST_KEYS, "growth": PLOT_KEYS, "search": SEARCH_KEYS}.get(pane, PAGE_KEYS)
    if not searched or pane == "search":
        return keys
    return (keys[0], ("n", "match", "match(1)"), *(key for key in keys[1:] if key[0] != "n"))
