"""What a stream says of the model after the event that ends the answer, where clients no longer read."""

from collections.abc import Callable, Iterator

from ...exchange import Exchange
from ...json_value import Object, as_text
from .answers import stream_objects

type Seen = Callable[[str, Object], bool]
"""Whether an event, given by its kind and its body, is of a certain sort."""


def after_end(exchange: Exchange, ends: Seen, says: Seen) -> Iterator[str]:
    """One sentence when an event that `says` something comes after one that `ends` the answer."""
    over = False
    for name, event in stream_objects(exchange):
        kind = as_text(event.get("type")) or name
        if over and says(kind, event):
            yield "more of the answer comes after the event that ends it"
            return
        over = over or ends(kind, event)
