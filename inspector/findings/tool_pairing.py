"""How the calls and results of one request fit together, by what its protocol demands."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..wire.json_value import as_object
from ..wire.values import Message, Part, RequestReading

_ANYWHERE = frozenset({"openai-responses", "gemini-interactions"})
"""Protocols that pair calls and results by id wherever they stand."""
_ONE_MESSAGE = frozenset({"gemini-generate", "bedrock-converse"})
"""Protocols that want all results of an answer in the next message."""
_FIRST = frozenset({"anthropic-messages", "bedrock-converse"})
"""Protocols in which nothing may stand before a result in its message."""
_NO_MERGING = frozenset({"openai-chat", "mistral-chat"})
"""Protocols that do not take two messages of the assistant in a row for one answer."""
_BY_NAME = frozenset({"gemini-generate", "ollama-chat"})
"""Protocols whose results carry the name of the tool."""
_NO_HISTORY = frozenset({"openai-assistants"})


@dataclass(slots=True)
class ToolPairing:
    """How the calls and results of one request fit together."""

    missing: list[Part] = field(default_factory=list[Part])
    displaced: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    """Calls whose result stands elsewhere than it must."""
    orphans: list[Part] = field(default_factory=list[Part])
    duplicate_results: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    """Two results for one call."""
    split: list[tuple[Message, Message]] = field(default_factory=list[tuple[Message, Message]])
    """Results of one answer in two messages where one is wanted."""
    preceded: list[Part] = field(default_factory=list[Part])
    """Results with something before them in their message."""
    reordered: list[tuple[Part, ...]] = field(default_factory=list[tuple[Part, ...]])
    misnamed: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    duplicate_calls: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    """Two calls under one id."""


def _results(messages: Iterable[Message]) -> list[Part]:
    """The client's own: those of the API's tools stand in the assistant's messages."""
    return [part for m in messages if m.role != "assistant" for part in m.parts if part.result is not None]


def _calls(message: Message) -> list[Part]:
    if message.role not in ("assistant", "other"):
        return []
    return [part for part in message.parts if part.call is not None and not part.call.server]


def pair_tools(request: RequestReading, protocol: str, emitted: Sequence[str] | None = None) -> ToolPairing:
    """The pairing of a request's history, by the rules of its protocol.

    `emitted` are the ids of the calls in what the API holds, where it holds the history and they are known.
    """
    found = ToolPairing()
    if protocol in _NO_HISTORY:
        return found
    messages = list(request.messages)
    if request.previous_id is not None:
        _held(messages, emitted, found)
        return found
    _twins(messages, found)
    results = _results(messages)
    _doubled(results, found)
    if protocol in _ANYWHERE:
        _anywhere(messages, results, found)
    else:
        _in_place(messages, results, found, protocol)
    return found


def _twins(messages: list[Message], found: ToolPairing) -> None:
    seen: dict[str, Part] = {}
    for message in messages:
        for part in _calls(message):
            if part.call and part.call.id:
                first = seen.setdefault(part.call.id, part)
                if first is not part:
                    found.duplicate_calls.append((first, part))


def _doubled(results: list[Part], found: ToolPairing) -> None:
    seen: dict[str, Part] = {}
    for part in results:
        if part.result and part.result.call_id:
            first = seen.setdefault(part.result.call_id, part)
            if first is not part:
                found.duplicate_results.append((first, part))


def _held(messages: list[Message], emitted: Sequence[str] | None, found: ToolPairing) -> None:
    """A request that brings only what is new: its results answer calls of the answers that the API holds."""
    results = _results(messages)
    _doubled(results, found)
    if emitted is None:
        return
    listed = {part.call.id for message in messages for part in message.parts if part.call}
    asked = [p for p in results if p.result and p.result.call_id and p.result.call_id not in listed]
    found.orphans += [part for part in asked if part.result and part.result.call_id not in emitted]
    _order(asked, emitted, found)


def _order(results: list[Part], calls: Sequence[str], found: ToolPairing) -> None:
    """Results in a row that stand in another order than the calls."""
    places = [calls.index(p.result.call_id) for p in results if p.result and p.result.call_id in calls]
    if places != sorted(places):
        found.reordered.append(tuple(results))


def _anywhere(messages: list[Message], results: list[Part], found: ToolPairing) -> None:
    calls = {p.call.id: p for m in messages for p in _calls(m) if p.call and p.call.id}
    answered = {p.result.call_id for p in results if p.result}
    found.missing += [part for call_id, part in calls.items() if call_id not in answered]
    in_order = [call_id for call_id in calls if call_id]
    for row in _rows(messages):
        _order(row, in_order, found)
    references = any(as_object(m.raw).get("type") == "item_reference" for m in messages)
    if not references:
        known = {p.call.id for m in messages for p in m.parts if p.call}
        found.orphans += [p for p in results if p.result and p.result.call_id and p.result.call_id not in known]


