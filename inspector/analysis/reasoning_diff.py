"""What the client did with an answer's reasoning: kept, dropped or altered it.

Reasoning may be plain text, or opaque: with a signature or encrypted content that the client must send back unchanged.
"""

from collections.abc import Sequence
from typing import Literal

from turntape.cassettes.frozen import frozen

from ..wire.json_value import as_object, as_text
from ..wire.values import Message, Part
from .conversation import call_meaning, reasoning_of, without_space
from .turn import Turn

type ReasoningState = Literal["none", "kept", "dropped", "altered"]
"""`none`: the answer had no reasoning."""

_ALPHABET = str.maketrans("-_", "+/")
_ALIKE = 12
"""Characters at one end of two signatures that no other two share by chance."""


@frozen
class LostReasoning:
    """Reasoning or a signature of the answer that did not come back unchanged."""

    kind: Literal["dropped", "altered"]
    before: str
    """JSON pointer into the answer."""
    now: str | None
    """JSON pointer into the next request, to what is in its place; None when nothing is."""


def diff_reasoning(turn: Turn, messages: Sequence[Message]) -> tuple[list[LostReasoning], ReasoningState]:
    """The reasoning of `turn` that is missing or altered in the new `messages` of the next request."""
    emission = turn.reading.emission
    given = [p for p in emission.content if p.signature or p.kind == "reasoning"] if emission else []
    if not given:
        return [], "none"
    returned = _Returned(messages)
    lost = [loss for part in given if part.signature and (loss := _lost_signature(part, turn, returned))]
    lost += [
        LostReasoning("dropped", part.pointer, returned.instead_of(given))
        for part in given
        if not part.signature and part.text.strip() and not returned.has_text(part)
    ]
    if not lost:
        return [], "kept"
    return lost, "altered" if any(one.kind == "altered" for one in lost) else "dropped"


class _Returned:
    """The reasoning in the messages of a request, by signature, text and id."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.parts = reasoning_of(messages)
        self.ids = _ids(messages)
        self.by_signature = {_normal(part.signature): part for part in self.parts if part.signature}
        self.by_text = {part.text.strip(): part for part in self.parts if part.text.strip()}

    def has_text(self, part: Part) -> bool:
        """Whether the text of `part` came back, or its item by id."""
        return part.text.strip() in self.by_text or as_text(as_object(part.raw).get("id")) in self.ids

    def instead_of(self, given: Sequence[Part]) -> str | None:
        """The pointer of the first reasoning without a signature whose words are not in what was `given`."""
        said = "".join(without_space(part.text) for part in given)
        plain = (part for part in self.parts if part.kind == "reasoning" and not part.signature)
        return next((part.pointer for part in plain if without_space(part.text) not in said), None)

    def lacks_signature(self, part: Part, *, held: bool) -> bool:
        """Whether `part` came back whole and without its signature.

        An API knows reasoning by its id, if it `held` the answer. What else it signs it wants back with the signature.
        """
        if part.kind == "reasoning" and held:
            return False
        item = as_object(part.raw)
        same = (as_object(p.raw) for message in self.messages for p in message.parts if not p.signature)
        return any(one.get("id") == item.get("id") and one.get("type") == item.get("type") for one in same)

    def damaged(self, part: Part) -> Part | None:
        """The same call with what is left of the signature of `part`; a client may replace one by another."""
        was = _normal(part.signature or "")
        for one in self.parts if part.call is not None else ():
            now = _normal(one.signature or "")
            alike = len(now) >= _ALIKE and (was[:_ALIKE] == now[:_ALIKE] or was[-_ALIKE:] == now[-_ALIKE:])
            if alike and _same_call(part, one):
                return one
        return None

    def with_id(self, item: object) -> Part | None:
        """The part with a signature that belongs to the item with that id."""
        if not item:
            return None
        return next((p for p in self.parts if p.signature and as_object(p.raw).get("id") == item), None)


def _lost_signature(part: Part, turn: Turn, returned: _Returned) -> LostReasoning | None:
    """What happened to a part with a signature; None when it came back unchanged."""
    found = returned.by_signature.get(_normal(part.signature or ""))
    if found is not None:
        altered = _misplaced(part, found, returned.messages) or _edited(part, found)
        return LostReasoning("altered", part.pointer, found.pointer) if altered else None
    item = as_text(as_object(part.raw).get("id"))
    if item in returned.ids:
        twin = returned.with_id(item)
        held = turn.reading.request.parameters.get("store") is not False
        if twin is None and returned.lacks_signature(part, held=held):
            return LostReasoning("dropped", part.pointer, None)
        # A stream may contain the same item several times, each time with another signature.
        resealed = twin is not None and _in_answer(turn, twin.signature or "")
        return LostReasoning("altered", part.pointer, twin.pointer) if twin is not None and not resealed else None
    text = part.text.strip() if part.kind == "reasoning" else ""
    twin = returned.by_text.get(text) if text else returned.damaged(part)
    return LostReasoning("dropped" if twin is None else "altered", part.pointer, twin.pointer if twin else None)


def _misplaced(part: Part, found: Part, messages: Sequence[Message]) -> bool:
    """Whether the signature of a call came back on something else, although the call came back too."""
    if part.call is None or _same_call(part, found):
        return False
    same = [p for m in messages for p in m.parts if _same_call(part, p)]
    return bool(same) and all(_normal(p.signature or "") != _normal(part.signature or "") for p in same)


def _same_call(part: Part, other: Part) -> bool:
    return part.call is not None and other.call is not None and call_meaning(part.call) == call_meaning(other.call)


def _edited(part: Part, found: Part) -> bool:
    """Whether the signature came back with another text."""
    return part.kind == found.kind == "reasoning" and part.text.strip() not in ("", found.text.strip())


def _in_answer(turn: Turn, signature: str) -> bool:
    response = turn.round_trip.response
    return response is not None and signature.encode("utf-8", "surrogatepass") in response.body


def _normal(signature: str) -> str:
    """A signature in one alphabet of base64, whichever the client writes."""
    return signature.translate(_ALPHABET).rstrip("=")


def _ids(messages: Sequence[Message]) -> frozenset[str]:
    """The ids of items that came back, whole or as a reference."""
    parts = (part for message in messages for part in message.parts)
    return frozenset(found for part in parts if isinstance(found := as_object(part.raw).get("id"), str))
