"""Searches everything that was sent, on another thread, while the list shows what is found so far."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Thread

from ....run.row import Row
from ....run.run_index import Run
from ....run.sent_search import SentSearch
from .messages import Post, SentSearched

KEPT = 8
"""How many searches are remembered."""
SHORTEST = 2
"""A word with fewer characters is only searched in what is new."""
NEWS_SECONDS, NEWS_PART = 0.1, 0.1
"""Seconds between two messages about a search, at least, and as a part of the time that it has taken so far.

After each message the list is filled again, which takes time from the search in a long run.
"""


def in_thread(call: Callable[[], None]) -> None:
    """Call a function on a thread that ends with the program."""
    Thread(target=call, name="turntape-search", daemon=True).start()


class Reading:
    """A search that is being read on."""

    def __init__(self, search: SentSearch) -> None:
        self.search = search
        self.share = 0.0
        """How much was read, from 0 to 1."""
        self.ended = False


class SentSearcher:
    """`look` for words; posts `SentSearched` while it reads and at the end. A newer search stops the one before."""

    def __init__(self, run: Run, post: Post, start: Callable[[Callable[[], None]], object] = in_thread) -> None:
        self._run, self._post, self._start = run, post, start
        self._searches: OrderedDict[tuple[str, ...], SentSearch] = OrderedDict()
        self._reading: Reading | None = None
        """The newest search; the thread of one that is no longer wanted stops."""

    @property
    def share(self) -> float | None:
        """How much was read, from 0 to 1, while it searches."""
        reading = self._reading
        return reading.share if reading is not None and not reading.ended else None

    @property
    def busy(self) -> bool:
        """True while it searches."""
        return self.share is not None

    def look(self, words: tuple[str, ...]) -> bool:
        """Search for these words; what was searched before is not read again.

        True when there is something to read, so that `SentSearched` follows. The thread may be done before this
        returns, so `share` does not show it.
        """
        words = tuple(word for word in words if len(word) >= SHORTEST)
        self._reading = None
        if not words:
            return False
        search = self._searches.pop(words, None) or SentSearch(self._run, words)
        self._searches[words] = search
        while len(self._searches) > KEPT:
            self._searches.popitem(last=False)
        if search.complete:
            return False
        self._reading = reading = Reading(search)
        self._start(lambda: self._read(reading))
        return True

    def stop(self) -> None:
        """Stop the search."""
        self._reading = None

    def where(self, word: str, row: Row) -> str | None:
        """Where in a round trip the word is, as far as it was searched."""
        for search in [*self._searches.values()]:
            if (found := search.hits.get(word, {}).get(row.key)) is not None:
                return found
        return None

    def _read(self, reading: Reading) -> None:
        begun = posted = time.monotonic()
        for share in reading.search.read_on():
            if self._reading is not reading:
                return
            reading.share = share
            now = time.monotonic()
            if now - posted > max(NEWS_SECONDS, NEWS_PART * (now - begun)):
                posted = now
                self._post(SentSearched(ended=False))
        reading.ended = True
        if self._reading is reading:
            self._post(SentSearched(ended=True))
