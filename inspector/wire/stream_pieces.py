"""The pieces of a stream by the place that they grow, in any API, to see that a server repeats what it already sent."""

from collections.abc import Iterable, Mapping, Sequence

from turntape.cassettes.framing import Event

from .json_value import Object, as_text, is_array, is_object

type Place = tuple[object, ...]
"""The kind of an event, then the keys and numbers that lead to a value in it."""
type Values = Mapping[Place, Sequence[object]]
"""The pieces of a stream by their place, as `values_of` finds them."""
type Texts = Sequence[Sequence[str]]
"""The pieces of each text of a stream."""

_TEXTS = frozenset(
    {
        "arguments",
        "content",
        "delta",
        "input",
        "partial_json",
        "reasoning",
        "reasoning_content",
        "refusal",
        "text",
        "thinking",
        "tool_plan",
    }
)
"""The fields in which APIs send pieces of text."""
_LISTS = frozenset({"parts", "tool_calls"})
"""The fields in which APIs send lists of calls."""
_NUMBERS = ("index", "output_index", "content_index", "summary_index", "contentBlockIndex")
_FEW, _MANY, _LONG, _AGAIN = 3, 8, 20, 40
_DEEPEST = 8
_EFFORT = 4
"""A text that keeps coming back to its first words is compared with its beginning up to so many times its length."""


def texts_of(values: Values) -> Texts:
    """The pieces of each text, without the empty ones."""
    texts = ([one for one in pieces if isinstance(one, str) and one] for pieces in values.values())
    return [pieces for pieces in texts if pieces]


def repeated_text(texts: Texts) -> list[str]:
    """The last two pieces of the first text that comes as snapshots, each with all that came before; else empty."""
    return next(([*pieces[-2:]] for pieces in texts if _are_snapshots(pieces)), list[str]())


def doubled_text(texts: Texts) -> str | None:
    """A piece of the first text whose pieces, but for white space, all come twice; None when there is no such text."""
    for pieces in texts:
        if len(pieces) >= _MANY and _are_doubled(words := [piece for piece in pieces if piece.strip()]):
            return words[0]
    return None


def _are_doubled(pieces: Sequence[str]) -> bool:
    """True when every piece is there twice. A model that repeats one word has few different pieces."""
    return len(pieces) >= _MANY and pieces[::2] == pieces[1::2] and len(set(pieces)) >= _FEW


def begun_again(texts: Texts) -> str | None:
    """The first text that starts again from its beginning, up to there; None when there is no such text.

    A model that repeats itself continues to do so, or says one thing many times from the start.
    """
    return next((found for pieces in texts if (found := _begun_again(pieces)) is not None), None)


def _begun_again(pieces: Sequence[str]) -> str | None:
    text, at = "".join(pieces), 0
    head, left = text[:_AGAIN], _EFFORT * len(text)
    for number, piece in enumerate(pieces, 1):
        at += len(piece)
        if 2 * at > len(text) or left < 0:
            return None
        if number < _FEW or at < _AGAIN or not text.startswith(head, at):
            continue
        said, left = text[:at], left - at
        if text.startswith(said, at) and not text.startswith(said, 2 * at) and said not in (said + said)[1:-1]:
            return said
    return None


def repeats_calls(values: Values) -> bool:
    """True when each list of calls begins with the list before it."""
    return any(
        _is_repeated([list(one) for one in pieces if is_array(one) and any(map(_is_call, one))])
        for pieces in values.values()
    )


def _is_call(item: object) -> bool:
    return is_object(item) and ("functionCall" in item or "function" in item)


def _is_repeated(sent: Sequence[list[object]]) -> bool:
    pairs = list(zip(sent, sent[1:], strict=False))
    grows = any(len(after) > len(before) for before, after in pairs)
    return grows and all(after[: len(before)] == before for before, after in pairs)


def _are_snapshots(pieces: Sequence[str]) -> bool:
    grows = all(
        len(after) > len(before) and after.startswith(before) for before, after in zip(pieces, pieces[1:], strict=False)
    )
    return len(pieces) >= _FEW and len(pieces[-1]) >= _LONG and grows


def values_of(events: Iterable[Event]) -> Values:
    """All pieces of text and lists of calls, by their place."""
    found: dict[Place, list[object]] = {}
    for event in events:
        body = event.value if event.kind != "comment" else None
        if is_object(body):
            kind = as_text(body.get("type")) or event.name
            _find(found, body, (kind, *_numbers(body)), 0)
    return found


def _find(found: dict[Place, list[object]], fields: Object, place: Place, depth: int) -> None:
    for key, value in fields.items():
        if isinstance(value, str):
            if key in _TEXTS:
                found.setdefault((*place, key), []).append(value)
        elif is_object(value):
            if depth < _DEEPEST:
                _find(found, value, (*place, key, *_numbers(value)), depth + 1)
        elif is_array(value):
            if key in _LISTS:
                found.setdefault((*place, key), []).append(value)
            if depth < _DEEPEST:
                for number, item in enumerate(value):
                    if is_object(item):
                        _find(found, item, (*place, key, *(_numbers(item) or (number,))), depth + 1)


def _numbers(fields: Object) -> tuple[object, ...]:
    """The numbers by which an object says what it is a piece of."""
    if fields.keys().isdisjoint(_NUMBERS):
        return ()
    return tuple(value for name in _NUMBERS if isinstance(value := fields.get(name), int))
