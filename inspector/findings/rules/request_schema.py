"""Requests that break an API's rules, even if the API accepted them: roles, empty blocks, tools, schemas, stale state.

Each is validated by structure first; the API's own sentence only confirms it. Before the client is blamed, the
offending block is looked up among those that the API itself returned.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...wire.json_value import Object, as_array, as_object, as_text, is_array, is_object
from ...wire.per_message import PerMessage
from ...wire.printable import several
from ...wire.protocols.traits import ArgumentsField
from ...wire.schema_refs import lost_reference
from ...wire.values import Message, Part, Tool
from ..rule import Note, rule
from ..rule_context import RuleContext
from .empty_content import is_odd
from .errors import failure_place
from .history import place
from .media import out_of_reach
from .pairing import confirmed


def _has_calls(message: Message) -> bool:
    return any(part.call is not None and not part.call.server for part in message.parts)


def _has_results(message: Message) -> bool:
    return any(part.result is not None and not part.result.server for part in message.parts)


@rule(
    "client-role-order",
    "client",
    "error",
    "P",
    says="A message has a role that the API does not have, or the roles are not in the order that it requires.",
    fix="Use the API's own names of roles. Begin with a user message, put results after their calls, and end with a user message or a result.",
    not_when=(
        "The last message prefills the answer, and the API allows that",
        "The API accepted the request: then it is an info",
    ),
)
def role_order(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-role-order", _roles(context))


def _roles(context: RuleContext) -> Iterator[Note]:
    yield from _unknown_roles(context)
    check = context.protocol.requests.check_roles
    messages = context.request.conversation
    if check is None or not messages or context.request.previous_id is not None:
        return
    beside_open = _beside_open_calls(context)
    for message, what in check(messages):
        roots = context.has("client-history-truncated")
        if message.pointer in beside_open:
            roots += context.has_recently("client-missing-tool-result")
        yield Note(
            what,
            (f"{context.at} request {message.pointer}",),
            key=(what, message.pointer),
            because_of=roots,
        )


def _unknown_roles(context: RuleContext) -> Iterator[Note]:
    known = context.protocol.requests.roles
    for message in context.fresh if known else ():
        role = as_text(as_object(message.raw).get("role"))
        if role and role not in known:
            what = f"a message has the role {cut(role, 40)!r}, which the API does not have"
            yield Note(what, (f"{context.at} request {message.pointer}",), key=(what, message.pointer))


def _beside_open_calls(context: RuleContext) -> frozenset[str]:
    """The pointers of messages that hold a call without a result, which explains a wrong order, or come behind one."""
    missing = {part.pointer for part in context.pairing.missing}
    messages = context.request.messages
    opened = [any(part.pointer in missing for part in message.parts) for message in messages] if missing else []
    after = zip(messages[1:], opened, strict=False)
    return frozenset(one.pointer for one, is_open in chain(zip(messages, opened, strict=False), after) if is_open)


@rule(
    "client-tools-missing-for-history",
    "client",
    "error",
    "P",
    says="The history holds calls and the request defines no tools.",
    fix="Send the tools whenever the history holds calls, also in requests for compactions and titles.",
    not_when=("The request continues a thread that the API holds",),
)
def tools_missing(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-tools-missing-for-history", _tools_missing(context))


def _tools_missing(context: RuleContext) -> Iterator[Note]:
    if not context.protocol.requests.needs_tools_for_history or context.request.tools:
        return
    if "toolConfig" in context.request.parameters or "mcp_servers" in context.request.parameters:
        return
    if context.request.previous_id is not None:
        return  # a message thread: the API holds the tools as well
    for message in context.request.messages:
        if _has_calls(message) or _has_results(message):
            yield Note(
                "the history holds calls and results and the request defines no tools",
                (f"{context.at} request {message.pointer}", f"{context.at} request /tools"),
                key="tools",
            )
            return


@rule(
    "client-bad-tool-schema",
    "client",
    "error",
    "P",
    says="The API rejects the definition of a tool: its name, its schema, or two tools with one name.",
    fix="Fix the definition where the tool is created; arrays need items, each `$ref` needs its target, names are unique.",
)
def bad_schema(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-bad-tool-schema", _schemas(context))


def _schemas(context: RuleContext) -> Iterator[Note]:
    rules = context.protocol.requests
    names = Counter(tool.name for tool in context.request.tools if not tool.server)
    for tool, bad in zip(context.request.tools, _faults.of(context.request.tools), strict=True):
        problem, named = None, True  # the client gives names, also to tools of servers
        if names[tool.name] > 1 and not tool.server:
            problem = f"two tools are called {tool.name!r}"
        elif rules.tool_name is not None and not tool.server and not rules.tool_name.fullmatch(tool.name):
            problem = f"the API does not accept the name {tool.name!r}"
        elif bad is not None:
            problem, named = f"the schema of {tool.name!r} has {bad}", False
        if problem:
            yield Note(
                problem,
                (f"{context.at} request {tool.pointer}", *((f"{context.at} request /tools",) if named else ())),
                key=(problem, tool.name),
            )
    limit = rules.max_tools
    if limit and len(context.request.tools) > limit:
        yield Note(
            f"the request offers {several(len(context.request.tools), 'tool')}; the API accepts at most {limit}",
            (f"{context.at} request /tools",),
            key="many",
        )


def _schema_fault(schema: object, at: str = "") -> str | None:
    """The first fault in a schema that strict APIs reject, such as `an array without items at /properties/a`."""
    if not is_object(schema):
        return None
    kind = as_text(schema.get("type"))
    where = f" at {at}" if at else ""
    if kind in ("array", "ARRAY") and "items" not in schema and "prefixItems" not in schema:
        return f"an array without items{where}"
    if at == "" and schema and kind not in (None, "object", "OBJECT"):
        return f"the type {kind!r} instead of an object"
    if kind is not None and kind.lower() not in _TYPES:
        return f"the type {cut(kind, 40)!r}, which JSON Schema does not have{where}"
    if "required" in schema and not is_array(schema["required"]):
        return f"a value other than a list under 'required'{where}"
    if is_array(schema.get("properties")):
        return f"a list as its properties, where an object belongs{where}"
    for name, inner in as_object(schema.get("properties")).items():
        if not isinstance(inner, bool) and not is_object(inner):
            return f"a property {name!r} that is not a schema{where}"
        if bad := _schema_fault(inner, f"{at}/properties/{name}"):
            return bad
    items = schema.get("items")
    return _schema_fault(items, f"{at}/items") if is_object(items) else None


_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null", "type_unspecified"})
"""The types of JSON Schema; Google writes them in upper case and has one more."""


def _fault(tool: Tool) -> str | None:
    if bad := _schema_fault(tool.schema):
        return bad
    lost = lost_reference(tool.schema)
    return f"a reference to {lost!r}, which it does not have" if lost is not None else None


_faults = PerMessage(_fault)


@rule(
    "client-unsupported-param",
    "client",
    "error",
    "P",
    says="The request has a parameter or a value that the model does not accept, or more cache marks than the API allows.",
    fix="Leave the parameter out for this model, or use the one that replaced it. Keep the cache marks that lie last.",
)
def unsupported_parameter(context: RuleContext) -> Iterator[Note]:
    yield from _too_many_marks(context)
    said = context.rejection
    error = context.reading.error
    if said is None or error is None or "client-unsupported-param" not in said.ids:
        return
    fields = context.fields
    exact = next((name for name in (*said.named, as_text(_param(context)) or "") if _has(fields, name)), None)
    named = exact or _word_for(fields, said.text)
    where = f"{context.at} request /{_STEPS.sub('/', named).strip('/')}" if named else f"{context.at} request"
    yield Note(
        f"the API does not accept {named or 'a parameter of the request'}: {said.text}",
        (where, failure_place(context.turn)),
        tier="P" if exact else "S",
        key=("param", named or said.text),
    )


def _too_many_marks(context: RuleContext) -> Iterator[Note]:
    marks, most = context.request.cache_marks, context.protocol.caching.most_marks
    if most and len(marks) > most:
        yield Note(
            f"the request has {len(marks)} cache marks; the API accepts at most {most}",
            tuple(f"{context.at} request {mark.pointer}" for mark in marks[most:][:3]),
            key="marks",
        )


_STEPS = regex(r"[.\[\]]+")
"""The separators of a path in an error text, such as `messages[0].role`."""


def _word_for(fields: dict[str, object], text: str) -> str | None:
    """The one parameter of the request whose name is a word of the API's sentence; None of several."""
    words = set(_NAME.findall(text.lower())) - _COMMON
    inner = {f"{outer}.{name}": name for outer, holder in fields.items() for name in as_object(holder)}
    found = [path for path, name in ({name: name for name in fields} | inner).items() if name.lower() in words]
    return found[0] if len(found) == 1 else None


