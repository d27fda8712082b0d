"""Results under another type of item than that of their call, in APIs that have an output for each type of call."""

from collections.abc import Iterator

from ...wire.json_value import as_object, as_text
from ...wire.values import Part
from ..rule import Note, rule
from ..rule_context import RuleContext
from .results import new_results, tool_of

_CALL, _OUTPUT = "_call", "_call_output"


@rule(
    "client-result-wrong-type",
    "client",
    "error",
    "P",
    says="A result has the type of the output of another kind of call: the API looks for the output of the call under the call's "
    "own type, and finds none.",
    fix="Answer a `function_call` with a `function_call_output`, a `shell_call` with a `shell_call_output`, and so on.",
    not_when=("The API answered the request all the same: then it is an info",),
)
def wrong_type(context: RuleContext) -> Iterator[Note]:
    emission = context.previous.reading.emission if context.previous is not None else None
    answered = {
        part.call.id: part for part in (emission.content if emission is not None else ()) if part.call is not None
    }
    for part, result in new_results(context):
        call = context.calls.get(result.call_id or "") or answered.get(result.call_id)
        kind, given = _type(call) if call is not None else "", _type(part)
        if kind.endswith(_CALL) and given.endswith(_OUTPUT) and given != f"{kind}_output":
            yield Note(
                f"the result of {tool_of(context, result) or result.call_id!r} is a `{given}`, and its call a `{kind}`: the API "
                f"wants a `{kind}_output`",
                (f"{context.at} request {part.pointer}",),
                severity="info" if context.succeeded else None,
                key=result.call_id,
            )


def _type(part: Part) -> str:
    return as_text(as_object(part.raw).get("type")) or ""


RULES = (wrong_type,)
