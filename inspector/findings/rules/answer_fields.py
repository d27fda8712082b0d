"""Fields of an answer and events of a stream that are not as the API's specification says."""

from collections.abc import Iterator

from ...wire.answer_format import Departure, FieldNames, format_departures, last_name
from ...wire.exchange import Exchange
from ...wire.printable import several
from ...wire.protocols.shared.answers import stream_objects
from ...wire.stream_order import never_closed, order_breaks, twice, unsteady
from ..causes import RENAMED
from ..rule import Note, rule
from ..rule_context import RuleContext

_SAID = (
    "api-arguments-wrong-type",
    "api-call-without-id",
    "api-malformed-stream",
    "api-no-choice",
    "api-tool-call-index-collision",
    "api-wrong-role",
)
"""Findings that say the same of one field."""


_FEW = 2
"""Fields."""


_WITHHELD = frozenset({"content_filter", "malformed"})
"""Finishes with which an API keeps back what the model wrote, and leaves fields of it out."""


@rule(
    "api-field-wrong",
    "api",
    "warning",
    "P",
    says="A field of the answer is missing, has another type, or holds a word that the API's specification does not have. "
    "Typed clients fail on it or read something else.",
    fix="Report it to the provider of the gateway or server, with the name of the field.",
    not_when=(
        "Another finding says it of this field",
        "A filter stopped the answer, or the API refused what the model wrote",
        "Clients can do without the field, and no other answer of the server had it: then it is an info, given once",
        "Clients can do without the field, which is left out or blank: then it is an info",
        "The answer has a type of item, block or piece that is not known here",
    ),
)
def field_wrong(context: RuleContext) -> Iterator[Note]:
    exchange, rules = context.spoken
    if rules.format is None or not context.succeeded or context.finish.label in _WITHHELD:
        return
    if context.has(*_SAID):
        return
    strict: list[Departure] = []
    lenient: list[Departure] = []
    optional: list[Departure] = []
    for one in format_departures(exchange, rules.format):
        (optional if one.optional else lenient if one.lenient else strict).append(one)
    if (place := _nameless(context, exchange)) is not None:
        yield Note(f"no piece of the stream says `{place}`, the name of a call", (f"{context.at} response {place}",))
    whole = ("api-field-wrong", (exchange.host, context.reading.protocol, context.reading.streamed))
    if not strict and not lenient:
        context.run.reported.add(whole)
    if context.emission.emitted == "empty" and not context.emission.server_calls:
        # What clients put up with where the answer says something is the cause of an answer that says nothing.
        strict = strict or [one for one in (*lenient, *optional) if last_name(one.path) in rules.format.names.texts]
    found = strict or lenient
    if not strict and whole not in context.run.reported and all(one.absent for one in lenient):
        # A server that never sends one field or two says so once, for all of its answers. More of them are a dialect.
        lenient = [one for one in lenient if last_name(one.path) not in rules.format.names.unread]
        if len({last_name(one.path) for one in lenient}) > _FEW:
            return
        once = {one: ("api-field-wrong", (exchange.host, last_name(one.path))) for one in lenient}
        found = [one for one in lenient if once[one] not in context.run.reported]
        context.run.reported.update(once.values())
    if not found:
        return
    others = len({one.path for one in found}) - 1
    more = f" ({several(others, 'other field')} like it)" if others else ""
    yield Note(
        f"`{found[0].path}` of the answer {found[0].says}{more}",
        (f"{context.at} response {found[0].path}",),
        severity=None if strict else "info",
    )


def _nameless(context: RuleContext, exchange: Exchange) -> str | None:
    """The place of the name in a call that came in pieces, where none of them says it; no piece alone need do so."""
    if exchange.framing is None or not context.protocol.answers.calls_by_index or context.finish.effective == "cut":
        return None
    nameless = (n for n, call in enumerate(context.emission.calls) if call.complete and call.id and not call.name)
    place = next(nameless, None)
    return None if place is None else f"choices[0].delta.tool_calls[{place}].function.name"


@rule(
    "api-stream-out-of-order",
    "api",
    "warning",
    "P",
    says="The events of the stream are not those of the API, in their order: one is missing, comes twice or at another "
    "place, or names another piece, answer or model than the others.",
    fix="Report it to the provider of the gateway or server; compare with the same request without a stream.",
    not_when=(
        "The stream was cut, or another finding says what is wrong with it",
        "Only the id changes, as gateways do it: then it is an info",
        "Only the event that closes a piece is left out, which clients can do without: then it is an info",
        "Only the last line of the stream is left out, after a finish word: then it is an info, given once",
    ),
)
def out_of_order(context: RuleContext) -> Iterator[Note]:
    exchange, rules = context.spoken
    if exchange.framing is None or not context.succeeded or context.finish.effective == "cut":
        return
    if context.has("api-malformed-stream", "api-stream-contradiction", "api-tool-call-index-collision"):
        return
    events = stream_objects(exchange)
    names = rules.format.names if rules.format is not None else FieldNames()
    if rules.order is not None and (found := next(order_breaks(events, rules.order), None)) is not None:
        yield Note(f"the stream is out of order: {found}", (f"{context.at} response",))
        return
    if (found := next(twice(events, names), None)) is not None:
        yield Note(f"the stream is out of order: {found}", (f"{context.at} response",))
        return
    if rules.order is not None and (found := next(never_closed(events, rules.order), None)) is not None:
        yield Note(f"the stream lacks an event: {found}", (f"{context.at} response",), severity="info")
        return
    changed = list(unsteady((body for _, body in events), rules.steady))
    changed = changed or list(rules.renames(exchange) if rules.renames is not None else ())
    if changed:
        models = [what for what in changed if "model" in what.split(" ")[1]]
        yield Note(
            f"{RENAMED}: {(models or changed)[0]}",
            (f"{context.at} response",),
            severity=None if models else "info",
        )
    elif rules.mark and rules is context.protocol.answers and _lacks(exchange, rules.mark):
        yield Note(
            f"the stream lacks its last line, {rules.mark.decode()!r}",
            (f"{context.at} response",),
            severity="info",
            key="mark",
        )


def _lacks(exchange: Exchange, mark: bytes) -> bool:
    """True for events of which none is the line that ends every stream of the API."""
    return exchange.framing == "sse" and all(event.data.strip() != mark for event in exchange.events)


RULES = (field_wrong, out_of_order)
