"""What the proxy asks of the labeller process: lines on its stdin.

- `COUNT`: the recording is over, with so many round trips in the file.
- `carry COUNT`: when so many round trips were read, send those that the next segment carries.
- `next COUNT PATH`: the file has so many round trips; when they are labelled, go on with the segment at PATH.

When stdin ends without a `COUNT`, the proxy has died.
"""

import os
import select
import sys
from typing import Literal

from turntape.cassettes.frozen import frozen


@frozen
class Order:
    kind: Literal["end", "carry", "next", "died"]
    count: int = 0
    path: str = ""
    """The next segment."""


def written(order: Order) -> bytes:
    """The line of an order."""
    match order.kind:
        case "next":
            return f"next {order.count} {order.path}\n".encode("utf-8", "surrogateescape")
        case "carry":
            return b"carry %d\n" % order.count
        case _:
            return b"%d\n" % order.count


class Orders:
    """The orders that have arrived on a file descriptor."""

    def __init__(self, file: int | None = None) -> None:
        self._file = sys.stdin.fileno() if file is None else file
        self._rest = b""
        self._ended = False

    def take(self, seconds: float) -> list[Order]:
        """The orders that came; waits for the first one at most so long."""
        if self._ended or not select.select([self._file], [], [], seconds)[0]:
            return []
        data = os.read(self._file, 65536)
        *lines, self._rest = (self._rest + data).split(b"\n")
        found = [_read(line) for line in lines if line.strip()]
        if not data:
            self._ended = True
            if all(order.kind != "end" for order in found):
                found.append(Order("died"))
        elif any(order.kind == "end" for order in found):
            self._ended = True
        return found


def _read(line: bytes) -> Order:
    word, _, rest = line.partition(b" ")
    if word == b"carry":
        return Order("carry", int(rest))
    if word == b"next":
        count, _, path = rest.partition(b" ")
        return Order("next", int(count), path.decode("utf-8", "surrogateescape"))
    return Order("end", int(word))
