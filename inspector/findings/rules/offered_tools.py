"""Calls of tools that the request does not offer, and calls that it required or forbade."""

import re
from collections.abc import Iterator
from itertools import chain

from turntape.cassettes.excerpts import listed
from turntape.cassettes.regex import regex

from ...wire.json_value import as_array, as_object, compact
from ...wire.per_message import PerMessage
from ...wire.values import Message, ToolCall, ToolChoice
from ..rule import Note, rule
from ..rule_context import RuleContext
from .emission import call_at, whole_calls
from .template_tokens import template_token

_ALONE = regex(
    r"(?:\w+[:_])?(?:web_?search|google_?search|file_?search|web_?fetch|url_?context|code_?(?:execution|interpreter)"
    r"|image_?generation)(?:_preview|_retrieval)?(?:_\d+)*",
    re.IGNORECASE,
)
"""Hosted tools that do all their work at the API: they bring no tools that the client has to run."""
_WRAPPERS = ("multi_tool_use.parallel", "multi_tool_use")


def _unoffered_calls(context: RuleContext) -> list[ToolCall]:
    """The whole calls of tools that are not among those of the request."""
    return [call for call in whole_calls(context) if not call.toolset and call.name not in context.tools]


def _held_elsewhere(context: RuleContext) -> bool:
    """True when tools may be offered that this request does not show."""
    request = context.request
    _, kept = context.kept_tools or (0, ())
    hosted = any(tool.server and not _ALONE.fullmatch(tool.name) for tool in request.tools or kept)
    return hosted or any(_searched.of(request.messages)) or "prompt" in request.parameters


def _only_by_search(context: RuleContext) -> bool:
    """True when a search among the request's own tools is all that may bring others."""
    request = context.request
    if request.continues is not None or "prompt" in request.parameters or all(tool.server for tool in request.tools):
        return False
    hosted = (tool.name for tool in request.tools if tool.server and not _ALONE.fullmatch(tool.name))
    return all("tool_search" in name for name in hosted)


def _is_nowhere(context: RuleContext, name: str) -> bool:
    """True for a name that the request does not contain, and no result of the API's own tools in the answer."""
    body = context.turn.round_trip.request.body
    return (
        bool(name)
        and name.encode("utf-8", "surrogatepass") not in body
        and not any(name in compact(part.raw) for part in context.emission.content if part.kind != "call")
    )


def _searches_tools(message: Message) -> bool:
    return any(part.call is not None and "tool_search" in part.call.name for part in message.parts)


_searched = PerMessage(_searches_tools)


def _loaded(context: RuleContext) -> frozenset[str]:
    """Tools that an item of the history brought, as `additional_tools` does."""
    return frozenset(chain.from_iterable(_brought.of(context.request.messages)))


def _tools_of(message: Message) -> list[str]:
    return [str(as_object(tool).get("name")) for tool in as_array(as_object(message.raw).get("tools"))]


_brought = PerMessage(_tools_of)


@rule(
    "model-unknown-tool",
    "model",
    "error",
    "P",
    says="The model called a tool that the request did not offer.",
    fix="Answer the call with an error result that lists the valid names; rename tools that are easily confused.",
    not_when=(
        "The API holds tools: a stored prompt or a hosted tool that may bring some",
        "The request searches for tools, and has the name somewhere or continues what the API holds",
        "A previous response may hold tools: then the tier is S",
        "The request offers no tools, and the API may hold some: a session, a cache or an earlier request",
        "An earlier request of the same agent offered it: then `client-tool-withdrawn` says so",
        "The body of the request is missing in the recording",
        "The call has neither a name nor an id: then `api-call-without-id` says so",
    ),
)
def unknown_tool(context: RuleContext) -> Iterator[Note]:
    _, kept = context.kept_tools or (0, ())
    tools = context.request.tools or kept
    if not tools:
        yield from _called_without_tools(context)
        return
    calls = _unoffered_calls(context)
    if _held_elsewhere(context):
        searched = _only_by_search(context)
        calls = [
            call
            for call in calls
            if call.name.strip() in context.tools or (searched and _is_nowhere(context, call.name.strip()))
        ]
    offered = listed(sorted(context.tools), 8)
    for call in calls:
        if call.name in _loaded(context):
            continue
        if not call.name and not call.id and context.protocol.answers.lacks_id is not None:
            continue
        if _offered_before(context, call.name):
            continue
        what = f"the model called {call.name!r}, which was not offered; the request offers {offered}"
        bare = re.split(r"[.:/]", call.name)[-1]
        if not call.name:
            what = f"the model called a tool without a name; the request offers {offered}"
        elif call.name in _WRAPPERS:
            what = f"the model wrapped its calls in {call.name!r}, which is not a tool of the request"
        elif call.name.strip() in context.tools:
            what = (
                f"the model called {call.name!r}: there is white space around {call.name.strip()!r}, which was offered"
            )
        elif bare in context.tools:
            what = f"the model called {call.name!r}: it put a prefix before {bare!r}, which was offered"
        yield Note(
            what,
            (call_at(context, call), context.tool_at(tools[0].pointer.rsplit("/", 1)[0])),
            tier="S" if context.request.previous_id is not None and not kept else None,
            because_of=context.has("template-tokens-in-text") if template_token(call.name) is not None else (),
        )


