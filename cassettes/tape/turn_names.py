"""Names the turns of a cassette: by its labels, and by their order where it has none."""

from collections.abc import Mapping, Sequence

from ..frozen import frozen
from .model import RoundTrip


@frozen
class TurnName:
    """A turn of the recording, numbered as in `turntape show`."""

    number: int | None
    """From 1 within its thread; None for other requests, such as a list of models."""
    index: int
    """The round trip's number in the cassette."""
    thread: str | None = None
    """None when the cassette holds one thread."""

    def __str__(self) -> str:
        if self.number is None:
            return f"#{self.index}"
        thread = f" of {self.thread}" if self.thread else ""
        return f"turn {self.number}{thread}, #{self.index}"


def name_turns(trips: Sequence[RoundTrip], labels: Mapping[int, Mapping[str, object]]) -> list[TurnName]:
    """The name of each round trip. Without labels every POST counts as a turn of one thread."""
    threads = {label.get("thread") for label in labels.values()} - {None}
    named: list[TurnName] = []
    posts = 0
    for place, trip in enumerate(trips):
        index = trip.index if trip.index >= 0 else place
        label = labels.get(trip.index)
        posts += trip.request.method.upper() == "POST"
        if label is not None and "turn" in label:
            number, thread = label.get("turn"), label.get("thread")
            named.append(
                TurnName(
                    number if isinstance(number, int) else None,
                    index,
                    thread if isinstance(thread, str) and len(threads) > 1 else None,
                )
            )
        else:
            named.append(TurnName(posts if trip.request.method.upper() == "POST" else None, index))
    return named
