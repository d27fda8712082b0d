"""Short texts for numbers and states, a few cells wide, and their styles."""

from collections.abc import Sequence

from ..text.number_format import count, dollars, several, size
from ..text.short_names import model_name
from ..text.status_styles import EMITTED, FINISH_WORDS, OUTCOME_WORDS, SEVERITY
from ..text.status_styles import FINISH as FINISH_STYLES
from ..text.status_styles import OUTCOME as OUTCOME_STYLES
from ..text.terminal_text import width_of

__all__ = [
    "EIGHTHS", "EMITTED", "FINISH", "OUTCOME", "ROLE", "SEVERITY", "bar", "clipped", "count", "dollars", "full",
    "model_name", "seconds", "several", "size",
]  # fmt: skip

EIGHTHS = " ▏▎▍▌▋▊▉█"

FINISH: dict[str, tuple[str, str]] = {
    label: (FINISH_WORDS.get(label, label), style) for label, style in FINISH_STYLES.items()
}
"""The finish of a turn in at most seven cells."""

OUTCOME: dict[str, tuple[str, str]] = {
    outcome: (OUTCOME_WORDS.get(outcome, outcome), style) for outcome, style in OUTCOME_STYLES.items()
}
"""What the client did with the calls."""

ROLE: dict[str, str] = {"system": "accent", "user": "client", "assistant": "model", "tool": "client", "tools": "api"}
"""The look of a message's role; of the parts of a context too."""


def full(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def seconds(milliseconds: float | None) -> str:
    if milliseconds is None:
        return "–"
    if milliseconds < 1000:
        return f"{milliseconds:.0f}ms"
    whole = milliseconds / 1000
    if whole < 100:
        return f"{whole:.1f}s"
    return f"{whole / 60:.0f}m" if whole < 5940 else f"{whole / 3600:.0f}h"


def bar(share: float, cells: int) -> str:
    """A bar that is `share` of `cells` long, in eighths of a cell. A share above 0 is never drawn as empty."""
    eighths = round(max(0.0, min(1.0, share)) * cells * 8)
    if share > 0:
        eighths = max(1, eighths)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(cells)


def clipped(spans: Sequence[tuple[str, str]], cells: int) -> Sequence[tuple[str, str]]:
    """A line in at most `cells` cells. Where it is cut, it ends in an ellipsis."""
    if width_of("".join(text for text, _ in spans).rstrip()) <= cells:
        return spans
    out: list[tuple[str, str]] = []
    left = cells - 1
    for text, look in spans:
        kept = _start(text, left)
        out.append((kept, look))
        left -= width_of(kept)
        if kept != text:
            break
    return [*out, ("…", "dim")] if cells > 0 else []


def _start(text: str, cells: int) -> str:
    """As many characters of `text` as fit."""
    if width_of(text) <= cells:
        return text
    used = 0
    for at, character in enumerate(text):
        used += width_of(character)
        if used > cells:
            return text[:at]
    return text
