"""Compares what was sent with what arrived: lists every difference, and the reason if HTTP requires it."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from turntape.cassettes.counted import several
from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import split_url

from .messages import Fields, Message
from .wire import Exchange

HOP_BY_HOP = {
    "proxy-connection": "it is for the proxy, which does not pass it on",
    "proxy-authorization": "it is for the proxy, which does not pass it on; turntape reads the run and the token in it",
    "connection": "it belongs to one connection, of which there are two (RFC 9110, 7.6.1)",
    "keep-alive": "it belongs to one connection, of which there are two (RFC 9110, 7.6.1)",
    "expect": "`100-continue` is answered by whoever reads the body first (RFC 9110, 10.1.1)",
}
"""Fields between two ends of a connection, and why they may differ."""
HOST = "the base URL has turntape's address; the API gets its own"
PREFIX = "the base URL's path names the API; the API gets its own path"
ABSOLUTE = "a proxy gets the whole URL, a server the path (RFC 9112, 3.2)"
UPSTREAM = "--upstream names another place, and the path under it"
CHUNKED = "a chunked request is passed on when it is complete: the chunks belong to one connection (RFC 9112, 7.1)"


_ROUTE = re.compile(r"(?:/t/[^/]+)?(?:/s/[^/]+)?/[^/]+(/.*)$")
"""A path of the base-URL route, and what follows the API's name in it."""
_DOUBLED = re.compile(r"^/v\d+[a-z]*(/v\d+[a-z]*/)")
"""A version that is in the base URL and in the path of the client."""
SPLIT = "a chunk that comes in several pieces is passed on piece by piece, not held until it is whole (RFC 9112, 7.1)"


@frozen
class Difference:
    side: str
    """`request` or `response`."""
    what: str
    sent: str
    arrived: str
    why: str | None
    """Why HTTP or the user requires it; None when nothing does."""


@frozen
class Compared:
    """One exchange as both witnesses saw it; `behind` is None when turntape did not pass it on."""

    before: Exchange
    behind: Exchange | None
    differences: tuple[Difference, ...]


def compare(before: Sequence[Exchange], behind: Sequence[Exchange]) -> list[Compared]:
    """Every exchange of the client, with the one that the API saw."""
    left = list(behind)
    found: list[Compared] = []
    for exchange in before:
        other = next((one for one in left if _is_same(exchange, one)), None)
        if other is not None:
            left.remove(other)
            found.append(Compared(exchange, other, tuple(differences(exchange, other))))
        else:
            found.append(Compared(exchange, None, ()))
    return found


def _is_same(before: Exchange, behind: Exchange) -> bool:
    """Whether both are the same request, by the parts that a proxy must not change."""
    one, other = before.request, behind.request
    if one.method != other.method or behind.order < before.order:
        return False
    last = split_url(one.target).path.rpartition("/")[2]
    return one.body == other.body and split_url(other.target).path.rpartition("/")[2] == last


def differences(before: Exchange, behind: Exchange) -> Iterator[Difference]:
    yield from _requests(before.request, behind.request)
    if before.response is None or behind.response is None:
        if (before.response is None) != (behind.response is None):
            said = ["nothing" if one.response is None else one.response.first for one in (behind, before)]
            yield Difference("response", "answer", said[0], said[1], None)
        return
    yield from _responses(behind.response, before.response)


def _requests(sent: Message, arrived: Message) -> Iterator[Difference]:
    by_base_url = False
    if sent.first != arrived.first:
        why = _why_target(sent, arrived)
        by_base_url = why in (PREFIX, UPSTREAM)
        yield Difference("request", "request line", sent.first, arrived.first, why)
    yield from _fields("request", sent.fields, arrived.fields, by_base_url)
    if sent.body != arrived.body:
        yield Difference("request", "body", _size(sent.body), _size(arrived.body), None)
    if sent.chunks != arrived.chunks:
        yield Difference("request", "chunks", _count(sent.chunks), _count(arrived.chunks), CHUNKED)
    if sent.trailers != arrived.trailers:
        yield Difference("request", "trailers", str(len(sent.trailers)), str(len(arrived.trailers)), None)


