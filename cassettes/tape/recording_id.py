"""The id of a recording: the same for a file and for its longer self, another for every other recording."""

from collections.abc import Mapping
from hashlib import sha256

LENGTH = 32
"""Hex digits of an id."""


def recording_id(header: Mapping[str, object]) -> str:
    """The id of the recording that a cassette's header begins."""
    return sha256(f"{header.get('started_at', '')}\n{header.get('salt', '')}".encode()).hexdigest()[:LENGTH]
