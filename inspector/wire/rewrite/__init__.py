"""Rewrite answers: a recorded answer as one JSON document that a person can edit, and the edited one as bytes.

The document is what the API would have answered unstreamed. A streamed answer is joined into it, and the edited
document goes out in frames of the same protocol.
"""

from .rewrite import NotEditable, document, remade

__all__ = ["NotEditable", "document", "remade"]
