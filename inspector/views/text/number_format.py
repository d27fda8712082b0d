"""Numbers as text for people, with few digits."""

from ...ledger import Figure
from ...wire.printable import dollars as dollars
from ...wire.printable import several as several


def count(number: int | None) -> str:
    """`12.3k` for 12345; `?` when the API did not report the number."""
    if number is None:
        return "?"
    if number < 1000:
        return str(number)
    for unit, size in (("k", 1_000), ("M", 1_000_000)):
        scaled = number / size
        if scaled < 999.5:
            return f"{scaled:.1f}{unit}" if scaled < 99.95 else f"{scaled:.0f}{unit}"
    return f"{number / 1_000_000_000:.1f}G"


KINDS = {
    "system": "system prompt",
    "tool": "tool definitions",
    "user": "user messages",
    "assistant": "answers sent back",
    "call": "calls sent back",
    "result": "tool results",
    "media": "pictures and files",
    "reasoning": "reasoning sent back",
    "other": "added by the API",
    "output": "output",
    "undivided": "input and output, stated as one sum",
}
"""All pieces of a kind in a run, by the name of the kind."""


def figure(tokens: Figure | None) -> str:
    """A number of tokens and how sure it is: `1,204` exact, `1,150–1,260` bounded, `≈ 1,200` estimated; `?` unknown."""
    if tokens is None:
        return "?"
    if tokens.certainty == "exact":
        return f"{tokens.value:,}"
    if tokens.certainty == "bounded":
        return f"{tokens.low:,}–{tokens.high:,}"
    return f"≈ {_rounded(tokens.value):,}"


FIGURES = "tokens: 1,204 is exact by the API's counts, 1,150–1,260 are bounds, ≈ 1,200 is an estimate"
"""What the forms of `figure` mean."""


def _rounded(number: int) -> int:
    """A number with its first two digits, as far as an estimate goes."""
    return number if abs(number) < 100 else int(round(number, 2 - len(str(abs(number)))))


def cost_note(source: str | None) -> str:
    """Where a cost comes from, if it does not come from the price list."""
    return {"stated": "stated by the API", "settings": "by the prices in your settings"}.get(source or "", "")


def turn_count(turns: int, attempts: int) -> str:
    """`11 turns`, or `11 turns · 1 more attempt` when a turn was tried again."""
    counted = several(turns, "turn")
    return counted if attempts <= turns else f"{counted} · {several(attempts - turns, 'more attempt')}"


def lasted(milliseconds: float | None) -> str:
    """A duration: `40 ms`, `1.2 s`, `3 min`."""
    if milliseconds is None:
        return "–"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5940 else f"{seconds / 3600:.1f} h"


def size(number: int) -> str:
    """A number of bytes: `900 B`, `1.2 kB`, `3.4 MB`."""
    if number < 1000:
        return f"{number} B"
    return f"{number / 1000:.1f} kB" if number < 1_000_000 else f"{number / 1_000_000:.1f} MB"
