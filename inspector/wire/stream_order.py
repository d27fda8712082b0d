"""The order in which an API sends the events of a stream, as a small table, and how one stream breaks it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import chain

from turntape.cassettes.frozen import frozen, mutable

from .answer_format import FieldNames
from .json_value import Object, as_text, is_array, is_object, value_at

type Named = tuple[str, Object]
"""An event of a stream: its kind and its body."""


@frozen
class Piece:
    """A part of an answer that has an event which opens it, events which grow it, and one which closes it."""

    opens: str
    """The kind of its first event; empty when it begins with its first piece."""
    grows: tuple[str, ...]
    """The kinds of its events; each may end in `*`."""
    closes: str
    place: tuple[str, ...] = ("index",)
    """The keys of the numbers that say which piece it is."""
    counted: bool = True
    """True when the pieces are numbered from 0 on, without a gap."""
    implied: bool = False
    """True when a piece may begin without the event that opens it."""
    ended: bool = False
    """True when a complete stream closes every piece that grew, and clients can do without that."""


@frozen
class StreamOrder:
    """What is fixed about the order of an API's events."""

    first: str = ""
    """The event that begins every stream."""
    last: str = ""
    """The event after which nothing of the answer comes."""
    once: tuple[str, ...] = ()
    """Events that come exactly once in a complete stream."""
    pieces: tuple[Piece, ...] = ()
    anywhere: frozenset[str] = frozenset({"ping", "error", "keepalive"})
    """Events that may come at any time."""
    number: str = ""
    """The key of a number that each event has, one more than the event before."""
    kind: Callable[[str, Object], str] = lambda name, body: as_text(body.get("type")) or name


@mutable
class _Seen:
    opened: dict[tuple[str, tuple[object, ...]], bool] = field(
        default_factory=dict[tuple[str, tuple[object, ...]], bool]
    )
    """The pieces so far, and whether each is closed."""
    pieces: Counter[tuple[str, tuple[object, ...]]] = field(default_factory=Counter[tuple[str, tuple[object, ...]]])
    """How many pieces there are so far under the numbers before the last one of each."""
    count: dict[str, int] = field(default_factory=dict[str, int])
    number: int | None = None

    def open(self, place: tuple[str, tuple[object, ...]], *, closed: bool = False) -> None:
        """A piece begins here, or again."""
        if place not in self.opened:
            self.pieces[place[0], place[1][:-1]] += 1
        self.opened[place] = closed


def order_breaks(events: Iterable[Named], order: StreamOrder) -> Iterator[str]:
    """One sentence for each way in which the events break the order."""
    seen = _Seen()
    over = ""
    concerned: dict[str, list[Piece]] = {}
    for position, (name, body) in enumerate((order.kind(name, body), body) for name, body in events):
        if name in order.anywhere:
            continue
        if not seen.count and name == order.last:
            return  # One event holds the whole answer.
        if not seen.count and order.first and name != order.first:
            yield f"it begins with {name!r}, where the API begins with {order.first!r}"
        if over:
            yield f"{name!r} comes after {over!r}, the last event of the API"
        seen.count[name] = seen.count.get(name, 0) + 1
        if name in order.once and seen.count[name] == 2:
            yield f"{name!r} comes twice"
        yield from _numbered(seen, body, order.number, position)
        if name not in concerned:
            concerned[name] = [piece for piece in order.pieces if _is_of(piece, name)]
        for piece in concerned[name]:
            yield from _of_piece(seen, piece, name, body)
        over = over or (name if name == order.last else "")
    for name in order.once:
        if seen.count and name not in seen.count:
            yield f"{name!r} never comes"


def never_closed(events: Iterable[Named], order: StreamOrder) -> Iterator[str]:
    """One sentence for each piece of a complete stream that grew and whose last event is left out."""
    grown: dict[tuple[Piece, tuple[object, ...]], None] = {}
    over = False
    pieces = [piece for piece in order.pieces if piece.ended]
    for name, body in ((order.kind(name, body), body) for name, body in events):
        over = over or name == order.last
        for piece in pieces:
            place = (piece, tuple(_number(body.get(key)) for key in piece.place))
            if _grows(piece, name):
                grown[place] = None
            elif name == piece.closes:
                grown.pop(place, None)
    if over:
        yield from (f"{piece.closes!r} never comes" for piece, _ in grown)


