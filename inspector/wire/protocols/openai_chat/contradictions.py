"""How the chunks of a chat stream contradict each other."""

from collections.abc import Iterable, Iterator
from itertools import dropwhile

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object, as_text, is_object, parse_json
from .deltas import index_of

ROLES = (("choices", "*", "message", "role"), ("choices", "*", "delta", "role"))
"""Where an answer and a chunk of one say the role."""
_TIMES = 3
"""So often a name must arrive before it counts as repeated."""


def contradictions(exchange: Exchange) -> Iterator[str]:
    """One sentence for each way in which the answer contradicts itself."""
    if exchange.framing is None:
        whole = [as_object(choice) for choice in as_array(exchange.answer_fields.get("choices"))]
        yield from _shared_index(whole)
        yield from _in_both_fields(whole, "message")
        return
    if late := sum(any(map(_said, _choices_of(chunk))) for chunk in _after_done(exchange)):
        yield f"{late} pieces of the answer come after [DONE], where clients stop to read"
    yield from _second_answer(exchange)
    choices = _Choices(exchange)
    yield from _after_finish(choices)
    yield from _two_ends(choices)
    numbers = set(map(index_of, choices))
    if numbers and 0 not in numbers:
        yield f"its first choice has the index {min(numbers)}: clients that read choice 0 get nothing"
    yield from _in_both_fields(choices, "delta")
    yield from _repeated_names(choices)
    yield from _late_names(choices)
    yield from _whole_among_pieces(choices)


class _Choices:
    """The choices of all chunks, as often as somebody goes over them. They are in no list: a stream may be long."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def __iter__(self) -> Iterator[Object]:
        return (choice for value in self._exchange.bodies for choice in _choices_of(as_object(value)))


def _choices_of(chunk: Object) -> Iterator[Object]:
    return map(as_object, as_array(chunk.get("choices")))


def _after_done(exchange: Exchange) -> Iterator[Object]:
    events = dropwhile(lambda event: event.data.strip() != b"[DONE]", exchange.events)
    return (as_object(event.value) for event in events if event.data.strip() != b"[DONE]")


def _in_both_fields(choices: Iterable[Object], holder: str) -> Iterator[str]:
    """A call in `tool_calls` and in `function_call` of old."""
    new: set[tuple[int, str]] = set()
    old: set[tuple[int, str]] = set()
    for choice in choices:
        message, place = as_object(choice.get(holder)), index_of(choice)
        old.add((place, as_text(as_object(message.get("function_call")).get("name")) or ""))
        calls = map(as_object, as_array(message.get("tool_calls")))
        new.update((place, as_text(as_object(call.get("function")).get("name")) or "") for call in calls)
    for _, name in sorted(new & old):
        if name:
            yield f"the call of {name!r} is in `tool_calls` and again in `function_call`: clients may run it twice"
            return


def breaks(exchange: Exchange) -> Iterator[str]:
    """How an answer breaks the API's format: fields of another type, on which SDKs fail."""
    for choice in _Choices(exchange):
        if "delta" in choice and choice["delta"] is None:
            yield "a chunk has null in place of its delta"
            return
        if is_object(choice.get("finish_reason")):
            yield "its finish word is an object, where the API has a text"
            return
        if is_object(as_object(choice.get("message") or choice.get("delta")).get("content")):
            yield "its content is an object, where the API has a text"
            return


def _said(choice: Object) -> bool:
    delta = as_object(choice.get("delta"))
    return bool(delta.get("content") or delta.get("tool_calls"))


def _second_answer(exchange: Exchange) -> Iterator[str]:
    """A second id and model where the role is said again, after something was said."""
    first: Object | None = None
    said, roles = False, 0
    for chunk in map(as_object, exchange.bodies):
        choices = list(_choices_of(chunk))
        if not choices:
            continue
        begins = any(as_object(choice.get("delta")).get("role") for choice in choices)
        roles += begins
        first = first or chunk
        moved = all(first.get(key) and chunk.get(key) and first[key] != chunk[key] for key in ("id", "model"))
        if moved and begins and said and roles == 2:
            yield (
                f"a second answer begins in it: id {chunk['id']!r} of {chunk['model']!r} "
                f"after {first['id']!r} of {first['model']!r}"
            )
            return
        said = said or any(map(_said, choices))


