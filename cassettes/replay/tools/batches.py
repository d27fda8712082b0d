"""What a played server says, and the answers to a batch of the client as one line."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from ...frozen import mutable


class Sent(NamedTuple):
    """A line of the server."""

    data: bytes
    origin: object
    """The id of the client's request after which it is said; None for what follows no request."""
    is_answer: bool


@mutable
class _Batch:
    open: list[object]
    """The ids of requests without an answer."""
    answers: list[bytes] = field(default_factory=list[bytes])


class AnsweredBatches:
    """The batches of a client that get one answer."""

    def __init__(self) -> None:
        self._batches: list[_Batch] = []

    def begin(self, numbers: Sequence[object]) -> None:
        """The client has sent a batch with requests of these ids."""
        if numbers:
            self._batches.append(_Batch(list(numbers)))

    def joined(self, sent: Sequence[Sent]) -> Iterator[Sent]:
        """These lines; the answers to a batch as one line, once the last is among them."""
        for one in sent:
            whole = next((whole for whole in self._batches if one.is_answer and one.origin in whole.open), None)
            if whole is None:
                yield one
                continue
            whole.open.remove(one.origin)
            whole.answers.append(one.data)
            if not whole.open:
                self._batches.remove(whole)
                yield Sent(b"[" + b",".join(whole.answers) + b"]", None, True)