def _numbered(seen: _Seen, body: Object, key: str, position: int) -> Iterator[str]:
    now = body.get(key) if key else None
    if not isinstance(now, int):
        return
    if seen.number is not None and now != seen.number + 1:
        yield f"event {position} has the {key} {now} after {seen.number}: events are lost, repeated or in another order"
    seen.number = now


def _of_piece(seen: _Seen, piece: Piece, name: str, body: Object) -> Iterator[str]:
    opens, closes = name == piece.opens, name == piece.closes
    place = (piece.closes, tuple(_number(body.get(key)) for key in piece.place))
    shown = " ".join(f"{key} {value}" for key, value in zip(piece.place, place[1], strict=True))
    if opens:
        if place in seen.opened:
            yield f"{name!r} of {shown} comes twice"
        elif piece.counted and place[1][-1] != seen.pieces[piece.closes, place[1][:-1]]:
            yield f"{name!r} has the {shown}, which is not the next one"
        seen.open(place)
    elif place not in seen.opened:
        if not piece.implied or (closes and piece.opens):
            yield f"{name!r} of {shown} comes without {piece.opens!r} before it"
        seen.open(place, closed=closes)
    elif seen.opened[place]:
        yield f"{name!r} of {shown} comes after {piece.closes!r}"
    else:
        seen.opened[place] = closes


def twice(events: Iterable[Named], names: FieldNames) -> Iterator[str]:
    """One sentence when an event that can only come once comes twice in a row: a text of words, a call, an end.

    A model that is caught in a loop says a text more often than twice.
    """
    before: Named = ("", {})
    times = 1
    for name, body in chain(events, [("", {})]):
        if (name, body) == before:
            times += 1
            continue
        if times > 1 and _only_once(before[1], names, texts=times == 2):
            kind = as_text(before[1].get("type")) or before[0]
            yield f"the same event{f' {kind!r}' if kind else ''} comes twice in a row"
            return
        before, times = (name, body), 1


_LONG = 12
"""Characters. A model may say a shorter text twice in a row; in recorded streams, none so long came twice."""
_VARIED = 8
"""Different characters. Lines, indents and rows of a table have fewer, and some are one token that comes many times."""


def _only_once(value: object, names: FieldNames, depth: int = 0, *, texts: bool) -> bool:
    """Whether a part of an event can only come once. `texts`: whether a text may be such a part."""
    if depth > _DEEPEST:
        return False
    if is_array(value):
        return any(_only_once(item, names, depth + 1, texts=texts) for item in value)
    if not is_object(value):
        return False
    return any(
        (key in names.ends and bool(inner))
        or (texts and (key in names.texts or key in names.arguments) and _is_said_once(inner))
        or _only_once(inner, names, depth + 1, texts=texts)
        for key, inner in value.items()
    )


def _is_said_once(value: object) -> bool:
    return isinstance(value, str) and len(value) >= _LONG and len(set(value)) >= _VARIED


_DEEPEST = 6
"""So deep is an event looked into; the texts of every API are above that."""


def _number(value: object) -> object:
    return value if isinstance(value, int) else str(value)


def _is_of(piece: Piece, name: str) -> bool:
    return bool(name and name == piece.opens) or name == piece.closes or _grows(piece, name)


def _grows(piece: Piece, name: str) -> bool:
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in piece.grows)


def unsteady(events: Iterable[Object], steady: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """One sentence for each value that must be the same in all events and is not; `steady` has the paths by name."""
    first: dict[str, object] = {}
    said: set[str] = set()
    for body in events:
        for what, path in steady.items():
            value = value_at(body, path)
            if value in (None, "") or isinstance(value, list | dict):
                continue
            if what in first and first[what] != value and what not in said:
                said.add(what)
                yield f"{what} changes from {first[what]!r} to {value!r}"
            first.setdefault(what, value)
