"""What the answers of an API must look like, field by field, and how one answer departs from that.

A format is made of few words. A text names a type: `text`, `name` (a text that is not blank), `count` (a whole number
that is not negative), `number`, `flag`, `object`, `list`, `any`, or several of them with `|` between. `words` is a
text of a fixed set. A mapping is an object, a list with one format is a list of it, `Tagged` chooses by a field, and
`OneOf` has one field of several.

A key ending in `?` may be missing or null. Any other belongs to every answer, but servers that copy the API leave
fields out: an absence or a blank is a departure that clients put up with, unless the key ends in `!`. A type beginning
with `~` is one whose departures clients put up with.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cache

from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import frozen

from .exchange import Exchange
from .json_value import Object, as_text, is_array, is_object

type Format = str | Words | Tagged | OneOf | Mapping[str, Format] | list[Format]


@frozen
class Words:
    """A text that is one of a few words."""

    allowed: frozenset[str]
    lenient: bool = False


@frozen
class Tagged:
    """An object whose field `by` says which of the formats it has; an unknown word has none."""

    by: str
    members: Mapping[str, Format]
    otherwise: Format | None = None
    """The format of an object without this field; None when the field must be there."""


@frozen
class OneOf:
    """An object that holds one of these fields alone: a union of AWS, which its SDKs refuse with two.

    Source: `ResponseParser._has_unknown_tagged_union_member` of botocore 1.44.5, read 2026-11-23.
    """

    fields: Mapping[str, Format]


@frozen
class Departure:
    """One field that is not as the format says."""

    path: str
    says: str
    """The rest of the sentence that begins with the path."""
    lenient: bool = False
    """True when clients put up with it."""
    absent: bool = False
    """True when the field is left out, null or blank."""
    optional: bool = False
    """True when the API may leave the field out, and it is null: this says something of an empty answer only."""


@frozen
class FieldNames:
    """What the fields of an API's answers hold, by their names: other rules ask what a wrong field explains."""

    texts: frozenset[str] = frozenset()
    """What the model said, and what holds that."""
    calls: frozenset[str] = frozenset()
    """The name of a call, and what holds that."""
    arguments: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    """What distinguishes calls."""
    ends: frozenset[str] = frozenset()
    """What an answer says only once."""
    unread: frozenset[str] = frozenset()
    """What clients do not read: a server may leave it out."""


@frozen
class AnswerFormat:
    """The format of an API's answers."""

    whole: Format
    """Of an answer in one body."""
    events: Mapping[str, Format] = field(default_factory=dict[str, Format])
    """Of each event of a stream by its kind; an event of another kind has no format."""
    every: Format = "any"
    """Of every event of a stream."""
    kind: Callable[[str, Object], str] = lambda name, body: as_text(body.get("type")) or name
    """The kind of an event, given its name and its body."""
    names: FieldNames = FieldNames()
    nulls: bool = True
    """False for an API that leaves out a field which has no value, and never writes null in its place."""
    within: str = ""
    """The field that may hold the answer or the event, where a gateway puts it into an object."""


def words(*allowed: str, lenient: bool = False) -> Words:
    """The format of a text that is one of `allowed`."""
    return Words(frozenset(allowed), lenient)


def format_departures(exchange: Exchange, expected: AnswerFormat) -> Iterator[Departure]:
    """How the answer departs from the format of its API, in the order of its bytes; each departure once."""
    seen: set[Departure] = set()
    for one in _all_departures(exchange, expected):
        if one not in seen:
            seen.add(one)
            yield one


def _all_departures(exchange: Exchange, expected: AnswerFormat) -> Iterator[Departure]:
    if exchange.framing is None:
        if exchange.answer_fields:
            yield from departures(_inner(exchange.answer_fields, expected), expected.whole, nulls=expected.nulls)
        return
    for event in exchange.events:
        body = event.value if event.kind != "comment" else None
        if not is_object(body) or event.kind == "exception" or "error" in body:
            continue
        body = _inner(body, expected)
        if expected.every != "any":
            yield from departures(body, expected.every, nulls=expected.nulls)
        kind = expected.kind(event.name, body)
        if kind in expected.events:
            yield from departures(body, expected.events[kind], nulls=expected.nulls)


def _inner(body: Object, expected: AnswerFormat) -> Object:
    inner = body.get(expected.within) if expected.within else None
    return inner if is_object(inner) else body


