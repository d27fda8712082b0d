"""How figures and states are written in a few cells, and which look they have."""

from decimal import Decimal

EIGHTHS = " ▏▎▍▌▋▊▉█"

FINISH: dict[str, tuple[str, str]] = {
    "complete": ("done", "good"),
    "tool_calls": ("calls", "good"),
    "stop_sequence": ("stop", "good"),
    "pause": ("pause", "warn"),
    "length": ("length", "warn"),
    "context_full": ("full", "bad"),
    "refusal": ("refusal", "warn"),
    "content_filter": ("filter", "bad"),
    "malformed": ("broken", "bad"),
    "limit": ("limit", "warn"),
    "error": ("error", "bad"),
    "cancelled": ("cancel", "warn"),
    "cut": ("cut", "bad"),
    "unknown": ("unknown", "warn"),
}
"""The finish of a turn in at most seven cells."""

OUTCOME: dict[str, tuple[str, str]] = {
    "dispatched": ("ran", "good"),
    "partly": ("part", "warn"),
    "not_dispatched": ("not run", "bad"),
    "ended": ("ended", "good"),
    "open": ("open", "dim"),
}
"""What the client did with the calls."""

EMITTED: dict[str, str] = {
    "partial_call": "bad",
    "call_as_text": "warn",
    "refusal": "warn",
    "reasoning_only": "warn",
    "empty": "warn",
    "none": "dim",
}
"""Emissions that are not as plain as text and calls."""

SEVERITY: dict[str, tuple[str, str]] = {"error": ("✗", "bad"), "warning": ("!", "warn"), "info": ("i", "dim")}

ROLE: dict[str, str] = {"system": "accent", "user": "client", "assistant": "model", "tool": "client", "tools": "api"}
"""The look of a message's role; of the parts of a context too."""


def count(number: int | None) -> str:
    """`12,345` in at most six cells: `12.3k`."""
    if number is None:
        return "?"
    if number < 1000:
        return str(number)
    for unit, size in (("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)):
        scaled = number / size
        if scaled < 999.5:
            return f"{scaled:.1f}{unit}" if scaled < 99.95 else f"{scaled:.0f}{unit}"
    return f"{number / 1_000_000_000:.0f}G"


def full(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def dollars(amount: Decimal | None) -> str:
    """An amount with as many digits as say something."""
    if amount is None:
        return "unpriced"
    if amount >= 100:
        return f"${amount:,.0f}"
    if amount >= 1:
        return f"${amount:.2f}"
    if amount >= Decimal("0.01"):
        return f"${amount:.3f}"
    return f"${amount:.4f}" if amount >= Decimal("0.0001") else f"${amount:.6f}" if amount else "$0"


def seconds(milliseconds: float | None) -> str:
    if milliseconds is None:
        return "–"
    if milliseconds < 1000:
        return f"{milliseconds:.0f}ms"
    whole = milliseconds / 1000
    if whole < 100:
        return f"{whole:.1f}s"
    return f"{whole / 60:.0f}m" if whole < 5940 else f"{whole / 3600:.0f}h"


def size(number: int) -> str:
    """Bytes."""
    if number < 1000:
        return f"{number} B"
    return f"{number / 1000:.1f} kB" if number < 1_000_000 else f"{number / 1_000_000:.1f} MB"


def bar(share: float, cells: int) -> str:
    """A bar of eighths, `share` of `cells` long; something above nothing is never empty."""
    eighths = round(max(0.0, min(1.0, share)) * cells * 8)
    if share > 0:
        eighths = max(1, eighths)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(cells)


def several(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def model_name(model: str | None) -> str:
    """A model's name without the date behind it."""
    if not model:
        return "unknown model"
    head, _, tail = model.rpartition("-")
    if head and tail.isdigit() and len(tail) >= 8:
        return head
    parts = model.rsplit("-", 3)
    if len(parts) == 4 and len(parts[1]) == 4 and all(part.isdigit() for part in parts[1:]):
        return parts[0]
    return model
