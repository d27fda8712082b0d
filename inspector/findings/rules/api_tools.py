"""Calls as the API gives them, and the tools that it runs itself: ids that are missing, runs that failed."""

from collections.abc import Iterator, Sequence

from ...wire.json_value import as_object
from ...wire.printable import several
from ...wire.values import Part, ToolResult
from ..rule import Note, rule
from ..rule_context import RuleContext


@rule(
    "api-call-without-id",
    "api",
    "warning",
    "P",
    says="A call has no id, or an empty one, and the API pairs calls and results by id.",
    fix="Give the call an id before it enters the history; report it to the provider of the server.",
    not_when=(
        "The API does not need ids",
        "The client ran the calls and none failed: then it is an info",
    ),
)
def call_without_id(context: RuleContext) -> Iterator[Note]:
    lacks_id = context.protocol.answers.lacks_id
    if lacks_id is None or not context.succeeded or context.finish.effective == "cut":
        return
    bare = [
        part
        for part in context.emission.content
        if part.call is not None and not part.call.server and part.call.complete and lacks_id(as_object(part.raw))
    ]
    if bare:
        names = ", ".join(repr(part.call.name) for part in bare[:4] if part.call is not None)
        yield Note(
            f"{several(len(bare), 'call')} without an id: {names}",
            tuple(f"{context.at} response {part.pointer}" for part in bare[:4]),
        )


@rule(
    "server-tool-failed",
    "api",
    "warning",
    "P",
    says="A tool that the API runs itself, or an MCP server that it asked, failed; or the answer ended without its result.",
    fix="Read the error; check the address and the rights of the MCP server, or ask again when the tool is available.",
    not_when=(
        "The same tool succeeded later in the answer: then it is an info",
        "A program of the model failed, and not the tool that ran it: then it is an info",
        "The answer paused, was cut, or waits for results of the client",
        "The answer holds a result under another id",
    ),
)
def server_tool_failed(context: RuleContext) -> Iterator[Note]:
    given = list(_server_results(context))
    for place, (name, pointer, result) in enumerate(given):
        if not result.is_error:
            continue
        recovered = any(later == name and not one.is_error for later, _, one in given[place + 1 :])
        what = (
            f"a program of the model failed in {name!r}"
            if result.program_failed
            else f"the tool {name!r}, which the API ran, failed"
        )
        said = result.text.strip()[:160]
        yield Note(
            what + (f": {said}" if said else ""),
            (f"{context.at} response {pointer}",),
            severity="info" if recovered or result.program_failed else None,
            layer="model" if result.program_failed else None,
        )


@server_tool_failed.also("ended")
def server_tool_unanswered(context: RuleContext) -> Iterator[Note]:
    """A call of one of the API's own tools that has not ended, or has no result, although the answer is complete."""
    if not context.succeeded or context.finish.effective != "complete":
        return
    for part in _unfinished(context):
        call = part.call
        if call is not None:
            what = "gave no result" if call.complete else "had not ended"
            yield Note(
                f"the tool {call.name!r}, which the API runs, {what}, and the answer ended",
                (f"{context.at} response {part.pointer}", context.finish_at),
            )


def _unfinished(context: RuleContext) -> list[Part]:
    """The calls of the API's own tools that the API marks as running, or that have no result where each has one."""
    content = context.emission.content
    calls = [part for part in content if part.call is not None and part.call.server]
    given = {result.call_id for result in context.emission.server_results}
    running = [part for part in calls if part.call is not None and not part.call.complete and part.call.id not in given]
    made = {part.call.id for part in calls if part.call is not None}
    rules = context.spoken[1]
    if given - made - {None}:
        return running
    if rules.gives_results:
        return [part for part in calls if part in running or (part.call and part.call.id and part.call.id not in given)]
    offered = {name for name, given_as in rules.gives_results_of.items() if given_as & context.tools.keys()}
    due = [part for part in calls if part.call and part.call.name in offered]
    return [*running, *(part for part in due if not _has_result(content, part))]


def _has_result(content: Sequence[Part], call: Part) -> bool:
    """Whether the result of a call comes behind it, before the next call: results need not have ids."""
    behind = (part for part in content[content.index(call) + 1 :] if part.call is not None or part.result is not None)
    following = next(behind, None)
    return following is not None and following.result is not None and following.result.server


def _server_results(context: RuleContext) -> Iterator[tuple[str, str, ToolResult]]:
    """The name of the tool, the pointer, and the result of each of the API's own tools, in order."""
    names: dict[str | None, str] = {}
    last = ""
    for part in context.emission.content:
        if part.call is not None and part.call.server:
            last = names[part.call.id] = part.call.name
        elif part.result is not None and part.result.server:
            named = part.result.name or (names.get(part.result.call_id) if part.result.call_id else last)
            yield named or str(as_object(part.raw).get("type") or "tool"), part.pointer, part.result


RULES = (call_without_id, server_tool_failed, server_tool_unanswered)
