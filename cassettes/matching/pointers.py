"""JSON pointers (RFC 6901) as patterns: `*` means any one key or place.

Patterns are kept in a tree, so that a value is walked once, however many there are.
"""

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Final, cast

from ..frozen import mutable


@mutable
class Node:
    """One segment of the patterns, and the word of a pattern that ends here."""

    word: str | None = None
    below: dict[str, "Node"] = field(default_factory=dict[str, "Node"])


type Nodes = tuple[Node, ...]
"""The nodes of a tree that fit the path so far; more than one if both `*` and a name fit."""


class Dropped:
    """The result for a value that is dropped completely."""


DROPPED: Final = Dropped()


def segments(pointer: str) -> list[str]:
    """The unescaped segments of a pointer. Raises ValueError when it does not begin with a slash."""
    if not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is not a JSON pointer: it does not begin with /; write it like /metadata/run")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def plant(patterns: Iterable[tuple[str, str]]) -> Node:
    """A tree of `(pattern, word)`; a later pattern replaces an equal one."""
    root = Node()
    for pattern, word in patterns:
        node = root
        for segment in segments(pattern):
            node = node.below.setdefault(segment, Node())
        node.word = word
    return root


def step(nodes: Nodes, segment: str) -> Nodes:
    """The nodes one segment further down; a name comes before `*`."""
    found: list[Node] = []
    for node in nodes:
        for name in (segment, "*"):
            if (below := node.below.get(name)) is not None:
                found.append(below)
    return tuple(found)


def word(nodes: Nodes) -> str | None:
    """The word of the patterns that end here; a name takes precedence over `*`."""
    return next((node.word for node in nodes if node.word is not None), None)


def pruned(value: object, nodes: Nodes, said: str, dropped: frozenset[str]) -> object:
    """`value` without the parts whose word is in `dropped`; containers that become empty are dropped too.

    `said` is the word for everything that no pattern names.
    """
    if not nodes or not isinstance(value, dict | list):
        return DROPPED if said in dropped else value
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        kept: dict[str, object] = {}
        for key, item in fields.items():
            below = step(nodes, key)
            left = pruned(item, below, word(below) or said, dropped)
            if left is not DROPPED:
                kept[key] = left
        return kept if kept or (not fields and said not in dropped) else DROPPED
    items = cast(list[object], value)
    left_items: list[object] = []
    for place, item in enumerate(items):
        below = step(nodes, str(place))
        left = pruned(item, below, word(below) or said, dropped)
        if left is not DROPPED:
            left_items.append(left)
    return left_items if left_items or (not items and said not in dropped) else DROPPED


def change(value: object, nodes: Nodes, new: Callable[[object], object]) -> None:
    """Replace each value that the patterns name by `new(value)`, in place and in the order of the document."""
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        for key in fields:
            if below := step(nodes, key):
                if word(below) is not None:
                    fields[key] = new(fields[key])
                else:
                    change(fields[key], below, new)
    elif isinstance(value, list):
        items = cast(list[object], value)
        for place, item in enumerate(items):
            if below := step(nodes, str(place)):
                if word(below) is not None:
                    items[place] = new(item)
                else:
                    change(item, below, new)
