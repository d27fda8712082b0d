"""How the tools of a prompt changed, in the words of all findings and cache misses."""

from collections.abc import Sequence

from turntape.cassettes.excerpts import listed

type Definition = tuple[str, str]
"""The name of a tool, and a text that is the same for the same definition."""

_NAMES, _DEFINITIONS = 5, 3
"""How many tools are named."""


def tools_sentence(what: str) -> str:
    """The sentence, without a full stop; `what` as `tool_change` gives it."""
    return f"the tools changed: {what}"


def tool_change(before: Sequence[Definition], after: Sequence[Definition]) -> str | None:
    """What differs between two lists of tools: names, or else definitions, or else the order; None for nothing."""
    old, new = {name for name, _ in before}, {name for name, _ in after}
    parts = [(sorted(old - new), "removed"), (sorted(new - old), "added")]
    if old != new:
        return " and ".join(f"{listed(names, _NAMES)} {word}" for names, word in parts if names)
    if sorted(before) == sorted(after):
        return None if list(before) == list(after) else "only their order changed"
    known = set(before)
    changed = [one[0] for one in after if one not in known]
    what = "definition" if len(changed) == 1 else "definitions"
    return f"the {what} of {listed(changed, _DEFINITIONS)} changed" if changed else None