def departures(value: object, expected: Format, path: str = "", *, nulls: bool = True) -> Iterator[Departure]:
    """How a value departs from a format; `nulls` is False where a field without a value is always left out."""
    if isinstance(expected, str):
        if expected != "any" and not _is_a(value, expected):
            wanted = " or ".join(_A[one] for one in expected.removeprefix("~").split("|"))
            lenient = expected.startswith("~") or _is_blank(value)
            says = f"is {shown(value)}, where the API has {wanted}"
            yield Departure(path, says, lenient, absent=_is_blank(value))
    elif isinstance(expected, Words):
        if value not in expected.allowed if isinstance(value, str) else True:
            wanted = " or ".join(map(repr, sorted(expected.allowed)))
            lenient = expected.lenient or _is_blank(value)
            says = f"is {shown(value)}, where the API has {wanted}"
            yield Departure(path, says, lenient, absent=_is_blank(value))
    elif isinstance(expected, list):
        if not is_array(value):
            yield Departure(path, f"is {shown(value)}, where the API has a list")
            return
        for place, item in enumerate(value):
            yield from departures(item, expected[0], f"{path}[{place}]", nulls=nulls)
    elif not is_object(value):
        yield Departure(path, f"is {shown(value)}, where the API has an object")
    elif isinstance(expected, Tagged):
        tag = value.get(expected.by)
        if expected.otherwise is not None and (not isinstance(tag, str) or tag not in expected.members):
            yield from departures(value, expected.otherwise, path, nulls=nulls)
        elif not isinstance(tag, str) or not tag:
            yield Departure(
                _under(path, expected.by), "is missing" if tag is None else f"is {shown(tag)}, where the API has a text"
            )
        elif tag in expected.members:
            yield from departures(value, expected.members[tag], path, nulls=nulls)
    elif isinstance(expected, OneOf):
        held = sorted(key for key, one in value.items() if one is not None and key != "__type")
        if len(held) > 1:
            yield Departure(path, f"has {' and '.join(map(repr, held))}, where the API has one of them alone")
        yield from _of_object(value, expected.fields, path, nulls=nulls)
    else:
        yield from _of_object(value, expected, path, nulls=nulls)


def _of_object(value: Object, expected: Mapping[str, Format], path: str, *, nulls: bool) -> Iterator[Departure]:
    for name, inner in expected.items():
        key = name.rstrip("?!")
        found = value.get(key)
        if found is not None and isinstance(inner, str) and (inner == "any" or _is_a(found, inner)):
            continue
        if found is not None or (key in value and isinstance(inner, str) and "null" in inner):
            for one in departures(found, inner, _under(path, key), nulls=nulls):
                strict = name.endswith("!") and one.path == _under(path, key)
                yield replace(one, lenient=False) if strict else one
        elif name.endswith("?"):
            if key in value and not (nulls and isinstance(inner, str | Words)):
                yield Departure(_under(path, key), "is null", lenient=True, absent=True, optional=nulls)
        else:
            says = "is null" if key in value else "is missing"
            yield Departure(_under(path, key), says, lenient=not name.endswith("!"), absent=True)


def last_name(path: str) -> str:
    """The last name of a place such as `choices[0].message.content`."""
    return path.rpartition(".")[2].partition("[")[0]


def _is_blank(value: object) -> bool:
    """True for a text without a character; servers that copy an API write it where they know nothing."""
    return isinstance(value, str) and not value.strip()


def _under(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


_A = {
    "text": "a text",
    "name": "a text",
    "count": "a whole number from 0 on",
    "number": "a number",
    "flag": "true or false",
    "object": "an object",
    "list": "a list",
    "null": "null",
}


def _is_a(value: object, types: str) -> bool:
    for is_one in _tests(types):  # noqa: SIM110 - each field of each event comes through here
        if is_one(value):
            return True
    return False


@cache
def _tests(types: str) -> tuple[Callable[[object], bool], ...]:
    return tuple(_IS[one] for one in types.removeprefix("~").split("|"))


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and value % 1 == 0


_IS: Mapping[str, Callable[[object], bool]] = {
    "text": lambda value: isinstance(value, str),
    "name": lambda value: isinstance(value, str) and bool(value.strip()),
    "count": _is_count,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "flag": lambda value: isinstance(value, bool),
    "object": is_object,
    "list": is_array,
    "null": lambda value: value is None,
}


def shown(value: object) -> str:
    """A JSON value in a few words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "blank" if not value.strip() else f"the text {cut(value, 40)!r}"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "an object" if is_object(value) else "a list"