_NAME = regex(r"[a-z]\w{2,}")
_COMMON = frozenset(
    {"model", "messages", "input", "prompt", "text", "user", "system", "content", "contents", "type", "name"}
)
"""Names of parameters that are also words of any sentence about a request."""


def _param(context: RuleContext) -> object:
    return as_object(context.exchange.answer_fields.get("error")).get("param")


def _has(fields: dict[str, object], name: str) -> bool:
    if not name:
        return False
    head = name.split(".")[0].split("[")[0]
    return any(
        head in holder
        for holder in (fields, as_object(fields.get("generationConfig")), as_object(fields.get("inferenceConfig")))
    )


@rule(
    "client-stale-server-state",
    "client",
    "error",
    "P",
    says="The request refers to something that the API does not have: a response, an item, a conversation, a cache.",
    fix="Send the history itself, or store answers that later requests continue (`store: true`).",
)
def stale_state(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-stale-server-state", _stale(context))


def _stale(context: RuleContext) -> Iterator[Note]:
    if context.rejection is None or "client-stale-server-state" not in context.rejection.ids:
        return
    previous = context.request.previous_id
    if previous is None:
        return
    stored = context.run.answers.get(previous)
    if stored is True:
        return
    why = "was requested with `store: false`" if stored is False else "is not in this recording"
    yield Note(
        f"the request continues {previous}, which {why}",
        (f"{context.at} request /previous_response_id",),
        tier="P" if stored is False else "S",
        key=previous,
    )


@rule(
    "client-args-wrong-type",
    "client",
    "error",
    "P",
    says="A message, a call or a result is sent in the wrong JSON type.",
    fix="Arguments are a string in OpenAI's APIs and an object in Anthropic's, Bedrock's and Gemini's.",
)
def wrong_type(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-args-wrong-type", _wrong_types(context))


def _wrong_types(context: RuleContext) -> Iterator[Note]:
    for message in context.fresh:
        if is_odd(message) and not message.parts:
            yield Note(
                "the content of a message must be text or a list",
                (f"{context.at} request {message.pointer}",),
                key=message.pointer,
            )
        for part in message.parts:
            yield from _wrong_direction(context, message, part)
            yield from _wrong_arguments(context, part)
            yield from _wrong_result(context, part)


def _wrong_direction(context: RuleContext, message: Message, part: Part) -> Iterator[Note]:
    """A text of the user under the type of the model's texts, or the other way round."""
    kind = as_text(as_object(part.raw).get("type")) if part.kind == "text" else None
    own = message.role == "assistant"
    if kind in ("input_text", "output_text") and own != (kind == "output_text"):
        others = "the user" if own else "the model"
        yield Note(
            f"a text of the {message.role} has the type {kind!r}, which is for texts of {others}",
            (f"{context.at} request {part.pointer}",),
            key=part.pointer,
        )


def _wrong_arguments(context: RuleContext, part: Part) -> Iterator[Note]:
    call = as_object(part.raw)
    if part.call is None or part.call.server or as_text(call.get("type")) in _OBJECT_CALLS:
        return
    wrong = next((place.type for place in context.protocol.requests.arguments if _breaks(call, place)), None)
    if wrong is not None and context.returned_by(part.raw) is None:
        yield Note(
            f"the arguments of {part.call.name!r} must be {_ARTICLE[wrong]}",
            (f"{context.at} request {part.pointer}",),
            key=part.pointer,
        )


def _breaks(call: Object, place: ArgumentsField) -> bool:
    """True when the call holds arguments at this place, in another type."""
    for step in place.holder:
        call = as_object(call.get(step))
    if place.key not in call:
        return place.required and bool(call) and as_text(call.get("type")) in _WITH_ARGUMENTS
    return not _is(call[place.key], place.type)


_WITH_ARGUMENTS = frozenset({None, "function_call", "tool_use"})
"""Types of what holds arguments; a custom tool has an input."""


def _wrong_result(context: RuleContext, part: Part) -> Iterator[Note]:
    raw = as_object(part.raw)
    if part.result is None or part.result.server:
        return
    kind = as_text(raw.get("type"))
    if kind in _LISTED_RESULTS and isinstance(raw.get("output"), str):
        yield Note(
            f"the output of a `{kind}` must be a list",
            (f"{context.at} request {part.pointer}",),
            key=part.pointer,
        )
    if kind not in _OBJECT_RESULTS and any(is_object(raw.get(name)) for name in ("content", "output")):
        yield Note(
            "the content of a result must be text or a list",
            (f"{context.at} request {part.pointer}",),
            key=part.pointer,
        )
    answered = as_object(raw.get("functionResponse") or raw.get("function_response"))
    if not is_object(answered.get("response", {})):
        yield Note(
            "the response of a result must be an object",
            (f"{context.at} request {part.pointer}",),
            key=part.pointer,
        )
    for item in as_array(as_object(raw.get("toolResult")).get("content")):
        value = as_object(item).get("json")
        if value is not None and not is_object(value):
            yield Note(
                "the JSON of a result must be an object",
                (f"{context.at} request {part.pointer}",),
                key=part.pointer,
            )


def _is(value: object, kind: str) -> bool:
    return isinstance(value, str) if kind == "string" else is_object(value) and not is_array(value)


_ARTICLE = {"string": "a string", "object": "an object"}
_OBJECT_CALLS = frozenset({"tool_search_call"})
"""Items of Responses whose arguments are an object although those of functions are a string."""
_OBJECT_RESULTS = frozenset({"computer_call_output"})
_LISTED_RESULTS = frozenset({"shell_call_output"})
"""Items of Responses whose output is an object, or a list alone, although that of functions is a text."""


@rule(
    "client-media-unsupported",
    "client",
    "error",
    "S",
    says="The request holds an image or a file that the model or the API does not accept, or that is at an address which the "
    "API cannot reach.",
    fix="Send it to a model that accepts it, or send it as text; send a local file as base64.",
    not_when=("The server runs on this machine or in a private network, and may read the address",),
)
def media_unsupported(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-media-unsupported", out_of_reach(context))


@rule(
    "client-call-id-rewritten",
    "client",
    "info",
    "P",
    says="The client sent a call back with another id than the API's. With the id of another call, or without one, it is a warning.",
    fix="Keep ids. If another API needs its own format, change the id in both the call and its result.",
)
def id_rewritten(context: RuleContext) -> Iterator[Note]:
    changes = [change for change in context.echo.changes if change.kind == "id_changed"] if context.echo else []
    exchanged = len(changes) > 1 and {c.was for c in changes} == {c.became for c in changes}
    notes = [
        Note(
            f"the call {change.was} came back under the id {change.became} of another call, and that under another: each "
            "result now answers the wrong call"
            if exchanged
            else f"the client sent the call id {change.was} back as {change.became}",
            (
                f"#{context.before.round_trip.index if context.before else '?'} call {change.was}",
                f"{context.at} request {change.now}",
            ),
            severity="error"
            if context.reading.error is not None
            and context.rejection
            and "client-call-id-rewritten" in context.rejection.ids
            else "warning"
            if exchanged
            else None,
            key=change.was,
        )
        for change in (changes[:1] if exchanged else changes)
    ]
    yield from confirmed(context, "client-call-id-rewritten", [*notes, *_ids_lost(context)])


def _ids_lost(context: RuleContext) -> Iterator[Note]:
    """Calls that came back without their id, although the API pairs calls and results by id."""
    lacks_id, before = context.protocol.answers.lacks_id, context.before
    changes = context.echo.changes if context.echo is not None and before is not None else ()
    lost = [change for change in changes if change.kind == "id_lost"]
    if lacks_id is None or not lost:
        return
    calls = {part.pointer: part for message in context.request.messages for part in message.parts if part.call}
    for change in lost:
        part = calls.get(change.now or "")
        if part is None or not lacks_id(as_object(part.raw)):
            continue
        yield Note(
            f"the client sent the call {change.was} back without its id, so that no result can name it",
            (*place(context, change),),
            severity="warning",
            key=change.was,
        )


RULES = (
    role_order,
    tools_missing,
    bad_schema,
    unsupported_parameter,
    stale_state,
    wrong_type,
    media_unsupported,
    id_rewritten,
)
