"""Tools whose offer and whose function disagree: the client's own executor does not take what the request offers."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...wire.json_value import as_array, as_object, parse_json
from ...wire.per_message import ByKey
from ...wire.values import Message, Part, Tool, ToolCall, ToolResult
from ..finding import Layer
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..schema_check import violations
from .damaged import strings_in
from .results import new_results, tool_of

UNKNOWN = regex(
    r"\b(?:unknown|unregistered|undefined|unrecognized|invalid|no such|not an? (?:known|valid)|unsupported) (?:tool|function)\b(?! (?:input|argument|call|param))"
    r"|\b(?:tool|function)\b[^.\n]{0,80}?\b(?:(?:is |was )?(?:not|never) (?:found|registered|available|known|defined|recognized|"
    r"a valid|implemented|supported)|does(?: not|n't) exist|not in (?:the )?(?:registry|list|tools))"
    r"|\bno (?:tool|function|handler)\b[^.\n]{0,60}?\b(?:named|called|found|registered|for)\b",
    re.IGNORECASE,
)
"""How executors say that they have no tool of the name."""
_UNEXPECTED = regex(
    r"(?:(?P<function>\w+)\(\) got an )?unexpected keyword argument '(\w+)'|got an unexpected (?:argument|parameter) '?(\w+)"
    r"|^(\w+)\s*\n\s+(?:Unexpected keyword argument|Extra inputs are not permitted)",
    re.MULTILINE,
)
_MISSING = regex(
    r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)"
    r"|^(\w+)\s*\n\s+(?:Field required|field required|Missing required (?:argument|keyword))"
    r"|must have required property '(\w+)'|['\"]?(\w+)['\"]? is a required property"
    r"|missing (?:a |the )?required (?:argument|parameter|property|field)s?:? ['\"`]?(\w+)",
    re.MULTILINE | re.IGNORECASE,
)
"""How Python, pydantic (2.12), Ajv and jsonschema (read 2026-11-22) name an argument. A search is slow in a long text, and
words that all of these have are found at once."""
_UNDEFINED = regex(
    r"\"?path\"?:\s*\[\s*\"(\w+)\"\s*\].{0,80}?received undefined|received undefined.{0,80}?\"?path\"?:\s*\[\s*\"(\w+)\"\s*\]"
    r"|received undefined\s+(?:\u2192|->|at)\s*(?:at )?(\w+)",
    re.DOTALL,
)
"""How zod (4.1, read 2026-11-30) names an argument that was not given."""
_CLOSED = regex(r"must not have additional propert|additional propert(?:y|ies) .{0,60}not allowed", re.IGNORECASE)
INVALID = regex(
    r"\d+ validation errors? for|validation ?error|invalid (?:tool )?(?:arguments|parameters|input)\b|input validation",
    re.IGNORECASE,
)
_WRAPPERS = ("_run", "_arun", "run", "execute", "invoke", "call", "__call__", "handler", "func", "fn", "forward")
"""What frameworks call the function behind a tool."""
_NAME = regex(r"'(\w+)'")
_HEAD = 600
"""Characters. An error says what it is at its beginning; later text may be quoted."""


def _failed(context: RuleContext) -> Iterator[tuple[Part, ToolResult, ToolCall, Tool]]:
    """The new results whose call and whose offer the request shows."""
    for part, result in new_results(context):
        known = context.calls.get(result.call_id) if result.call_id is not None else None
        call = known.call if known is not None else None
        name = tool_of(context, result) or result.name or ""
        tool = context.tools.get(call.name if call is not None else name)
        if call is None:
            # APIs whose calls have no ids: the last call of the tool.
            call = _calls_by_name(context.request.messages).get(name)
        if tool is not None and call is not None and not tool.server and len(result.text) <= 4 * _HEAD:
            yield part, result, call, tool


def _under_its_tool(message: Message) -> list[tuple[str, ToolCall]]:
    return [(part.call.name, part.call) for part in message.parts if part.call is not None]


_calls_by_name = ByKey(_under_its_tool).of


def _offered_then(context: RuleContext, name: str) -> bool:
    """True when the request that got the call offered the tool as well."""
    before = context.before
    return before is None or any(tool.name == name for tool in before.reading.request.tools)


@rule(
    "client-offers-unknown-tool",
    "client",
    "error",
    "S",
    says="The request offers a tool that the client's own executor does not know.",
    fix="Build the list of offered tools and the executor from one registry; check prefixes and namespaces of names.",
    not_when=("The request that got the call did not offer the tool: then `model-unknown-tool` says so",),
)
def unknown_to_executor(context: RuleContext) -> Iterator[Note]:
    for part, result, call, _ in _failed(context):
        head = result.text[:_HEAD]
        if UNKNOWN.search(head) and call.name in head and _offered_then(context, call.name) and _short(head):
            yield Note(
                f"the request offers {call.name!r}, and the client answers its call with {cut(head.strip(), 120)!r}",
                (f"{context.at} request {part.pointer}", f"{context.at} request {context.tools[call.name].pointer}"),
                key=call.name,
            )


def _short(text: str) -> bool:
    """True for a message of one or two lines, as executors write; a longer text may be content."""
    return sum(bool(line.strip()) for line in text.splitlines()) <= 3 or text.lstrip()[:1] == "{"


@rule(
    "call-args-not-taken",
    "client",
    "error",
    "S",
    says="A call follows the schema that the request offers, and the function behind the tool does not take it.",
    fix="Generate the schema from the function, or test each tool with arguments that its schema allows.",
    not_when=(
        "The call breaks the schema: then `model-args-break-schema` says so",
        "The argument is not in the schema: then the model made it up, and it is a warning",
        "The tool refuses a value that the schema allows: then the model chose the value, and it is an info",
    ),
)
def schema_not_function(context: RuleContext) -> Iterator[Note]:
    for part, result, call, tool in _failed(context):
        found = _disagreement(_plain(result.text), call, tool)
        if found is None:
            continue
        what, layer, sure = found
        yield Note(
            f"the call of {call.name!r} {what}: {_line(result.text)!r}",
            (f"{context.at} request {part.pointer}", f"{context.at} request {tool.pointer}"),
            severity="info" if not sure else "warning" if layer else None,
            layer=layer,
            key=(call.name, what),
        )


def _plain(text: str) -> str:
    """The words of a result that is JSON, with its line breaks."""
    value = parse_json(text) if text.lstrip()[:1] in ("{", "[") else None
    return "\n".join(words for _, words in strings_in(value)) if value is not None else text


def _line(text: str) -> str:
    """The line with the error, of a traceback the last."""
    lines = [line.strip() for line in text.splitlines() if _UNEXPECTED.search(line) or _MISSING.search(line)]
    return (lines or [text.strip()])[-1][:120]


def _disagreement(text: str, call: ToolCall, tool: Tool) -> tuple[str, Layer | None, bool] | None:
    """How function and schema disagree, whose fault it is, and whether the text leaves no doubt."""
    schema = as_object(tool.schema)
    declared, required = as_object(schema.get("properties")), {str(name) for name in as_array(schema.get("required"))}
    given = as_object(call.arguments)
    if ("nexpected" in text or "Extra inputs" in text) and (found := _UNEXPECTED.search(text)):
        name = found[2] or found[3] or found[4]
        if name in declared:
            return f"passes {name!r}, which its schema declares and its function does not take", None, True
        if name in given:
            return f"passes {name!r}, which its schema does not have", "model", True
        if found["function"] not in (call.name, *_WRAPPERS):
            return None  # An error inside the tool, or in what the tool ran.
        return f"fails because the client passes {name!r}, which neither the call nor the schema has", None, True
    if names := _lacking(text):
        lost = [name for name in names if name in given]
        if lost:
            return f"passes {lost[0]!r}, but the function did not get it", None, True
        unasked = [name for name in names if name not in required]
        return (
            (
                f"lacks {unasked[0]!r}, which its schema does not {'require' if unasked[0] in declared else 'have'} "
                "and its function needs",
                None,
                True,
            )
            if unasked
            else None
        )
    if _CLOSED.search(text[:_HEAD]) and declared and not violations(tool.schema, given):
        extra = [name for name in given if name not in declared]
        if extra:
            return f"passes {extra[0]!r}, which its schema does not have", "model", True
        return "passes only what its schema declares, and the client's validation refuses it", None, True
    if INVALID.search(text[:_HEAD]) and declared and _short(text[:_HEAD]) and not violations(tool.schema, given):
        return "has a value that its schema allows and its tool refuses", "model", False
    return None


def missed(text: str) -> list[str]:
    """The arguments that an error says at its beginning were not given; none where it says nothing of the kind."""
    return _lacking(text[:_HEAD])


def _lacking(text: str) -> list[str]:
    if "received undefined" in text and (found := _UNDEFINED.search(text)) is not None:
        return [next(filter(None, found.groups()))]
    found = _MISSING.search(text) if "equired" in text else None
    if found is None:
        return []
    return _NAME.findall(found[1]) if found[1] else [next(filter(None, found.groups()[1:]))]


_REFUSED = regex(
    r"invalid tools/call result|invalid (?:tool )?(?:result|output)\b|output validation error|"
    r"(?:structured content|result|output) does(?: not|n't) match|has an output schema but did(?: not|n't) return",
    re.IGNORECASE,
)
"""How clients say that they do not take what the tool returned."""


@rule(
    "call-result-refused",
    "client",
    "warning",
    "S",
    says="The client does not take what its tool returned, and the model reads an error instead of the result (client, or the "
    "tool's server).",
    fix="Correct the tool's result or its output schema, or let the client pass on what it cannot validate.",
    not_when=("The words are somewhere in a longer result",),
)
def result_refused(context: RuleContext) -> Iterator[Note]:
    for part, result, call, _ in _failed(context):
        said = _plain(result.text)
        if _REFUSED.search(said[:200]):
            yield Note(
                f"the client refuses the result of {call.name!r}: {cut(said.strip(), 160)!r}",
                (f"{context.at} request {part.pointer}",),
                key=(call.name, "refused"),
            )


RULES = (result_refused, unknown_to_executor, schema_not_function)
