"""The pieces of prompts: what their kinds and groups are called, and how a number of tokens shows how sure it is."""

from collections.abc import Iterable
from decimal import Decimal

from ...ledger import Figure, GroupKey, Ledger, TurnEntry
from ...wire.printable import dollars

KINDS = {
    "system": "system prompts",
    "tool": "tool definitions",
    "user": "user messages",
    "assistant": "answers sent back",
    "call": "calls sent back",
    "result": "tool results",
    "media": "pictures and files",
    "reasoning": "reasoning sent back",
    "other": "added by the API",
    "output": "output",
    "undivided": "input and output",
}
"""All pieces of a kind in a run, by the name of the kind."""

GROUPS: tuple[tuple[GroupKey, str], ...] = (
    ("tool", "by tool: its definition, its calls, its results"),
    ("definition", "by tool definition"),
    ("server", "by MCP server"),
    ("subagent", "by agent"),
    ("thread", "by thread"),
)
"""The groups of pieces, beside those by kind, in the order of the views."""
ALONE = frozenset[GroupKey](("thread", "subagent"))
"""Groups that say nothing when there is one."""
NEVER = "never called"
"""The note at the definition of a tool that was never called."""


def why_no_total(ledger: Ledger) -> str:
    """Why the pieces of a run have no costs, and what they are ordered by instead."""
    if not ledger.others and all(turn.input is None and turn.output is None for turn in ledger.turns):
        if not ledger.unpriced:
            return "no cost: the API answered none of the requests; the pieces are ordered by bytes"
        return "unpriced: the API counted no tokens; the pieces are ordered by bytes"
    return "no turn of this run has a known price: the pieces are ordered by tokens, else by bytes"


def no_misses(turns: Iterable[TurnEntry]) -> str:
    """Why no cache misses are listed for these turns."""
    if all(turn.cache is None or turn.cache.actual_read is None for turn in turns):
        return "not known: no answer says how much was read from a cache"
    return "none: the reads from the cache are as its rules predict"


def figure(tokens: Figure | None) -> str:
    """A number of tokens and how sure it is: `1,204` exact, `1,150–1,260` bounded, `≈ 1,200` estimated; `?` unknown."""
    if tokens is None:
        return "?"
    if tokens.certainty == "exact":
        return f"{tokens.value:,}"
    if tokens.certainty == "bounded":
        return f"{tokens.low:,}–{tokens.high:,}"
    return f"≈ {_rounded(tokens.value):,}"


_EXACT = "a number without a sign is exact by the API's counts"
_WITHIN = "± gives the bounds"
_FORMS = {"exact": _EXACT, "bounded": "two numbers are its bounds", "estimated": "≈ is an estimate"}


def figures_note(shown: Iterable[Figure | None] | None = None, *, short: bool = False) -> str:
    """What the forms of `figure` mean, or of `short_figure`; with the numbers that are shown, only the forms that these
    have."""
    used = set(_FORMS) if shown is None else {one.certainty for one in shown if one is not None}
    forms = {**_FORMS, "bounded": _WITHIN} if short else _FORMS
    return f"tokens: {', '.join(text for form, text in forms.items() if form in used)}" if used else ""


FIGURES = figures_note()
"""What all forms of `figure` mean."""


def short_figure(tokens: Figure) -> str:
    """As `figure`, in `SHORT` cells: `1,204` exact, `1,204±56` or `119k±2k` bounded, `≈1,200` estimated."""
    if tokens.certainty == "exact":
        return f"{tokens.value:,}"
    if tokens.certainty == "estimated":
        return f"≈{_rounded(tokens.value):,}"
    within = max(tokens.high - tokens.value, tokens.value - tokens.low)
    whole = f"{tokens.value:,}±{within:,}"
    # In thousands the bounds are one wider, for what rounding takes away.
    return whole if len(whole) <= SHORT else f"{round(tokens.value, -3) // 1000}k±{within // 1000 + 1}k"


def piece_cost(cost: Decimal | None, tokens: Figure | None) -> str:
    """What a piece cost; `≈` before it unless its tokens are exact, since the price follows from them."""
    shown = dollars(cost)
    known = not cost or tokens is None or tokens.certainty == "exact" or shown.startswith("<")
    return shown if known else f"≈{shown}"


SHORT = 10
"""Cells of a short number of tokens."""
SHORT_FIGURES = f"{figures_note(short=True)}; costs with ≈ are not exact"
"""What the forms of `short_figure` mean."""


def _rounded(number: int) -> int:
    """A number with its first two digits, as far as an estimate goes."""
    return number if abs(number) < 100 else int(round(number, 2 - len(str(abs(number)))))
