"""Where the words of a search occur on a page, folded parts included."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from turntape.cassettes.frozen import frozen

from .pages.blocks import Spans
from .pages.page import Page

MOST = 10_000
"""At most this many lines are counted."""
TITLE = -1
"""The line of a block's title."""

type Place = tuple[int, int]
"""Number of a block, and of a line in it."""
BEFORE: Place = (-1, 0)
"""Above the first line of a page."""


@frozen(slots=False)
class Matches:
    """The lines of a page, laid out for a width, that hold one of the words."""

    page: Page
    width: int
    words: Sequence[str]
    places: Sequence[Place]

    def beside(self, place: Place, by: int) -> int | None:
        """The number of the match after that place, or with `by` -1 of the one before; None when there is none."""
        at = bisect_right(self.places, place) if by > 0 else bisect_left(self.places, place) - 1
        return at if 0 <= at < len(self.places) else None

    def fits(self, page: Page, width: int, words: Sequence[str]) -> bool:
        """Whether these are the matches of that page."""
        return self.page is page and self.width == width and self.words == words


def matches(page: Page, width: int, words: Sequence[str]) -> Matches:
    """All lines of the page that contain one of the words, which are in lower case. Slow for large bodies."""
    return Matches(page, width, words, tuple(_found(page, width, words)))


def _found(page: Page, width: int, words: Sequence[str]) -> Iterator[Place]:
    left = MOST
    for number, block in enumerate(page.blocks):
        for line, spans in _lines(page, number, width, block.title_at(width)):
            text = "".join(text for text, _ in spans).lower()
            if any(word in text for word in words):
                yield number, line
                left -= 1
                if not left:
                    return


def _lines(page: Page, number: int, width: int, title: Spans) -> Iterable[tuple[int, Spans]]:
    yield TITLE, title
    yield from enumerate(page.body(number, width))


def marked(spans: Spans, words: Sequence[str]) -> Spans:
    """A line in which these words, given in lower case, are marked."""
    text = "".join(part for part, _ in spans).lower()
    found = sorted((at, at + len(word)) for word in words for at in _occurrences(text, word))
    if not found or len(text) != sum(len(part) for part, _ in spans):
        return spans
    out: list[tuple[str, str]] = []
    start = 0
    for part, look in spans:
        end, at = start + len(part), start
        for low, high in found:
            low, high = max(low, at), min(high, end)
            if low < high:
                out += [(part[at - start : low - start], look), (part[low - start : high - start], "mark")]
                at = high
        out.append((part[at - start :], look))
        start = end
    return out


def _occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))
