"""`turntape show --json`: one object for each round trip, made from the recorded bytes."""

import json
from collections.abc import Iterable, Iterator

import orjson

from turntape.cassettes.tape.model import RoundTrip

from ...run.labels import Key, Label, label_stream


def show_json(round_trips: Iterable[RoundTrip], *, thread: str | None = None, hints: bool = False) -> Iterator[bytes]:
    """One JSON object a round trip, by number, keys as docs/show-json.md has them.

    With `thread` only its turns; `hints` adds the findings of tier H.
    """
    labels: dict[Key, Label] = {key: done.label for key, done in label_stream(round_trips, hints=hints)}
    for key in sorted(labels):
        if thread is None or labels[key]["thread"] == thread:
            yield dumps(labels[key])


def dumps(value: object) -> bytes:
    """JSON in one line, also of lone surrogates and integers beyond 64 bits, which models emit and orjson refuses."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value).encode()
