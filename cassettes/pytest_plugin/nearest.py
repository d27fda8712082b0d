"""The nearest valid name for one that is wrong."""

from collections.abc import Iterable
from difflib import get_close_matches


def hint(name: object, known: Iterable[str]) -> str:
    """The nearest known name, or else all of them."""
    names = list(known)
    near = get_close_matches(str(name), names, 1) or [one for one in names if str(name).lower().startswith(one)]
    return f"did you mean {near[0]!r}?" if near else f"write one of {', '.join(names)}"
