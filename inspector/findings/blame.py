"""Whose fault it is that a tool server failed a call: the first hop of the call that departs from the one before it.

A call goes a long way: the server states a definition, the client offers it, the model calls by it, the client sends
that to the server, and the server answers. Each hop is compared with the one before, in this order. The failure is the
fault of the first that broke or changed something which the failure is about, and not of who noticed it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

from ..tools.arguments import differences
from ..tools.model_calls import ModelCall
from ..tools.tool_run import ToolRun
from ..wire.json_value import as_object, is_array, is_object, value_at
from .finding import Layer
from .schema_check import Violation, violations
from .tool_context import ToolContext

UNKNOWN_TOOL = "model-unknown-tool"
ARGUMENTS_BROKEN = "model-args-break-schema"
DEFINITION_DIFFERS = "client-tool-definition-differs"
ARGUMENTS_CHANGED = "client-tool-arguments-changed"

BY_CLIENT = frozenset({301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 415})
"""Statuses over HTTP that speak of what the client sent: the session, the credentials, the address, the headers."""
_SENTENCE = 600
"""Characters. A longer text speaks of more than the call."""
_OF_ARGUMENTS = regex(
    r"required|missing|expected .{0,60}(?:received|got)|input should be|not of type|is not one of|field required"
    r"|must be (?:of type|one of|provided|present)"
    r"|must be an? (?:valid )?(?:string|text|number|integer|boolean|array|list|object)\b"
    r"|must (?:match|have) |unexpected (?:keyword|argument)|additional propert|unrecognized key|invalid type"
    r"|unknown (?:argument|parameter|field)|failed to deserialize|validation error|schema",
    re.IGNORECASE,
)
"""How servers say that the arguments of a call have a wrong form."""
_OF_REPLIES = regex(r"\b(?:elicit|sampl(?:e|ing)\b|roots?\b.{0,40}\b(?:list|response|reply))", re.IGNORECASE)
"""How servers say that what they had asked the client meanwhile is in the way."""


@frozen
class Blame:
    """Who departed first."""

    layer: Layer
    why: str = ""
    """The end of a sentence; empty where another finding says it."""
    cause: str | None = None
    """The finding that says it."""
    broken: tuple[Violation, ...] = ()
    """How the arguments break the schema that was not passed on."""


def blamed(context: ToolContext, call: ModelCall | None, run: ToolRun) -> Blame | None:
    """The first departure that explains why a run failed; None where no hop departs, and where it did not fail.

    `call`: None for a run that no call of the model has; then what is before the client cannot be seen.
    """
    fails = run.is_error or run.outcome in ("failed", "unanswered", "cancelled")
    return next(_departures(context, call, run), None) if fails else None


def _departures(context: ToolContext, call: ModelCall | None, run: ToolRun) -> Iterator[Blame]:
    sent, known = as_object(run.arguments), context.definition(run)
    theirs = known.schema if known is not None else None
    about = speaks_of_arguments(run)
    stated = is_object(theirs) and bool(theirs)
    if call is not None:
        yield from _before_the_wire(context, call, run, theirs)
    if run.departed is not None:
        yield Blame("client", f"; the client {run.departed.text}")
    if run.expired:
        yield Blame("tool", ": it had ended the session")
    if run.status in BY_CLIENT and run.flaw is None:
        yield Blame("client")
    # The server, by what it states itself.
    if run.flaw is not None:
        yield Blame("tool")
    if about and stated and run.status not in BY_CLIENT and not violations(theirs, sent):
        yield Blame("tool", ", although the call follows the schema that it states")


def _before_the_wire(context: ToolContext, call: ModelCall, run: ToolRun, theirs: object) -> Iterator[Blame]:
    """The departures between the server's definition (`theirs`) and what the client sent."""
    given = call.call.arguments
    tools = {tool.name: tool for tool in context.turn.reading.request.tools} if context.turn is not None else {}
    offered, about = tools.get(call.call.name), speaks_of_arguments(run)
    stated = is_object(theirs) and bool(theirs)
    # The model, by what it was offered.
    if tools and offered is None and UNKNOWN_TOOL in context.found:
        yield Blame("model", cause=UNKNOWN_TOOL)
    if about and offered is not None and is_object(given):
        ours = tuple(violations(offered.schema, given))
        whole = tuple(violations(theirs, given))
        if ours and (whole or not stated):
            found = ARGUMENTS_BROKEN in context.found
            why = "" if found else ", and the model had broken the schema that it was offered"
            yield Blame("model", why, ARGUMENTS_BROKEN if found else None)
        # The client, in what it offered.
        if whole and not ours and is_object(offered.schema) and not _sent_otherwise(call, run):
            yield Blame("client", cause=DEFINITION_DIFFERS, broken=whole)
    # The client, in what it sent.
    if is_why(context, call, run):
        yield Blame("client", cause=ARGUMENTS_CHANGED)