@rule(
    "client-tool-withdrawn",
    "client",
    "error",
    "S",
    says="The model called a tool that an earlier request offered and this one no longer does, under the same instructions.",
    fix="Send the whole list of tools with every request; forbid a tool by `tool_choice`, or say so in the instructions.",
    not_when=("The system prompt changed as well: another agent may have taken over",),
)
def tool_withdrawn(context: RuleContext) -> Iterator[Note]:
    tools = context.request.tools
    calls = _unoffered_calls(context)
    if not calls or _held_elsewhere(context) or (not tools and not _offers_nothing(context)):
        return
    at = f"{context.at} request {tools[0].pointer.rsplit('/', 1)[0]}" if tools else f"{context.at} request"
    for call in calls:
        if call.name not in _loaded(context) and (offered := _offered_before(context, call.name)):
            yield Note(
                f"the model called {call.name!r}, which the request no longer offers; {offered} offered it",
                (call_at(context, call), at),
                key=call.name,
            )


def _offered_before(context: RuleContext, name: str) -> str | None:
    """The turn before, if it offered the tool; or an earlier one, if this thread has calls of it."""
    before = context.before
    if before is None or before.reading.request.instructions != context.request.instructions:
        return None
    if any(tool.name == name for tool in before.reading.request.tools):
        return f"#{before.round_trip.index}"
    thread = context.thread
    called = name in thread.answered_tools or any(name == one[1] for one in thread.emitted_calls.values())
    return "an earlier request" if called and name in context.run.tools else None


def _called_without_tools(context: RuleContext) -> Iterator[Note]:
    """A call in the answer to a request that offers no tools at all, and does not continue another one."""
    calls = [call for call in whole_calls(context) if not _offered_before(context, call.name)]
    if calls and _offers_nothing(context) and not _held_elsewhere(context):
        yield Note(
            f"the answer calls {calls[0].name!r}, and the request offers no tools",
            (call_at(context, calls[0]), f"{context.at} request"),
        )


def _offers_nothing(context: RuleContext) -> bool:
    """True for a request without tools to which the API adds none either."""
    request, whole = context.request, context.protocol.pairing.in_request
    held = request.continues is not None or not _MAY_HOLD_TOOLS.isdisjoint(request.parameters) or not context.fields
    return whole and not held and not context.tools and not _loaded(context)


_MAY_HOLD_TOOLS = frozenset(
    {"cachedContent", "cached_content", "conversation", "prompt", "agent", "agent_id", "mcp_servers"}
)
"""Fields of a request that name something which may bring tools."""


@rule(
    "tool-choice-violated",
    "api",
    "error",
    "P",
    says="The request required or forbade tool calls and the answer does the opposite; the server should enforce it. The "
    "client is to blame where it requires a tool that the request does not offer.",
    fix="Offer only the tool that you want called, and check the answer; some servers ignore tool_choice.",
    not_when=(
        "The answer was cut",
        "The answer hit its cap",
        "The answer was filtered",
        "The model refused",
    ),
    aliases=("model-tool-choice-violated",),
)
def tool_choice_violated(context: RuleContext) -> Iterator[Note]:
    choice = context.request.tool_choice
    if choice is None or not context.succeeded:
        return
    if context.finish.label not in ("complete", "tool_calls", "stop_sequence", "unknown") or context.emission.refusal:
        return
    if context.finish.effective == "cut" or context.emission.emitted == "empty":
        return
    names = [call.name for call in context.emission.calls]
    evidence = (
        f"{context.at} request tool choice {choice.mode} {', '.join(choice.names)}".strip(),
        f"{context.at} response",
    )
    if (absent := _not_offered(context, choice)) is not None:
        yield Note(f"a call of {absent!r} is required, and the request offers no such tool", evidence, layer="client")
    elif choice.mode == "none" and names:
        yield Note(f"tool calls were forbidden and {names[0]!r} was called", evidence)
    elif choice.mode in ("required", "named") and not names and not context.emission.server_calls:
        wanted = " or ".join(repr(name) for name in choice.names) or "any tool"
        yield Note(f"a call of {wanted} was required and the answer has no call", evidence)
    elif (
        choice.mode == "named"
        and choice.names
        and not set(names) & set(choice.names)
        and not context.emission.server_calls
    ):
        yield Note(f"a call of {choice.names[0]!r} was required and {names[0]!r} was called", evidence)


def _not_offered(context: RuleContext, choice: ToolChoice) -> str | None:
    """The tool that a choice names, if the request offers tools and none of those that it names."""
    served = any(tool.server for tool in context.request.tools) or bool(context.emission.server_calls)
    if not context.request.tools or served or _loaded(context) or choice.mode not in ("named", "required"):
        return None
    if not choice.names:
        return None
    return None if context.tools.keys() & set(choice.names) else choice.names[0]


RULES = (unknown_tool, tool_withdrawn, tool_choice_violated)
