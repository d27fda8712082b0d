"""How the arguments of calls came: as text or as an object, and with every character whole."""

from collections.abc import Iterator

from turntape.cassettes.excerpts import cut

from ...wire.json_value import as_object, is_array, is_object, parse_json, repeated_key
from ...wire.printable import several
from ...wire.protocols.traits import ArgumentsField
from ...wire.values import Part, ToolCall
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..schema_check import violations
from .emission import call_at, whole_calls, written_twice

WRONG_TYPE = "api-arguments-wrong-type"
LOST = "\ufffd"
"""The character that decoders put in the place of bytes which they cannot read."""
_CALLS = frozenset({None, "function", "function_call", "tool_use"})
"""Types of calls whose arguments have a fixed type; others are tools of the API, each with its own format."""


@rule(
    WRONG_TYPE,
    "api",
    "warning",
    "P",
    says="The arguments of a call are an object or null where the API has a string with JSON, or a string in place of an "
    "object; or they are empty, and tokens are counted for them.",
    fix="Update the server or gateway; a strict client fails on such a call.",
    not_when=(
        "The client understood the calls and ran them all: then it is an info",
        "The call is of a tool of the API, which has its own format",
        "The call was cut: what arrived of its arguments is text in every API",
        "They are empty, and no more tokens are counted than the answer can hold",
    ),
)
def arguments_wrong_type(context: RuleContext) -> Iterator[Note]:
    if context.has("call-args-not-json"):
        return
    whole = list(whole_calls(context))
    for call in whole:
        if written_twice(call) is not None:
            yield Note(
                f"the arguments of {call.name!r} are JSON that was written as a JSON text once more",
                (call_at(context, call),),
                tier="S",
            )
    for part in context.emission.content:
        if (
            part.call is None
            or not (whole and part.call.complete)
            or part.call.server
            or not isinstance(as_object(part.raw).get("type"), str | None)
            or as_object(part.raw).get("type") not in _CALLS
        ):
            continue
        for field in context.protocol.requests.arguments:
            came = _type_of(part, field)
            if came in ("null", "empty", "bare") and not _needs_arguments(context, part.call):
                continue
            unseen = _unseen(context) if came in ("empty", "bare") else 0
            if (came == "empty" and unseen <= 0) or (came == "bare" and unseen < _MANY):
                continue
            if came == "bare":
                yield Note(
                    f"the arguments of {part.call.name!r} are empty, and {several(unseen, 'output token')} more are counted "
                    "than the answer can hold: they were lost on the way",
                    (call_at(context, part.call), f"{context.at} response {part.pointer}", f"{context.at} usage"),
                    tier="S",
                )
            elif came is not None and came != field.type:
                yield Note(
                    f"the arguments of {part.call.name!r} are {_AN[came]}, where the API has {_AN[field.type]}",
                    (call_at(context, part.call), f"{context.at} response {part.pointer}"),
                    tier="S" if came == "empty" and unseen < _MANY else None,
                )


_AN = {"string": "a string", "object": "an object", "null": "null", "empty": "empty"}


_MARKUP, _MANY = 32, 64
"""Tokens. No chat template has more around a call without arguments; so many beyond that are arguments."""


def _unseen(context: RuleContext) -> int:
    """How many more output tokens are counted than the answer shows: of arguments that the model wrote and that did not arrive.

    A model may also call a tool without any; then there are none.
    """
    usage, emission = context.reading.usage, context.emission
    if usage is None or usage.output is None or (usage.reasoning is None and not context.spoken[1].shows_thoughts):
        return 0
    shown = sum(len(one) for call in emission.calls for one in (call.name, call.arguments_raw)) + len(emission.text)
    seen = shown // 3 + _MARKUP * len(emission.calls) + len(emission.reasoning) // 3
    return usage.output - (usage.reasoning or 0) - seen


def _needs_arguments(context: RuleContext, call: ToolCall) -> bool:
    """Whether the tool cannot be called without arguments: then they were lost, whoever wrote them."""
    tool = context.tools.get(call.name)
    return tool is not None and bool(violations(tool.schema, {}))


def _type_of(part: Part, field: ArgumentsField) -> str | None:
    """The type of the arguments, if the call has them in this field."""
    holder = as_object(part.raw)
    for key in field.holder:
        holder = as_object(holder.get(key))
    value = holder.get(field.key)
    if field.key in holder and value is None and field.type == "string":
        return "null"
    if field.type == "string" and isinstance(value, str) and not value.strip():
        return "empty"
    if (is_object(value) and not value) or (isinstance(value, str) and parse_json(value) == {}):
        return "bare"
    return "string" if isinstance(value, str) else "object" if is_object(value) or is_array(value) else None


@rule(
    "api-replacement-characters",
    "api",
    "warning",
    "S",
    says="The arguments of a call hold the replacement character (U+FFFD), which the request does not have: characters were "
    "lost on the way, often where a stream was cut inside one.",
    fix="Decode streams as a whole and not piece by piece; check the server and each gateway on the way.",
    not_when=(
        "The request itself holds the character",
        "The client ran all calls, and no result is an error: then it is an info",
    ),
)
def characters_lost(context: RuleContext) -> Iterator[Note]:
    broken = [call for call in whole_calls(context) if LOST in call.arguments_raw or "\\ufffd" in call.arguments_raw]
    body = context.turn.round_trip.request.body
    if not broken or LOST.encode() in body or b"\\ufffd" in body.lower():
        return
    yield Note(
        f"the arguments of {broken[0].name!r} hold the replacement character U+FFFD: {cut(broken[0].arguments_raw, 120)!r}",
        tuple(call_at(context, call) for call in broken[:4]),
    )


@rule(
    "call-args-repeat-key",
    "model",
    "warning",
    "P",
    says="The arguments of a call have one key twice, with different values: some parsers take the first and some the last.",
    fix="Answer the call with an error that names the key; use strict tools where the API has them.",
    not_when=(
        "Both values are the same",
        "The client ran all calls, and no result is an error: then it is an info",
    ),
)
def arguments_repeat_key(context: RuleContext) -> Iterator[Note]:
    for call in whole_calls(context):
        twice = repeated_key(call.arguments_raw) if call.arguments_raw.count(":") > 1 else None
        if twice is not None:
            yield Note(
                f"the arguments of {call.name!r} have the key {twice!r} twice, with different values: "
                f"{cut(call.arguments_raw, 120)!r}",
                (call_at(context, call),),
            )


RULES = (arguments_wrong_type, characters_lost, arguments_repeat_key)