def speaks_of_arguments(run: ToolRun) -> bool:
    """Whether a failed run says that its arguments have a wrong form."""
    said = run.returned_text or ""
    if run.outcome != "failed" and len(said) > _SENTENCE:
        return False
    return _OF_ARGUMENTS.search(said[:_SENTENCE]) is not None and _OF_REPLIES.search(said[:_SENTENCE]) is None


def is_why(context: ToolContext, call: ModelCall, run: ToolRun) -> bool:
    """Whether other arguments than the model wrote are why a call was refused, or may break the server's schema."""
    given = call.call.arguments
    if given is None and call.call.arguments_raw.strip():
        return False
    paths = list(differences(given, run.arguments))
    known = context.definition(run)
    if not paths:
        return False
    whole = known is not None and is_object(given) and not violations(known.schema, given)
    if known is not None and whole and violations(known.schema, as_object(run.arguments)):
        return True
    said = run.returned_text or ""
    names = (next(iter(steps_of(path)), "") for path in paths)
    named = any(re.search(rf"\b{re.escape(name)}\b", said) for name in names if len(name) > 2)
    return run.is_error is True and (named or _received(said, given, run.arguments, paths))


_RECEIVED = regex(
    r"\b(?:received|got|found|is|was|input_type=)\s*(?:an? |type |value )?['\"`]?(?P<kind>[A-Za-z]+)", re.IGNORECASE
)
"""How servers say which type an argument had."""
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("null", "none", "nonetype", "undefined", "nil"), type(None)),
    **dict.fromkeys(("array", "list", "sequence", "tuple"), list),
    **dict.fromkeys(("object", "dict", "map", "record"), dict),
    **dict.fromkeys(("boolean", "bool"), bool),
    **dict.fromkeys(("string", "str", "text"), str),
    **dict.fromkeys(("number", "integer", "int", "float"), (int, float)),
}
"""By the names that servers use: the type of a parsed value."""


def _received(said: str, given: object, sent: object, paths: Sequence[str]) -> bool:
    """Whether a server refuses the type that the client gave an argument, and that the model gave none."""
    kinds = {found["kind"].lower() for found in _RECEIVED.finditer(said[:_SENTENCE])}
    wanted = [_TYPES[kind] for kind in kinds if kind in _TYPES]
    written = list(_leaves(given))
    return any(
        isinstance(value_at(sent, steps_of(path)), kind) and not any(isinstance(one, kind) for one in written)
        for kind in wanted
        for path in paths
        if _is_there(sent, path)
    )


def _leaves(value: object) -> Iterator[object]:
    """All values inside arguments."""
    below = value.values() if is_object(value) else value if is_array(value) else ()
    for one in below:
        yield one
        yield from _leaves(one)


def _is_there(value: object, path: str) -> bool:
    """Whether arguments have something at a pointer, and it was not only left out."""
    *above, last = steps_of(path) or [""]
    holder = value_at(value, above)
    return not is_object(holder) or last in holder


def _sent_otherwise(call: ModelCall, run: ToolRun) -> bool:
    return any(True for _ in differences(call.call.arguments, run.arguments))


def steps_of(path: str) -> list[str]:
    """The names of a JSON pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
