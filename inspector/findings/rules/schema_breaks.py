"""Arguments that break the schema of their tool, and whether the client gave the tool another schema meanwhile."""

from collections.abc import Iterator, Sequence

from ...wire.values import Tool, ToolCall
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..schema_check import Violation, barred, described, impossible, undescribed, violations
from .emission import call_at, whole_calls, written_twice

_REDEFINED = "client-tool-redefined"
_MOST_EARLIER = 20
"""So many of the newest calls of a tool are compared: the model follows those that it made last."""


def _checked(context: RuleContext) -> Iterator[tuple[ToolCall, Tool, list[Violation]]]:
    """The calls of an answer whose tool has a schema that calls can fit, and how each breaks it."""
    for call in whole_calls(context):
        tool = context.tools.get(call.name)
        if written_twice(call) is not None:
            continue
        if (
            tool is None
            or tool.schema is None
            or impossible(tool.schema) is not None
            or barred(tool.schema) is not None
        ):
            continue
        if tool in context.request.tools and undescribed(tool.schema) is not None:
            continue
        if call.arguments is None and call.arguments_raw.strip() not in ("", "null"):
            continue
        yield call, tool, violations(tool.schema, _arguments(call))


def _arguments(call: ToolCall) -> object:
    return {} if call.arguments is None else call.arguments


@rule(
    _REDEFINED,
    "client",
    "warning",
    "S",
    says="The client gave a tool another schema during the conversation, and the model calls it as before: its earlier calls, which "
    "are in the history, fitted the schema that they were made for and break this one in the same way.",
    fix="Keep the schema of a tool during a conversation; else write the earlier calls in the new form, or take both forms.",
    not_when=(
        "No earlier call of the conversation fitted the schema of its request: then only the model breaks it",
        "The earlier calls fit the new schema as well",
        "The call breaks the schema in another way than they do",
    ),
)
def redefined(context: RuleContext) -> Iterator[Note]:
    for call, tool, broken in _checked(context):
        if not broken:
            if call.id is not None:
                context.thread.fitting_calls.setdefault(call.name, []).append(call.id)
        elif (earlier := _made_before(context, tool, broken)) is not None:
            index, _, _ = context.thread.emitted_calls[earlier]
            yield Note(
                f"the schema of {call.name!r} is another than at call {earlier} of #{index}, and the model calls it as it did "
                f"there {described(broken)}",
                (f"#{index} call {earlier}", call_at(context, call), f"{context.at} request {tool.pointer}"),
            )


def _made_before(context: RuleContext, tool: Tool, broken: Sequence[Violation]) -> str | None:
    """The id of a call in the history that fitted the tool's schema when it was made, and breaks this one likewise."""
    kinds = {one.kind for one in broken}
    for call_id in reversed(context.thread.fitting_calls.get(tool.name, [])[-_MOST_EARLIER:]):
        held = context.calls.get(call_id) if call_id in context.thread.emitted_calls else None
        if held is None or held.call is None or held.call.name != tool.name:
            continue
        if kinds <= {one.kind for one in violations(tool.schema, _arguments(held.call))}:
            return call_id
    return None


@rule(
    "model-args-break-schema",
    "model",
    "error",
    "P",
    says="The arguments of a call are valid JSON and break the schema that was sent with the tool.",
    fix="Describe the field, give it an enum or an example, or set the tool to strict; answer with an error that "
    "names the field.",
    not_when=(
        "The schema itself cannot be compiled, or no arguments can fit it: then `client-tool-definition-damaged` says so",
        "The schema describes none of the arguments that it requires: then `client-tool-definition-damaged` says so",
        "The schema allows no value at all for a parameter: then `client-tool-definition-damaged` says so",
        "A number written as a string, or the other way round: then it is a warning",
        "A text that has not the `format` of the schema: then it is a warning",
    ),
)
def arguments_break_schema(context: RuleContext) -> Iterator[Note]:
    for call, tool, broken in _checked(context):
        if broken:
            yield Note(
                f"the arguments of {call.name!r} break its schema {described(broken)}",
                (call_at(context, call), f"{context.at} request {tool.pointer}"),
                severity="warning" if all(one.coercible for one in broken) else "error",
                because_of=(_REDEFINED,) if _made_before(context, tool, broken) is not None else (),
            )


RULES = (redefined, arguments_break_schema)
