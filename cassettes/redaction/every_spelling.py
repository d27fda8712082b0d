"""Finds the secrets of a body however they are spelled, and covers what overlapping ones leave."""

from collections.abc import Callable, Iterator

from .base64_texts import in_base64
from .body_search import Spans
from .marks import without_marks
from .spelled_out import Segments, escaped, streamed
from .wide_texts import in_wide_text

type Search = Callable[[bytes], Spans]


def in_every_spelling(body: bytes, search: Search, stream: bool) -> Iterator[tuple[Segments, int]]:
    """The segments of each secret, and how many of its first bytes stay.

    `stream`: whether one may be spread over several events.
    """
    text = without_marks(body)
    if stream:
        yield from streamed(body, search)  # with its marks, which may be spread over events
    yield from escaped(text, search)
    yield from in_base64(text, search)
    yield from in_wide_text(text, search)
    yield from ((((start, end),), keep) for start, (end, keep) in sorted(search(body).items()))


def cover(out: bytearray, taken: bytearray, segments: Segments) -> None:
    """Mask what is left of a secret that another one overlaps. `taken` has a 1 where `out` is masked."""
    for start, end in segments:
        while (at := taken.find(0, start, end)) >= 0:
            stop = taken.find(1, at, end)
            stop = end if stop < 0 else stop
            out[at:stop] = b"*" * (stop - at)
            taken[at:stop] = b"\1" * (stop - at)