def _rows(messages: list[Message]) -> list[list[Part]]:
    """The results that stand in a row, with nothing between them."""
    rows: list[list[Part]] = [[]]
    for message in messages:
        here = [] if message.role == "assistant" else [part for part in message.parts if part.result]
        if here:
            rows[-1] += here
        elif rows[-1]:
            rows.append([])
    return rows


def _in_place(messages: list[Message], results: list[Part], found: ToolPairing, protocol: str) -> None:
    by_id = {p.result.call_id: p for p in results if p.result and p.result.call_id}
    placed: list[Part] = []
    at = 0
    while at < len(messages):
        end = at
        calls: list[Part] = []
        # Consecutive messages of the assistant are one answer.
        while end < len(messages) and messages[end].role == "assistant":
            if calls and protocol in _NO_MERGING and _calls(messages[end]):
                break
            calls += _calls(messages[end])
            end += 1
        if end == at:
            at += 1
            continue
        if calls:
            window = _window(messages, end)
            _match(calls, window, _beyond(messages, end + len(window)), by_id, placed, found, protocol)
        at = end
    known = {p.call.id for m in messages for p in m.parts if p.call and p.call.id}
    at_home = {id(part) for part in placed}
    for part in results:
        if id(part) in at_home or part.result is None:
            continue
        call_id = part.result.call_id
        if call_id is None or call_id not in known:
            found.orphans.append(part)


def _window(messages: list[Message], start: int) -> list[Message]:
    """The messages in which the results of an answer that ends before `start` belong."""
    window: list[Message] = []
    for place in range(start, len(messages)):
        message = messages[place]
        if message.role == "assistant":
            break
        if window and not any(part.result for part in message.parts) and window[-1].role == "tool":
            break
        window.append(message)
    return window


def _beyond(messages: list[Message], start: int) -> list[Part]:
    """The results without ids that stand behind the window of an answer and before the next one."""
    end = next((i for i in range(start, len(messages)) if messages[i].role == "assistant"), len(messages))
    return [part for part in _results(messages[start:end]) if part.result and part.result.call_id is None]


def _match(
    calls: list[Part],
    window: list[Message],
    beyond: list[Part],
    by_id: dict[str, Part],
    placed: list[Part],
    found: ToolPairing,
    protocol: str,
) -> None:
    free = _results(window)
    order: list[int] = []
    mine: list[Part] = []
    for part in calls:
        call = part.call
        if call is None:
            continue
        result = next((r for r in free if r.result and call.id and r.result.call_id == call.id), None)
        if result is None and (call.id is None or all(r.result and r.result.call_id is None for r in free)):
            nameless = (r for r in free if r.result and (r.result.call_id is None or call.id is None))
            result = next((r for r in nameless if r.result and r.result.name in (call.name, None)), None)
            if result is None:
                wrong = [r for r in free if r.result and r.result.call_id is None]
                names = {c.call.name for c in calls if c.call}
                result = next((r for r in wrong if r.result and r.result.name not in names), None)
                if result is not None:
                    found.misnamed.append((part, result))
        elif (
            result is not None
            and result.result
            and protocol in _BY_NAME
            and result.result.name not in (None, call.name)
        ):
            found.misnamed.append((part, result))
        if result is None:
            elsewhere = by_id.get(call.id) if call.id else None
            if call.id is None:
                strayed = (r for r in beyond if not any(r is p for p in placed))
                elsewhere = next((r for r in strayed if r.result and r.result.name in (call.name, None)), None)
            if elsewhere is not None and any(elsewhere is other for other in mine):
                continue  # The call stands twice, and its result answers the first.
            if elsewhere is not None:
                found.displaced.append((part, elsewhere))
                placed.append(elsewhere)
            else:
                found.missing.append(part)
            continue
        order.append(next(i for i, r in enumerate(_results(window)) if r is result))
        free = [r for r in free if r is not result]
        placed.append(result)
        mine.append(result)
    for extra in free:
        # Without ids a result that says again what one of these says answers the same call.
        if extra.result is not None and extra.result.call_id is None:
            first = next((r for r in mine if _alike(r, extra)), None)
            if first is not None:
                found.duplicate_results.append((first, extra))
                placed.append(extra)
    if order != sorted(order):
        found.reordered.append(tuple(calls))
    homes = [m for m in window if any(p is r for p in m.parts for r in mine)]
    if protocol in _ONE_MESSAGE and len(homes) > 1:
        found.split.append((homes[0], homes[1]))
    if protocol in _FIRST and homes:
        first = next(place for place, p in enumerate(homes[0].parts) if p.result)
        ahead = (*(p for m in window[: window.index(homes[0])] for p in m.parts), *homes[0].parts[:first])
        if any(p.kind in ("text", "media") for p in ahead):
            found.preceded.append(homes[0].parts[first])
    elif protocol not in _FIRST and homes and window and window[0] is not homes[0] and window[0].role != "tool":
        found.displaced.append((calls[0], next(p for p in homes[0].parts if p.result)))


def _alike(a: Part, b: Part) -> bool:
    return (
        a.result is not None
        and b.result is not None
        and (a.result.call_id, a.result.name, a.result.text) == (b.result.call_id, b.result.name, b.result.text)
    )
