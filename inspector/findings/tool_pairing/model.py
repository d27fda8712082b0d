"""What pairing works on and what it finds: the calls and results of one request, and where they do not fit together."""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Self

from turntape.cassettes.frozen import frozen, mutable

from ...wire.json_value import as_object, as_text
from ...wire.values import Message, Part, ToolCall


@mutable
class ToolPairing:
    """Where the calls and results of one request do not fit together; all empty when they do."""

    missing: list[Part] = field(default_factory=list[Part])
    """Calls without a result."""
    displaced: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    """Calls with a result that is not where it must be."""
    orphans: list[Part] = field(default_factory=list[Part])
    """Results without a call."""
    duplicate_results: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    """Two results for one call."""
    split: list[tuple[Message, Message]] = field(default_factory=list[tuple[Message, Message]])
    """Results of one answer in two messages where one is required."""
    preceded: list[Part] = field(default_factory=list[Part])
    """Results with something before them in their message."""
    reordered: list[tuple[Part, ...]] = field(default_factory=list[tuple[Part, ...]])
    """Calls, or results, of one answer whose results come in another order."""
    misnamed: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    """Calls with a result that names another tool."""
    duplicate_calls: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    """Two calls with one id."""

    @property
    def is_clean(self) -> bool:
        """True when everything fits together."""
        found = (self.missing, self.displaced, self.orphans, self.duplicate_results, self.split, self.preceded)
        return not (any(found) or self.reordered or self.misnamed or self.duplicate_calls)


@frozen(eq=False)
class CallPart:
    """A call that the client must answer; compared by identity."""

    part: Part
    id: str | None
    name: str


@frozen(eq=False)
class ResultPart:
    """A result that the client gives; compared by identity."""

    part: Part
    id: str | None
    name: str | None

    def repeats(self, other: Self) -> bool:
        """True when both give the same result of the same call."""
        a, b = self.part.result, other.part.result
        same_call = (self.id, self.name) == (other.id, other.name)
        return same_call and a is not None and b is not None and a.text == b.text


@frozen(eq=False)
class Entry:
    """A message with its calls and results, without those of the API's own tools."""

    message: Message
    calls: list[CallPart]
    results: list[ResultPart]
    is_open: bool = False
    """True where the message names a part of an answer that is not known."""

    @classmethod
    def of(cls, message: Message) -> Self:
        calls: list[CallPart] = []
        results: list[ResultPart] = []
        may_call, may_answer = message.role in ("assistant", "other"), message.role != "assistant"
        for part in message.parts:
            if may_call and part.call is not None and not part.call.server:
                calls.append(CallPart(part, part.call.id, part.call.name))
            if may_answer and part.result is not None and not part.result.server:
                results.append(ResultPart(part, part.result.call_id, part.result.name))
        return cls(message, calls, results, any(part.item_id for part in message.parts))

    def is_like(self, other: Self) -> bool:
        """Whether both have no calls, no results and no ids, and are alike for the pairing of others."""
        one, two = self.message, other.message
        kinds = [part.kind for part in one.parts]
        bare = not (self.calls or self.results or other.calls or other.results or self.is_reference)
        return (
            bare
            and one.role == two.role
            and not other.is_reference
            and kinds == [part.kind for part in two.parts]
            and not {"call", "result", "other"}.intersection(kinds)
        )

    @property
    def is_answer(self) -> bool:
        return self.message.role == "assistant"

    @property
    def is_reference(self) -> bool:
        """True for a message that names a part of an answer instead of repeating it."""
        return any(part.item_id for part in self.message.parts)

    def resolved(self, held: Mapping[str, tuple[str, str] | None]) -> Self:
        """The message with the calls that it names; itself where it names what is not in `held`.

        `held` has the id and the name of the call of each part of an answer that the API holds, None for other parts.
        """
        if not self.is_reference or not all(part.item_id in held for part in self.message.parts):
            return self
        parts = [(part, held[part.item_id]) for part in self.message.parts if part.item_id is not None]
        calls = [(replace(part, call=ToolCall(of[1], of[0], None, "")), *of) for part, of in parts if of is not None]
        return replace(self, calls=[CallPart(*call) for call in calls], is_open=False)


def ids_of(raw: object) -> tuple[str | None, str | None]:
    """The ids that a block or an item carries, whatever its type: its own and that of its call."""
    fields = as_object(raw)
    return as_text(fields.get("id")), as_text(fields.get("call_id"))


def known_ids(entries: Iterable[Entry]) -> set[str]:
    """The ids of all calls in a history, those of the API's own tools too, and of items of a type that is not known."""
    known: set[str] = set()
    for entry in entries:
        known.update(call.id for call in entry.calls if call.id)
        for part in entry.message.parts:
            if part.call is not None and part.call.id:
                known.add(part.call.id)
            elif part.kind == "other":
                known.update(filter(None, ids_of(part.raw)))
    return known