def _why_target(sent: Message, arrived: Message) -> str | None:
    if sent.method != arrived.method or sent.first.rpartition(" ")[2] != arrived.first.rpartition(" ")[2]:
        return None
    url = split_url(sent.target)
    path = url.path + (f"?{url.query}" if url.query else "")
    if path == arrived.target:
        return ABSOLUTE
    if arrived.target.endswith(path):
        return UPSTREAM
    route = _ROUTE.match(path)
    rest = route[1] if route else None
    if rest and (arrived.target.endswith(rest) or arrived.target.endswith(_DOUBLED.sub(r"\1", rest))):
        return PREFIX
    return None


def _fields(side: str, sent: Fields, arrived: Fields, by_base_url: bool) -> Iterator[Difference]:
    one, other = _by_name(sent), _by_name(arrived)
    for name in dict.fromkeys([*one, *other]):
        if one.get(name) != other.get(name):
            why = HOP_BY_HOP.get(name)
            if name == "host" and by_base_url and side == "request":
                why = HOST
            shown = [_shown(name, values.get(name)) for values in (one, other)]
            yield Difference(side, f"field {name}", shown[0], shown[1], why)
    kept = [[pair for pair in fields if _is_kept(pair[0], one, other)] for fields in (sent, arrived)]
    if [name for name, _ in kept[0]] != [name for name, _ in kept[1]]:
        yield Difference(side, "order or spelling of the fields", _names(kept[0]), _names(kept[1]), None)


def _is_kept(name: str, one: dict[str, list[str]], other: dict[str, list[str]]) -> bool:
    return one.get(name.lower()) == other.get(name.lower())


def _responses(sent: Message, arrived: Message) -> Iterator[Difference]:
    if sent.first != arrived.first:
        yield Difference("response", "status line", sent.first, arrived.first, None)
    yield from _fields("response", sent.fields, arrived.fields, by_base_url=False)
    # A client that leaves early has read less than the API sent; it must be the beginning of what the API sent.
    whole = arrived.whole or not sent.body.startswith(arrived.body)
    if whole and sent.body != arrived.body:
        yield Difference("response", "body", _size(sent.body), _size(arrived.body), None)
    chunks = sent.chunks if whole else sent.chunks[: len(arrived.chunks)]
    if chunks[:-1] != arrived.chunks[:-1] or (whole and chunks != arrived.chunks):
        why = SPLIT if _is_finer(arrived.chunks, sent.chunks) else None
        yield Difference("response", "chunks", _count(sent.chunks), _count(arrived.chunks), why)
    if whole and sent.trailers != arrived.trailers:
        yield Difference("response", "trailers", str(len(sent.trailers)), str(len(arrived.trailers)), None)


def _is_finer(chunks: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether every chunk of `whole` ends where a chunk of `chunks` ends, up to the length of `chunks`."""
    ends, end = set(accumulate(chunks)), sum(chunks)
    return all(at in ends for at in accumulate(whole) if at <= end)


def _by_name(fields: Fields) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in fields:
        found.setdefault(name.lower(), []).append(value)
    return found


_OPEN = frozenset({"host", "connection", "keep-alive", "expect", "content-length", "transfer-encoding", "content-type"})
"""Fields whose values may be shown; the value of any other may be a key."""


def _shown(name: str, values: list[str] | None) -> str:
    if values is None:
        return "absent"
    return ", ".join(values) if name in _OPEN else "present"


def _names(fields: Sequence[tuple[str, str]]) -> str:
    return " ".join(name for name, _ in fields)


def _size(body: bytes) -> str:
    return several(len(body), "byte")


def _count(chunks: tuple[int, ...]) -> str:
    return several(len(chunks), "chunk") if chunks else "no chunks"
