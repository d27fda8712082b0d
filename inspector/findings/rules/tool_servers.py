"""What tool servers do wrong with the calls of their tools."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...tools.returned import returned_of
from ...tools.tool_run import ToolRun
from ...wire.json_value import as_count, is_object
from ..blame import BY_CLIENT, Blame, blamed
from ..rule import Note, tool_rule
from ..schema_check import described
from ..tool_context import ToolContext, is_whole
from .results import READERS, is_error_of_reader, reads_like_error, reports_failure
from .tool_calls import by_user
from .tool_results import of
from .tool_waits import left_early, never_answered, reports_progress

_REFUSALS = frozenset({-32600, -32601, -32602, -32020, -32021, -32022, -32042})
"""Codes with which a server refuses a call, and says why."""
_UNKNOWN = regex(r"(?:unknown|no such|unregistered) tool|tool\b.{0,80}\bnot (?:found|registered|known)", re.IGNORECASE)
"""How servers say that they do not have a tool."""


@tool_rule(
    "tool-server-error",
    "tool",
    "warning",
    "P",
    says="A tool server answered a call, the handshake, or the request for its tools with a JSON-RPC error.",
    fix="Look into the server's stderr at that time; errors of the tool itself belong into a result with `isError`.",
    not_when=(
        "The code says that the server refuses the call, such as wrong arguments: then it is an info, unless the call "
        "follows the schema that the server states. A tool that the server itself lists cannot be unknown to it",
        "The call was repeated, and then had a result: then it is an info",
        "The server says with status 404 that it has ended the session, which it may: then it is an info",
        "The server has listed its tools, and this is none of them: then `client-tool-not-on-server` says so",
    ),
)
def server_error(context: ToolContext) -> Iterator[Note]:
    for one in context.executions:
        run = one.run
        if one.call is None and _is_said(run):
            continue
        if run.outcome == "failed" and not is_elsewhere(context, run):
            code = as_count((run.error or {}).get("code"))
            said = " ".join((run.returned_text or "").split())[:120]
            blame = blamed(context, one.call, run)
            own = blame is not None and blame.layer == "tool"
            denied = context.definition(run) is not None and _UNKNOWN.search(said) is not None and not run.departed
            refused = one.repeated or _is_said(run) or (code in _REFUSALS and (run.status or 0) not in BY_CLIENT)
            number = f" (code {code})" if code is not None else ""
            why = blame.why if blame is not None and not denied else ""
            yield Note(
                f"server {run.server!r} answered the call of {run.name!r} with an error{number}: {said!r}{why}",
                (f"#{run.exchanges[-1]} response /error", *one.answer),
                "info" if run.expired or (refused and not denied and not own and not _is_mildly_said(run)) else None,
                layer=None if denied or blame is None else blame.layer,
                because_of=() if denied else causes_of(blame),
            )
    note = context.note
    if note is not None and note.kind == "list_failed":
        yield Note(
            f"server {note.server!r} answered `tools/list` with an error: {cut(note.detail, 120)!r}",
            (f"#{note.index} response /error",),
        )
    if note is not None and note.kind == "start_failed":
        yield Note(
            f"server {note.server!r} refused the handshake, and none succeeded after it: {cut(note.detail, 120)!r}",
            (f"#{note.index} response /error",),
        )


def _is_said(run: ToolRun) -> bool:
    """Whether another finding says what the client did before."""
    return run.departed is not None and not run.departed.mild


def _is_mildly_said(run: ToolRun) -> bool:
    """Whether another finding says it, as an info: nothing was known then to have failed for it."""
    return run.departed is not None and run.departed.mild


def causes_of(blame: Blame | None) -> tuple[str, ...]:
    """The finding that says who departed first."""
    return () if blame is None or blame.cause is None else (blame.cause,)


def is_elsewhere(context: ToolContext, run: ToolRun) -> bool:
    """True for a call that failed because its server has no such tool, and its newest list does not have it either."""
    listed = context.join.tools.get(run.server) if context.join is not None else None
    said = run.returned_text or ""
    return listed is not None and run.name not in listed and _UNKNOWN.search(said) is not None


@tool_rule(
    "tool-reported-error",
    "tool",
    "info",
    "P",
    says="A tool reported that it failed.",
    fix="See what the tool says; nothing is wrong with the connection.",
    not_when=(
        "It does not say what failed, refuses a call that follows the schema which it states, or does not take its own "
        "result: then it is a warning",
        "The client had not answered what the server asked it, or in a wrong form: then it is a warning of the client",
    ),
)
def reported_error(context: ToolContext) -> Iterator[Note]:
    for one in context.executions:
        run = one.run
        if run.outcome == "answered" and run.is_error:
            said = " ".join((run.returned_text or "").split())[:120]
            silent, blame = returned_of(run.result).empty, blamed(context, one.call, run)
            how = " without saying which" if silent else f": {said!r}"
            itself = _OWN_RESULT.search((run.returned_text or "")[:_SENTENCE]) is not None
            departed = blame is not None and blame.cause is None
            yield Note(
                f"{of(run)} reports an error{how}{blame.why if blame is not None and not itself else ''}",
                (f"#{run.exchanges[-1]} response /result", *one.answer),
                severity="warning" if silent or itself or departed else None,
                layer=None if itself or blame is None else blame.layer,
                because_of=() if itself else causes_of(blame),
            )


_OWN_RESULT = regex(
    r"output validation error|structured content does(?: not|n't) match|has an output schema but did(?: not|n't) return",
    re.IGNORECASE,
)
"""How servers say that they do not take what their own tool returned."""


@tool_rule(
    "tool-server-died",
    "tool",
    "error",
    "P",
    says="A tool server ended while a request of the client waited for its answer.",
    fix="Look at the end of the server's stderr and at its exit code.",
)
def server_died(context: ToolContext) -> Iterator[Note]:
    for one in context.executions:
        run = one.run
        if run.outcome == "unanswered" and run.ended_by == "server":
            yield Note(
                f"server {run.server!r} ended before it had answered the call of {run.name!r}{_departed(run)}",
                (f"#{run.exchanges[-1]} request", *one.answer),
                layer=None if run.departed is None else "client",
            )
    note = context.note
    if note is not None and note.kind == "ended_early":
        yield Note(
            f"server {note.server!r} ended before it had answered {note.what}",
            (f"#{note.index} request",),
        )


def _departed(run: ToolRun) -> str:
    """What the client did before, as the end of a sentence; empty when it did nothing wrong."""
    return "" if run.departed is None else f"; the client {run.departed.text}"


@tool_rule(
    "tool-server-silent",
    "tool",
    "error",
    "S",
    says="A tool server never answered a call or another request, until it ended its answer over HTTP, the connection was "
    "closed, or the client gave up.",
    fix="Let the server answer every request, also when the tool fails or hangs.",
    not_when=(
        "The client gave up, or closed the connection, in less than five seconds: then `client-tool-gave-up` says so",
        "An answer came later",
        "The server ended: `tool-server-died`",
        "The tool reported progress: then `client-tool-gave-up` says so",
        "The client says that the user stopped the call: then `client-tool-gave-up` says so",
        "The client gave the call an id by which no answer can be matched: `client-tool-protocol-broken`",
        "No call of the model has it: then it is a warning, and an info where the client gave up",
    ),
)
def server_silent(context: ToolContext) -> Iterator[Note]:
    for one in context.executions:
        run = one.run
        if run.unclear_id:
            continue
        works = reports_progress(run) and not run.answer_over
        waits = run.outcome == "unanswered" and run.ended_by != "server" and not works
        if (
            waits
            and not left_early(run)
            and run.task is None
            and (run.ended_by == "client" or context.over == "closed")
        ):
            written = f": the only answer {run.flaw.text}" if run.flaw is not None else ""
            yield Note(
                f"server {run.server!r} never answered the call of {run.name!r}{written or _departed(run)}",
                (f"#{run.exchanges[-1]} request", *one.answer),
                "warning" if one.call is None else None,
                layer=None if run.departed is None or written else "client",
            )
        given_up = run.outcome == "cancelled" and (one.went_on or one.call is None) and not by_user(one)
        if given_up and never_answered(run):
            after = f"{(run.duration_ms or 0) / 1000:.3g} s"
            yield Note(
                f"server {run.server!r} had not answered the call of {run.name!r} when the client gave up after {after}",
                (f"#{run.exchanges[-1]} request", *one.answer),
                "info" if one.call is None else None,
            )
    note = context.note
    if note is not None and note.kind == "never_answered":
        left = f"had not answered {note.what} when the client closed the connection after {note.detail}"
        how = left if note.detail else f"ended its HTTP response to {note.what}, and there is no answer in it"
        yield Note(f"server {note.server!r} {how}", (f"#{note.index} request",), severity="warning")


@tool_rule(
    "tool-invalid-result",
    "tool",
    "warning",
    "P",
    says="A result breaks the schema that the tool states for its structured content, or the form that MCP gives results.",
    fix="Correct the tool's `outputSchema` or its result; clients refuse such results.",
    not_when=(
        "The tool reports an error",
        "Only structured content is there: then it is an info",
        "The client takes it all the same, and the model sees all of it: then it is an info",
        "No call of the model has it, and a tolerant client loses nothing by it: then it is an info",
    ),
)
def invalid_result(context: ToolContext) -> Iterator[Note]:
    for one in context.executions:
        run = one.run
        if run.flaw is not None and (run.outcome in ("answered", "input_required") or run.task is not None):
            only = is_object((run.result or {}).get("structuredContent")) and "content" not in (run.result or {})
            harmless = only or (run.flaw.mild and (one.call is None or is_whole(run)))
            yield Note(
                f"the result of {of(run)} {run.flaw.text}",
                (f"#{run.exchanges[-1]} response /result", *one.answer),
                severity="info" if harmless else None,
            )
        broken = context.breaks_schema(run)
        if broken:
            known = context.definition(run)
            yield Note(
                f"the result of {of(run)} breaks its tool's `outputSchema` {described(broken)}",
                (
                    f"#{run.exchanges[-1]} response /result/structuredContent",
                    *((f"#{known.index} response /result/tools",) if known else ()),
                    *one.answer,
                ),
            )


@tool_rule(
    "tool-error-unmarked",
    "tool",
    "info",
    "S",
    says="A tool returned an error as if it were a result: without `isError`, clients and models take it for a success.",
    fix="Set `isError` in the results of failed calls.",
    not_when=(
        "The tool reads files, logs or pages, and the text is longer than an error and no error page of a server: it may be what "
        "it read",
    ),
)
def error_unmarked(context: ToolContext) -> Iterator[Note]:
    for one in context.executions:
        run = one.run
        text = run.returned_text or ""
        if run.outcome != "answered" or run.is_error:
            continue
        says = reads_like_error(text) and (not READERS.search(run.name) or is_error_of_reader(text))
        denied = _denies(context, run)
        misspelled = (run.result or {}).get("is_error") is True
        if says or denied or misspelled or reports_failure(text):
            yield Note(
                f"{of(run)} returned an error that is not marked as one: {cut(' '.join(text.split()), 80)!r}",
                (f"#{run.exchanges[-1]} response /result", *one.answer),
                severity="warning" if denied or misspelled else None,
            )


def _denies(context: ToolContext, run: ToolRun) -> bool:
    """True for a short result in which a server says that it does not know a tool which it lists."""
    text = run.returned_text or ""
    return len(text) <= _SENTENCE and _UNKNOWN.search(text) is not None and context.definition(run) is not None


_SENTENCE = 300
"""Characters. A longer text may speak of another tool."""


@tool_rule(
    "tool-definition-changed",
    "tool",
    "warning",
    "P",
    says="A tool server changed or removed the definition of a tool during the run.",
    fix="Restart the server between versions; announce changes with `notifications/tools/list_changed`.",
    not_when=(
        "The server announced that its tools change: then it is an info",
        "Only the description changed: then it is an info",
        "A tool was removed: then it is an info, and nothing when the server announced it",
        "Tools were only added",
    ),
)
def definition_changed(context: ToolContext) -> Iterator[Note]:
    note = context.note
    if note is not None and note.kind == "tool_gone":
        yield Note(
            f"server {note.server!r} no longer lists {note.what!r} and did not announce it",
            (f"#{note.before} response /result/tools", f"#{note.index} response /result/tools"),
            severity="info",
        )
    if note is None or note.kind != "definition_changed":
        return
    what, _, how = note.detail.partition("; ")
    mild = how == "announced" or what == "description"
    yield Note(
        f"server {note.server!r} changed the {' and the '.join(what.split(', '))} of {note.what!r}"
        + ("" if how == "announced" else " and did not announce it"),
        (f"#{note.before} response /result/tools", f"#{note.index} response /result/tools"),
        severity="info" if mild else None,
    )


RULES = (
    server_died,
    server_silent,
    server_error,
    invalid_result,
    error_unmarked,
    reported_error,
    definition_changed,
)
