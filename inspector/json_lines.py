"""`turntape show --json`: one object a round trip, made anew from the bytes."""

import json
from collections.abc import Iterable, Iterator

import orjson

from turntape.cassettes.model import RoundTrip

from .labelling import Key, Label, labelled


def show_json(round_trips: Iterable[RoundTrip], *, hints: bool = False) -> Iterator[bytes]:
    """One JSON object a round trip, by number, keys as docs/show-json.md has them; `hints` adds tier H."""
    labels: dict[Key, Label] = {key: done.label for key, done in labelled(round_trips, hints=hints)}
    for key in sorted(labels):
        yield dumps(labels[key])


def dumps(value: object) -> bytes:
    """JSON in one line, also of lone surrogates and integers beyond 64 bits, which models emit and orjson refuses."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value).encode()
