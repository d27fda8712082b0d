"""`turntape show --json`: one object a round trip, made anew from the bytes."""

import json
from collections.abc import Iterable, Iterator

import orjson

from turntape.cassettes.model import RoundTrip

from .labelling import label_all


def show_json(round_trips: Iterable[RoundTrip]) -> Iterator[bytes]:
    """One JSON object a round trip, by number, keys as docs/show-json.md has them."""
    for done in label_all(round_trips):
        try:
            yield orjson.dumps(done.label)
        except TypeError:
            # Lone surrogates and integers beyond 64 bits, which models emit and orjson refuses.
            yield json.dumps(done.label).encode()