def _shared_index(choices: list[Object]) -> Iterator[str]:
    numbers = [choice.get("index") for choice in choices if isinstance(choice.get("index"), int)]
    if len(set(numbers)) < len(numbers):
        yield f"{len(choices)} choices share an index: clients that go by it keep one of them"


def _after_finish(choices: Iterable[Object]) -> Iterator[str]:
    """Words or calls of a choice after its finish word; a server that sends the word in each chunk may send words."""
    ended: dict[int, str] = {}
    words = sum(bool(choice.get("finish_reason")) for choice in choices)
    always = words > len({index_of(choice) for choice in choices}) + 1
    for choice in choices:
        place = index_of(choice)
        if place in ended and (as_object(choice.get("delta")).get("tool_calls") if always else _said(choice)):
            yield f"more of the answer comes after its finish word {ended[place]!r}"
            return
        if word := as_text(choice.get("finish_reason")):
            ended[place] = word


def _two_ends(choices: Iterable[Object]) -> Iterator[str]:
    """Another finish word of a choice after its first one."""
    ended: dict[int, str] = {}
    for choice in choices:
        if (word := as_text(choice.get("finish_reason"))) and (
            first := ended.setdefault(index_of(choice), word)
        ) != word:
            yield f"its finish word is {first!r} and then {word!r}"
            return


def _pieces(choices: Iterable[Object]) -> Iterator[tuple[tuple[int, object], Object]]:
    for choice in choices:
        for item in as_array(as_object(choice.get("delta")).get("tool_calls")):
            call = as_object(item)
            if isinstance(call.get("index"), int):
                yield (index_of(choice), call.get("index")), call


def _repeated_names(choices: Iterable[Object]) -> Iterator[str]:
    """The name of a call again and again, twice where its id comes again too, or another one behind its arguments."""
    names: dict[tuple[int, object], list[str]] = {}
    ids: dict[tuple[int, object], list[object]] = {}
    begun: set[tuple[int, object]] = set()
    for place, call in _pieces(choices):
        function = as_object(call.get("function"))
        name, called = as_text(function.get("name")), names.get(place)
        late = place in begun or bool(function.get("arguments"))
        if name and called and late and name not in called and not call.get("id"):
            yield f"a call is named {called[0]!r}, and {name!r} in a later piece: clients that join names get another"
            return
        if function.get("arguments"):
            begun.add(place)
        if name:
            names.setdefault(place, []).append(name)
            ids.setdefault(place, []).append(call.get("id"))
    for place, sent in names.items():
        same_id = ids[place][0] and ids[place].count(ids[place][0]) == len(sent)
        if len(sent) >= (2 if same_id else _TIMES) and len(set(sent)) == 1:
            yield f"the name {sent[0]!r} of one call arrives {len(sent)} times: clients that join names get another one"
            return


def _late_names(choices: Iterable[Object]) -> Iterator[str]:
    """The name of a call behind a piece that gave the call an empty one."""
    empty: set[tuple[int, object]] = set()
    named: set[tuple[int, object]] = set()
    for place, call in _pieces(choices):
        name = as_object(call.get("function")).get("name")
        if name == "" and call.get("id") and place not in named:
            empty.add(place)
        elif isinstance(name, str) and name:
            if place in empty and place not in named:
                yield f"a call begins with an empty name, and {name!r} comes later: clients that take the first lose it"
                return
            named.add(place)


def _whole_among_pieces(choices: Iterable[Object]) -> Iterator[str]:
    arguments: dict[tuple[int, object], list[str]] = {}
    for place, call in _pieces(choices):
        if piece := as_text(as_object(call.get("function")).get("arguments")):
            arguments.setdefault(place, []).append(piece)
    for pieces in arguments.values():
        if is_sent_whole(pieces):
            yield "one piece holds the arguments of a call whole, and the other pieces repeat parts of them"
            return


def is_sent_whole(pieces: list[str]) -> bool:
    """True when the pieces together are not JSON although one of them is the arguments of a call, whole."""
    whole = [piece for piece in pieces if is_object(parse_json(piece))]
    rest = [piece for piece in pieces if piece not in whole]
    return len(whole) == 1 and bool(rest) and parse_json("".join(pieces)) is None and "".join(rest) in whole[0]
