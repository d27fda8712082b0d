"""Searches for words in everything on the wire of a run: system prompts, tools, headers, bodies, raw events.

A run keeps no bodies, so the file is read again, one round trip at a time. A text that is sent in each request counts
once: at the first round trip that has it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.tape.model import Headers, RoundTrip

from ..wire.exchange import Exchange
from ..wire.json_value import compact, is_array, is_object, parse_json
from ..wire.request_bodies import WORTHWHILE
from ..wire.sessions import turns_of
from .labelled import Key
from .run_index import Run
from .walked_bodies import WalkedBodies

BEFORE = 500
"""How many rows before a request may have the answer that it sends back for the first time."""

type Hits = Mapping[Key, str]
"""The key of a round trip → where in it the word is, such as `request /system/0/text`."""

_PLAIN = re.compile(r"[\w .,:;()=+*#@?%$^|~!\[\]{}-]+", re.ASCII)
"""Words that JSON has as they are. Other characters may be escaped there."""


class SentSearch:
    """Looks for words, given in lower case; `hits` grows while `read_on` is consumed."""

    def __init__(self, run: Run, words: Sequence[str]) -> None:
        self._run = run
        self._words = tuple(words)
        self._seen: set[tuple[str, int]] = set()
        """Each word, with the hash of each text that has it."""
        self._walked = WalkedBodies()
        self._next = 0
        self.hits: dict[str, dict[Key, str]] = {word: {} for word in self._words}
        self._in_bytes = [
            re.compile(re.escape(word.encode()), re.IGNORECASE) if _PLAIN.fullmatch(word) else None
            for word in self._words
        ]

    @property
    def words(self) -> tuple[str, ...]:
        return self._words

    @property
    def complete(self) -> bool:
        """Whether all round trips that the run has read so far were searched."""
        return self._next >= self._run.held

    def read_on(self) -> Iterator[float]:
        """Search the round trips that were not searched yet; gives the share that is done after each."""
        for trip in self._run.again(self._next):
            self._next += 1
            if trip is not None:
                self._search(trip)
            yield self._next / max(1, self._run.held)

    def _search(self, trip: RoundTrip) -> None:
        try:
            for turn in turns_of(trip) or [trip]:
                self._search_turn((trip.index, turn.started_at, turn.request_at or 0), turn)
        except TurntapeError:
            return  # a body that cannot be read is among the problems of the run

    def _search_turn(self, key: Key, trip: RoundTrip) -> None:
        for where, text in self._texts(trip):
            lowered = text.lower()
            for word in self._words:
                if word in lowered and (word, hash(text)) not in self._seen:
                    self._seen.add((word, hash(text)))
                    if not self._answered(word, lowered, key):
                        self.hits[word].setdefault(key, where)

    def _answered(self, word: str, text: str, key: Key) -> bool:
        """Whether an earlier answer has the text, perhaps in pieces: then this is the answer, sent back."""
        escaped, rows = compact(text)[1:-1], self._run.rows.all
        end = bisect_left(rows, key, key=lambda row: row.key)
        return any(
            word in row.haystack and (text in row.haystack or escaped in row.haystack)
            for row in reversed(rows[max(0, end - BEFORE) : end])
        )

    def _texts(self, trip: RoundTrip) -> Iterator[tuple[str, str]]:
        request, response = trip.request, trip.response
        yield "URL", request.url
        yield from _headers("request", request.headers)
        exchange = Exchange(trip)
        yield from self._requested(exchange)
        if response is None:
            return
        yield from _headers("response", (*response.headers, *response.trailers))
        if not self._may_hold(response.body):
            return
        if exchange.framing is None:
            yield from _strings("response", exchange.answer, response.body)
        for number, event in enumerate(exchange.events, 1):
            if self._may_hold(event.data):
                yield from _strings(f"event {number}", parse_json(event.data), event.data)
            yield f"event {number}", event.name

    def _requested(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        """The texts of a request; of a large one those that the request it continues does not have."""
        body = exchange.request.body
        if len(body) >= WORTHWHILE and (fields := exchange.fields):
            for pointer, value in self._walked.news(fields, len(body)):
                yield from _strings("request", value, body, pointer)
        elif self._may_hold(body):
            yield from _strings("request", exchange.body, body)

    def _may_hold(self, body: bytes) -> bool:
        """False only where none of the words can be in the body."""
        return any(pattern is None or pattern.search(body) is not None for pattern in self._in_bytes)


def _headers(side: str, headers: Headers) -> Iterator[tuple[str, str]]:
    for name, value in headers:
        yield f"{side} header {name}", f"{name}: {value}"


def _strings(where: str, value: object, body: bytes, pointer: str = "") -> Iterator[tuple[str, str]]:
    """All strings of the JSON value at a pointer, names of fields too, with their places.

    A body that is not JSON is one text.
    """
    if value is None and not pointer:
        yield f"{where} body", body.decode("utf-8", "replace")
        return
    todo: list[tuple[str, object]] = [(pointer, value)]
    while todo:
        pointer, item = todo.pop()
        if isinstance(item, str):
            yield f"{where} {pointer}", item
        elif is_array(item):
            todo += [(f"{pointer}/{at}", one) for at, one in reversed(list(enumerate(item)))]
        elif is_object(item):
            for name in item:
                yield f"{where} {pointer}/{name}", name
            todo += [(f"{pointer}/{name}", one) for name, one in reversed(item.items())]
        elif item is not None and not isinstance(item, bool):
            yield f"{where} {pointer}", str(item)
