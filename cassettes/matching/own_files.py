"""Recordings of turntape in the lists of files that a client gives to the model: `git status`, or a tree of a folder.

`turntape run` writes a file with a new name into the working directory, so these lists differ from run to run, and from
machine to machine. A file whose name the user has chosen is left in them.

This applies to keys of requests only: what was sent is kept as it is.
"""

from ..regex import regex

_NAME = r"(?:[^\s/]+/)*(?:run|record|fork|mcp|demo)-\d{8}-\d{6}(?:-\d+)?\.cassette\.jsonl(?:\.zst)?"
_LISTED = regex(rf"(?m)^(?:[ MADRCU?!]{{2}} |[ │]*[├└]─+ ?){_NAME}(?:\n|\Z)")
_GLYPHS = regex(r"(?m)^[ │]*[├└]─+")
_SAME = str.maketrans("│└", " ├")
_CLEAN = regex(r"(?m)^(?P<lead>Status:\n)(?=\n|\Z)")
"""What is left where a client writes `(clean)` for a status without files."""


def without_own_files(text: str) -> str:
    """A text without the lines that list recordings, its trees with one sign for an entry, the last one or not."""
    if ".cassette.jsonl" in text and (left := _LISTED.sub("", text)) != text:
        text = _CLEAN.sub(r"\g<lead>(clean)\n", left)
    if "───" in text:
        text = _GLYPHS.sub(lambda found: found.group().translate(_SAME), text)
    return text
