"""Answers made anew: a recorded answer as one JSON document that a person can edit, and an edited one as the wire
has it.

The document is the API's own: what it would have answered unstreamed. A streamed answer is put together into it, and
what comes of the edit goes out in frames of the same protocol.
"""

from .rewrite import NotEditable, document, remade

__all__ = ["NotEditable", "document", "remade"]
