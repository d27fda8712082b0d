"""Whether the body of an answer is one well-formed document that every client can read, in the form that was requested."""

import json
from collections.abc import Iterator

import orjson

from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import Response

from ...wire.json_value import as_object, as_text, parse_json
from ...wire.printable import several
from ..rule import Note, rule
from ..rule_context import RuleContext
from .transport import malformed_stream

_SHOWN = 80
_HALF = regex("[\ud800-\udfff]")
_NUMBERS = frozenset({"NaN", "Infinity", "-Infinity"})


@malformed_stream.also("ended")
def broken_document(context: RuleContext) -> Iterator[Note]:
    """A body that is more than one document, has another encoding, or is not strict JSON."""
    response = context.exchange.response
    if response is None or context.has("api-malformed-stream") or not context.succeeded:
        return
    if context.reading.streamed:
        what, severe = _unnamed(context), True
    else:
        what, severe = _not_one(context, response) or _not_text(response), True
        if what is None:
            what, severe = _not_strict(response), False
    if what is not None:
        yield Note(what, (f"{context.at} response",), severity="error" if severe else None)


def _not_one(context: RuleContext, response: Response) -> str | None:
    """What comes after the JSON document that is the answer."""
    rest = context.exchange.after_answer
    if not rest or not context.exchange.answer_fields:
        return None
    place = len(response.body.rstrip()) - len(rest)
    shown = rest[:_SHOWN].decode(errors="replace")
    what = "a second JSON document follows" if parse_json(rest) is not None else "more follows"
    return f"{what} after the end of the answer, at byte {place}: {shown!r}; clients cannot parse the body"


def _not_text(response: Response) -> str | None:
    """Where a JSON body is not UTF-8, as RFC 8259 demands."""
    if response.body[:2] in (b"\xff\xfe", b"\xfe\xff") or not response.body.lstrip().startswith((b"{", b"[")):
        return None
    try:
        response.body.decode()
    except UnicodeDecodeError as error:
        around = response.body[max(0, error.start - 20) : error.start + 20].decode("latin-1")
        return f"byte {error.start} of the answer is not UTF-8, so clients cannot decode the body: {around!r}"
    return None


def _not_strict(response: Response) -> str | None:
    """What only lenient parsers accept in a JSON body."""
    try:
        orjson.loads(response.body)
    except orjson.JSONDecodeError:
        return _leniency(response.body)
    return None


def _leniency(body: bytes) -> str | None:
    seen: list[str] = []

    def note(word: str) -> float:
        seen.append(word)
        return 0.0

    try:
        value = json.loads(body, parse_constant=note)
    except (ValueError, RecursionError):
        return None
    if seen and seen[0] in _NUMBERS:
        return f"the answer holds {seen[0]}, which is not JSON: many clients cannot parse the body"
    if found := _HALF.search(json.dumps(value, ensure_ascii=False)):
        return f"the answer holds \\u{ord(found[0]):04x}, a half of a character: many clients cannot parse the body"
    return None


def _unnamed(context: RuleContext) -> str | None:
    """How many events of a stream have no name, where clients skip such events."""
    if not context.protocol.answers.names_events or context.exchange.framing != "sse":
        return None
    unnamed = (event for event in context.exchange.events if event.kind == "data" and not event.name)
    bare = [kind for event in unnamed if (kind := as_text(as_object(event.value).get("type")))]
    if not bare:
        return None
    return (
        f"{several(len(bare), 'event')} of the stream {'has' if len(bare) == 1 else 'have'} no name (`event:`), "
        f"the first is {bare[0]!r}: clients that know events by their name skip them"
    )


@rule(
    "api-stream-unasked",
    "api",
    "warning",
    "P",
    says="The request asks for one body and a stream of events came.",
    fix="Check the gateway between the client and the model; SDKs that expect one JSON body cannot parse a stream.",
    not_when=(
        "The API decides about the form",
        "The stream is a single error",
        "The recording has no body of the request",
    ),
)
def stream_unasked(context: RuleContext) -> Iterator[Note]:
    if context.request.streamed or not context.reading.streamed or context.over_socket or not context.succeeded:
        return
    if not context.fields or context.parameter("stream") is True or context.fields.get("background") is True:
        return
    yield Note(
        f"the request asks for one body and a stream of {several(len(context.exchange.events), 'event')} came",
        (f"{context.at} request", f"{context.at} response"),
    )


RULES = (broken_document, stream_unasked)
