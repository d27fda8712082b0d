"""Where the evidence of a finding is shown."""

from turntape.cassettes.whole_number import whole_number

from ....run.rows import Rows
from .blocks import Goto

_REQUEST = {"tools": "/tools", "system": "system", "stop": "parameters", "model": "head", "tool": "/tools"}
"""Anchors of the parts of a request that are named by a word."""


def evidence(text: str, rows: Rows) -> Goto | None:
    """Where a piece of evidence is: `#3 request /messages/4` is message 4 of round trip 3; None when unknown."""
    head, _, rest = text.partition(" ")
    number = whole_number(head.removeprefix("#").partition(".")[0].rstrip(":,"))
    if not head.startswith("#") or number is None:
        return None
    place = rows.by_index.get(number)
    if place is None:
        return None
    what, _, where = rest.partition(" ")
    if what == "call":
        return Goto(place, f"call {where.split(', ')[0]}")
    if what in ("usage", "status", "finish"):
        return Goto(place, "head")
    if what == "request":
        word = where.split(" ")[0]
        return Goto(place, word if word.startswith("/") else _REQUEST.get(word, "new"))
    return Goto(place, "answer")
