"""Fields of an answer and events of a stream that are not as the API's specification says."""

from collections.abc import Iterator

from ...wire.answer_format import Departure, FieldNames, format_departures, last_name
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
        "A filter stopped the answer",
        "Clients can do without the field, and no other answer of the server had it",
        "Clients can do without the field, which is left out or blank: then it is an info",
        "The answer has a type of item, block or piece that is not known here",
    ),
)
def field_wrong(context: RuleContext) -> Iterator[Note]:
    exchange, rules = context.spoken
    if rules.format is None or not context.succeeded or context.finish.label == "content_filter":
        return
    if context.has(*_SAID):
        return
    strict: list[Departure] = []
    lenient: list[Departure] = []
    optional: list[Departure] = []
    for one in format_departures(exchange, rules.format):
        (optional if one.optional else lenient if one.lenient else strict).append(one)
    whole = ("api-field-wrong", (exchange.host, context.reading.protocol, context.reading.streamed))
    if not strict and not lenient:
        context.run.reported.add(whole)
    if context.emission.emitted == "empty" and not context.emission.server_calls:
        # What clients put up with where the answer says something is the cause of an answer that says nothing.
        strict = strict or [one for one in (*lenient, *optional) if last_name(one.path) in rules.format.names.texts]
    # A server that never sends a field says nothing by leaving it out.
    found = strict or [one for one in lenient if whole in context.run.reported or not one.absent]
    if not found:
        return
    others = len({one.path for one in found}) - 1
    more = f" ({several(others, 'other field')} like it)" if others else ""
    yield Note(
        f"`{found[0].path}` of the answer {found[0].says}{more}",
        (f"{context.at} response {found[0].path}",),
        severity=None if strict else "info",
    )


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
    changed = list(unsteady([body for _, body in events], rules.steady))
    if changed:
        models = [what for what in changed if "model" in what.split(" ")[1]]
        yield Note(
            f"{RENAMED}: {(models or changed)[0]}",
            (f"{context.at} response",),
            severity=None if models else "info",
        )


RULES = (field_wrong, out_of_order)
