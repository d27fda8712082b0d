"""Makes a `ResponseReading` from the parts of an answer, in the same way for every protocol."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from turntape.cassettes.framing import Event

from ...exchange import EventObjects, Exchange
from ...json_value import Object, as_array, as_count, as_object, as_text, is_object, parse_json
from ...values import ApiError, FinishLabel, Message, Part, ResponseReading, StatedCost, Usage
from .errors import error_in
from .parts import text_part, unread
from .piece_names import second_message


def answer(
    parts: Iterable[Part],
    *,
    finish_raw: str | None = None,
    finish: FinishLabel | None = None,
    finish_detail: str | None = None,
    prompt_filtered: bool = False,
    ended: bool = True,
    usage: Usage | None = None,
    usage_raw: object = None,
    stated_cost: StatedCost | None = None,
    price_terms: Mapping[str, str] | None = None,
    cache_diagnosis: str | None = None,
    model: str | None = None,
    id: str | None = None,
    continuation: str | None = None,
    error: ApiError | None = None,
    problems: Iterable[str] = (),
    other_content: bool = False,
) -> ResponseReading:
    """An answer made of `parts`: its text, reasoning, refusal and calls are taken from them."""
    content = tuple(parts)
    refusals = [part.text for part in content if part.kind == "refusal"]
    calls = [part.call for part in content if part.call is not None]
    return ResponseReading(
        text="".join(part.text for part in content if part.kind == "text"),
        reasoning="\n".join(part.text for part in content if part.kind == "reasoning" and part.text),
        refusal="".join(refusals) if refusals else None,
        calls=tuple(call for call in calls if not call.server),
        server_calls=tuple(call for call in calls if call.server),
        signatures=tuple(part.signature for part in content if part.signature),
        content=content,
        finish_raw=finish_raw,
        finish=finish,
        finish_detail=finish_detail,
        prompt_filtered=prompt_filtered,
        ended=ended,
        usage=usage,
        usage_raw=usage_raw,
        stated_cost=stated_cost,
        price_terms=price_terms or {},
        cache_diagnosis=cache_diagnosis,
        model=model,
        id=id,
        continuation=continuation,
        error=error,
        problems=tuple(problems),
        other_content=other_content or any(part.kind == "media" or _is_other(part) for part in content),
    )


def _is_other(part: Part) -> bool:
    """True for content of another kind, also for one that is not known here."""
    return part.kind == "other" and part.text != ""


def prompt_message(prompt: object, pointer: str) -> tuple[Message, ...]:
    """A prompt that is one text, as a message; empty when `prompt` is not a text."""
    if not isinstance(prompt, str):
        return ()
    return (Message("user", (text_part(prompt, pointer, prompt),), pointer, prompt),)


def first_count(*values: object) -> int | None:
    """The first of `values` that is a number."""
    return next((count for value in values if (count := as_count(value)) is not None), None)


def summed(*values: int | None) -> int | None:
    """The sum of the counts that are not None; None when all are."""
    said = [value for value in values if value is not None]
    return sum(said) if said else None


def objects(events: Iterable[Event], problems: list[str]) -> list[tuple[str, Object]]:
    """`(name, body)` of each event that is a JSON object; the others are named in `problems`, but not `[DONE]`.

    The bodies belong to the caller, who may change them.
    """
    found: list[tuple[str, Object]] = []
    for event in events:
        data = event.data.strip()
        if event.kind == "comment" or not data or data == b"[DONE]":
            continue
        if event.problem:
            problems.append(event.problem)
        value = parse_json(data)
        if is_object(value):
            found.append((event.name if event.kind != "exception" else f"!{event.name}", as_object(value)))
        elif not event.problem:
            problems.append(f"An event at byte {event.start} is not a JSON object.")
    return found


def stream_error(events: Iterable[Event]) -> ApiError | None:
    """The first error among the events: an exception frame, an `error` event, or an `error` key."""
    for event in events:
        if event.kind == "comment":
            continue
        value = event.value
        body = as_object(value)
        if event.kind == "exception" or event.name == "error" or (event.kind == "field" and event.name == "error"):
            text = value if value is not None else event.data.decode("utf-8", "replace")
            kind = event.name if event.kind == "exception" else None
            return error_in(text, in_stream=True, kind=kind) or ApiError(str(text) or event.name, kind, in_stream=True)
        if body.get("error") and (found := error_in(body, in_stream=True)):
            return found
    return None


class ReadsBody(Protocol):
    """Reads a whole answer, or what a stream adds up to."""

    def __call__(
        self, body: Object, *, ended: bool, error: ApiError | None, problems: list[str]
    ) -> ResponseReading: ...


def read_assembled(
    exchange: Exchange,
    what: str,
    assemble: Callable[[list[tuple[str, Object]]], tuple[Object, bool]],
    read: ReadsBody,
    start: str = "",
) -> ResponseReading:
    """An answer of an API that streams in events. `what` names it in problems.

    `assemble` returns the whole answer that the named events add up to, and whether its end was among them. `start` is
    the event that begins a message, if there is one.
    """
    if exchange.framing == "sse":
        problems: list[str] = []
        events = objects(exchange.events, problems)
        problems += second_message(events, start)
        body, ended = assemble(events)
        return read(body, ended=ended, error=stream_error(exchange.events), problems=problems)
    if not exchange.answer_fields:
        return unread(exchange, what)
    return read(exchange.answer_fields, ended=True, error=None, problems=[])


def posts(exchange: Exchange, *endings: str) -> bool:
    """True for a POST whose path ends in one of `endings`."""
    return exchange.method == "POST" and exchange.path.rstrip("/").endswith(endings)


def first_object(exchange: Exchange) -> Object:
    """The answer's JSON object, or the first of its stream."""
    if exchange.framing is None:
        return exchange.answer_fields
    for event in exchange.events[:4]:
        if body := as_object(event.value):
            return body
    return {}


def word(value: object) -> str | None:
    """A finish word: a string, or the reason inside an object."""
    if is_object(value):
        fields = as_object(value)
        return as_text(fields.get("reason")) or as_text(fields.get("type"))
    return as_text(value)


def first_of(value: object) -> Object:
    """The first object of an array."""
    return as_object(next(iter(as_array(value)), None))


def stream_objects(exchange: Exchange) -> EventObjects:
    """As `objects`, for who only looks at the bodies: all readers of the exchange share them."""
    return exchange.event_objects


def has_done(exchange: Exchange) -> bool:
    """True when the stream ended in `[DONE]`."""
    return any(event.data.strip() == b"[DONE]" for event in exchange.events)
