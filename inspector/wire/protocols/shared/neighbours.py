"""Pairs of neighbours in a history. It is walked in C, since the order of all messages is looked at in each request."""

from collections.abc import Callable, Iterator, Sequence
from itertools import compress, count, islice


def neighbours(before: Sequence[bool], after: Sequence[bool], fit: Callable[[bool, bool], bool]) -> Iterator[int]:
    """The places of messages that fit the one before them. `fit` is a function in C, such as `bool.__and__`.

    `before` and `after` say something of each message.
    """
    return compress(count(1), map(fit, before, islice(after, 1, None)))
