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


def _checked(context: RuleContext) -> Iterator[tuple[ToolCall, Tool]]:
    """The calls of an answer whose tool has a schema that calls can fit."""
    for call in whole_calls(context):
        tool = context.tools.get(call.name)
        if written_twice(call) is not None or tool is None or tool.schema is None:
            continue
        if impossible(tool.schema) is not None or barred(tool.schema) is not None:
            continue
        if tool in context.request.tools and undescribed(tool.schema) is not None:
            continue
        if call.arguments is None and call.arguments_raw.strip() not in ("", "null"):
            continue
        yield call, tool


def _broken(tool: Tool, call: ToolCall) -> list[Violation]:
    return violations(tool.schema, {} if call.arguments is None else call.arguments)


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
    for call, tool in _checked(context):
        earlier = _under_another_schema(context, tool)
        broken = _broken(tool, call) if earlier else []
        if broken and (made := _made_alike(context, tool, broken, earlier)) is not None:
            index, _, _ = context.thread.emitted_calls[made]
            yield Note(
                f"the schema of {call.name!r} is another than at call {made} of #{index}, and the model calls it as it did "
                f"there {described(broken)}",
                (f"#{index} call {made}", call_at(context, call), f"{context.at} request {tool.pointer}"),
            )


def _under_another_schema(context: RuleContext, tool: Tool) -> list[str]:
    """The ids of the newest calls that fitted another schema of the tool than this one."""
    fitting = context.thread.fitting_calls.get(tool.name, [])[-_MOST_EARLIER:]
    return [call_id for call_id, schema in fitting if schema != tool.schema]


def _made_alike(context: RuleContext, tool: Tool, broken: Sequence[Violation], earlier: Sequence[str]) -> str | None:
    """Of these calls the newest one in the history that breaks the tool's schema in the same way."""
    kinds = {one.kind for one in broken}
    for call_id in reversed(earlier):
        held = context.calls.get(call_id) if call_id in context.thread.emitted_calls else None
        if held is None or held.call is None or held.call.name != tool.name:
            continue
        if kinds <= {one.kind for one in _broken(tool, held.call)}:
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
    for call, tool in _checked(context):
        broken = _broken(tool, call)
        if not broken and call.id is not None:
            context.thread.fitting_calls.setdefault(call.name, []).append((call.id, tool.schema))
        elif broken:
            made = _made_alike(context, tool, broken, _under_another_schema(context, tool))
            yield Note(
                f"the arguments of {call.name!r} break its schema {described(broken)}",
                (call_at(context, call), f"{context.at} request {tool.pointer}"),
                severity="warning" if all(one.coercible for one in broken) else "error",
                because_of=(_REDEFINED,) if made is not None else (),
            )


RULES = (redefined, arguments_break_schema)
