"""Results that fit into an agent's context: lists by pages, long texts by pieces."""

import json
from collections.abc import Callable, Iterable, Sequence

from turntape.cassettes.excerpts import cut

MOST_CHARACTERS = 8_000
"""A result has about this many characters at most. Some clients cut the middle out of longer ones."""
MOST_ITEMS = 100
"""A page has at most this many items."""


def clipped(text: str, most: int) -> str:
    """`text` in one line of at most `most` characters."""
    return cut(" ".join(text.split()), most)


def compact(value: object) -> str:
    """JSON without spaces, which costs fewer tokens."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def given(**fields: object) -> dict[str, object]:
    """The fields that say something: no nulls, no empty lists and texts."""
    return {name: value for name, value in fields.items() if value is not None and value not in ([], (), "", {})}


def page[Item](
    name: str,
    items: Sequence[Item],
    shown: Callable[[Item], object],
    *,
    offset: int,
    limit: int,
    first: dict[str, object] | None = None,
) -> str:
    """A page of a list as one JSON object: `first`, then `total`, the items, and `next_offset` if there are more.

    It has at least one item, and ends early when the next one would make the result too long.
    """
    head = {**(first or {}), "total": len(items)}
    size = len(compact(head))
    offset, limit = max(0, offset), max(1, min(limit, MOST_ITEMS))
    listed: list[object] = []
    for item in items[offset : offset + limit]:
        one = shown(item)
        size += len(compact(one)) + 1
        if listed and size > MOST_CHARACTERS:
            break
        listed.append(one)
    following = offset + len(listed)
    more: dict[str, object] = {"next_offset": following} if following < len(items) else {}
    return compact({**head, name: listed, **more})


def piece(text: str, *, offset: int, limit: int) -> str:
    """The characters of `text` from `offset`, and a last line that says how to get the rest."""
    offset, limit = max(0, offset), max(200, min(limit, MOST_CHARACTERS))
    shown = text[offset : offset + limit]
    following = offset + len(shown)
    if following < len(text):
        return f"{shown}\n[{following:,} of {len(text):,} characters; continue with offset={following}]"
    if offset and not shown:
        return f"[nothing from offset {offset} on; the text has {len(text):,} characters]"
    return shown


def joined(lines: Iterable[str]) -> str:
    """Lines as one text."""
    return "\n".join(lines)
