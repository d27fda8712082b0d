"""Arguments that break the schema of their tool, and whether the client gave the tool another schema meanwhile."""

from collections.abc import Iterator, Sequence

from ...wire.json_value import as_object, value_at
from ...wire.values import Tool, ToolCall
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..schema_check import Violation, answerable, barred, described, impossible, violations
from .call_shape import WRONG_TYPE
from .emission import call_at, whole_calls, written_twice
from .output_format import NOT_ENFORCED, not_enforced

_REDEFINED = "client-tool-redefined"
_SAME_ID = "api-duplicate-tool-call-id"
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
        if call.arguments is None and call.arguments_raw.strip() not in ("", "null"):
            continue
        yield call, tool


def _broken(tool: Tool, call: ToolCall) -> list[Violation]:
    """How a call breaks the schema of its tool in what the schema describes."""
    return violations(answerable(tool.schema), {} if call.arguments is None else call.arguments)


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


@not_enforced.also("ended")
def strict_tool_not_enforced(context: RuleContext) -> Iterator[Note]:
    """A call whose arguments break the schema of a tool that the request makes strict."""
    for call, tool in _checked(context):
        if not _is_strict(context, tool) or context.has(WRONG_TYPE):
            continue
        if (broken := _broken(tool, call)) and not _fits_namesake(context, tool, call):
            yield Note(
                f"the tool {call.name!r} is strict, and the arguments of its call break its schema {described(broken)}",
                (f"{context.at} request {tool.pointer}", call_at(context, call)),
                severity="warning" if all(one.coercible for one in broken) else None,
            )


def _fits_namesake(context: RuleContext, tool: Tool, call: ToolCall) -> bool:
    """Whether the arguments fit another tool of the request that has the same name."""
    others = (one for one in context.request.tools if one.name == tool.name and one is not tool)
    return any(not _broken(one, call) for one in others)


def _is_strict(context: RuleContext, tool: Tool) -> bool:
    """Whether the request has the API enforce the schema of a tool."""
    if context.kept_tools is not None:
        return False
    fields = as_object(value_at(context.fields, tool.pointer.split("/")[1:]))
    return any(as_object(one).get("strict") is True for one in (fields, fields.get("function"), fields.get("toolSpec")))


@rule(
    "model-args-break-schema",
    "model",
    "error",
    "P",
    says="The arguments of a call are valid JSON and break the schema that was sent with the tool.",
    fix="Describe the field, give it an enum or an example, or set the tool to strict; answer with an error that "
    "names the field.",
    not_when=(
        "Several tools of the request have this name, and the arguments fit one: `client-bad-tool-schema` says so",
        "The schema itself cannot be compiled, or no arguments can fit it: then `client-tool-definition-damaged` says so",
        "The schema does not describe an argument that it requires: then `client-tool-definition-damaged` says so",
        "The schema allows no value at all for a parameter: then `client-tool-definition-damaged` says so",
        "A number written as a string, or the other way round: then it is a warning",
        "A text that has not the `format` of the schema: then it is a warning",
    ),
)
def arguments_break_schema(context: RuleContext) -> Iterator[Note]:
    strict = context.has(NOT_ENFORCED)
    for call, tool in _checked(context):
        broken = _broken(tool, call)
        if not broken and call.id is not None:
            context.thread.fitting_calls.setdefault(call.name, []).append((call.id, tool.schema))
        elif broken and not _fits_namesake(context, tool, call):
            made = _made_alike(context, tool, broken, _under_another_schema(context, tool))
            yield Note(
                f"the arguments of {call.name!r} break its schema {described(broken)}",
                (call_at(context, call), context.tool_at(tool.pointer)),
                severity="warning" if all(one.coercible for one in broken) else "error",
                because_of=(
                    (_REDEFINED,)
                    if made is not None
                    else _is_copy(context, call) or (strict if _is_strict(context, tool) else ())
                ),
            )


def _is_copy(context: RuleContext, call: ToolCall) -> tuple[str, ...]:
    """Why a call without arguments is not the model's: the API lost them, or put it beside the whole one, under the same id."""
    same = [one for one in context.emission.calls if one.id and one.id == call.id and one.choice == call.choice]
    if as_object(call.arguments):
        return ()
    beside = context.has(_SAME_ID) if any(as_object(one.arguments) for one in same) else ()
    return beside or context.has(WRONG_TYPE)


RULES = (redefined, strict_tool_not_enforced, arguments_break_schema)
