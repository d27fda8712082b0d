"""What tool servers do wrong on their own wire, and what clients leave unanswered there."""

import re
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...tools.definitions import compare
from ...tools.returned import malformed
from ...tools.tool_run import ToolRun
from ...wire.json_value import as_count, is_object
from ...wire.printable import several
from ..finding import Severity
from ..rule import Note, tool_rule
from ..schema_check import described
from ..tool_context import ToolContext
from .results import READERS, reads_like_error
from .tool_results import never_answered, of

_REFUSALS = frozenset({-32600, -32601, -32602, -32020, -32021, -32022, -32042, 400, 401, 403, 404, 405, 429})
"""Codes with which a server refuses a call, and says why."""
_BY_CLIENT = frozenset({400, 401, 403, 404, 405})
"""Statuses over HTTP that speak of what the client sent: the session, the credentials, the address."""
_UNKNOWN = regex(r"(?:unknown|no such|unregistered) tool|tool\b.{0,80}\bnot (?:found|registered|known)", re.IGNORECASE)
"""How servers say that they do not have a tool."""


@tool_rule(
    "tool-server-error",
    "tool",
    "warning",
    "P",
    says="A tool server answered a call with a JSON-RPC error.",
    fix="Look into the server's stderr at that time; errors of the tool itself belong into a result with `isError`.",
    not_when=(
        "The code says that the server refuses the call, such as wrong arguments: then it is an info. A tool that the "
        "server itself lists cannot be unknown to it",
        "The server has listed its tools, and this is none of them: then `client-tool-not-on-server` says so",
    ),
)
def server_error(context: ToolContext) -> Iterator[Note]:
    for call, run in context.runs:
        if run.outcome == "failed" and not _is_elsewhere(context, run):
            code = as_count((run.error or {}).get("code"))
            said = " ".join((run.returned_text or "").split())[:120]
            denied = context.definition(run) is not None and _UNKNOWN.search(said) is not None
            refused = not _REFUSALS.isdisjoint({code, run.status})
            severity: Severity | None = "info" if refused and not denied else None
            number = f" (code {code})" if code is not None else ""
            yield Note(
                f"server {run.server!r} answered the call of {run.name!r} with an error{number}: {said!r}",
                (f"#{run.exchanges[-1]} response /error", f"#{call.turn.index} response"),
                severity,
                layer="client" if run.status in _BY_CLIENT and not denied else None,
            )


def _is_elsewhere(context: ToolContext, run: ToolRun) -> bool:
    """True for a call that failed because its server has no such tool, and never said that it had."""
    listed = context.join.tools.get(run.server) if context.join is not None else None
    said = run.returned_text or ""
    return bool(listed) and run.name not in (listed or ()) and _UNKNOWN.search(said) is not None


@tool_rule(
    "client-tool-not-on-server",
    "client",
    "warning",
    "P",
    says="The client called a tool on a server that has none of this name.",
    fix="Keep for each offered tool which server it is from and what that server calls it, without your own prefix.",
)
def not_on_server(context: ToolContext) -> Iterator[Note]:
    asked = [*(run for _, run in context.runs), *([context.loose] if context.loose is not None else [])]
    for run in asked:
        if run.outcome == "failed" and _is_elsewhere(context, run):
            answer = () if run.turn is None else (f"#{run.turn} response",)
            yield Note(
                f"the client called {run.name!r} on server {run.server!r}, which does not list it",
                (f"#{run.exchanges[-1]} request /params/name", *answer),
            )


@tool_rule(
    "tool-reported-error",
    "tool",
    "info",
    "P",
    says="A tool reported that it failed.",
    fix="See what the tool says; nothing is wrong with the connection.",
)
def reported_error(context: ToolContext) -> Iterator[Note]:
    for call, run in context.runs:
        if run.outcome == "answered" and run.is_error:
            said = " ".join((run.returned_text or "").split())[:120]
            yield Note(
                f"{of(run)} reports an error: {said!r}",
                (f"#{run.exchanges[-1]} response /result", f"#{call.turn.index} response"),
            )


@tool_rule(
    "tool-server-died",
    "tool",
    "error",
    "P",
    says="A tool server ended while a request of the client waited for its answer.",
    fix="Look at the end of the server's stderr and at its exit code.",
)
def server_died(context: ToolContext) -> Iterator[Note]:
    for call, run in context.runs:
        if run.outcome == "unanswered" and run.ended_by == "server":
            yield Note(
                f"server {run.server!r} ended before it had answered the call of {run.name!r}",
                (f"#{run.exchanges[-1]} request", f"#{call.turn.index} response"),
            )
    note = context.note
    if note is not None and note.kind == "ended_early":
        yield Note(
            f"server {note.server!r} ended before it had answered {note.what}",
            (f"#{note.index} request",),
        )


@tool_rule(
    "tool-server-silent",
    "tool",
    "error",
    "S",
    says="A tool server never answered a call, until the connection was closed or the client gave up.",
    fix="Let the server answer every request, also when the tool fails or hangs.",
    not_when=(
        "The client gave up on the call in less than five seconds, or an answer came later",
        "The server ended: `tool-server-died`",
    ),
)
def server_silent(context: ToolContext) -> Iterator[Note]:
    for call, run in context.runs:
        waits = run.outcome == "unanswered" and run.ended_by != "server"
        if waits and (run.ended_by == "client" or context.over == "closed"):
            yield Note(
                f"server {run.server!r} never answered the call of {run.name!r}",
                (f"#{run.exchanges[-1]} request", f"#{call.turn.index} response"),
            )
        given_up = run.outcome == "cancelled" and call.turn.followed_by is not None
        if given_up and never_answered(run):
            after = f"{(run.duration_ms or 0) / 1000:.3g} s"
            yield Note(
                f"server {run.server!r} had not answered the call of {run.name!r} when the client gave up after {after}",
                (f"#{run.exchanges[-1]} request", f"#{call.turn.index} response"),
            )


@tool_rule(
    "client-tool-input-unanswered",
    "client",
    "warning",
    "P",
    says="A tool server asked for input, and the client did not answer.",
    fix="Use a client that supports elicitation or sampling, or a tool that works without.",
    not_when=(
        "The client refuses it with an error: then it is an info",
        "It is a ping or asks for the roots: then it is an info",
    ),
)
def input_unanswered(context: ToolContext) -> Iterator[Note]:
    note = context.note
    if note is not None and note.kind in ("no_answer_of_client", "refused_by_client"):
        refused = note.kind == "refused_by_client"
        how = f"was refused by the client: {note.detail[:120]!r}" if refused else "has no answer of the client"
        yield Note(
            f"the request {note.what} of server {note.server!r} {how}",
            (f"#{note.index} {'response' if refused else 'request'}",),
            severity="info" if refused or note.what in ("ping", "roots/list") else None,
        )
    for call, run in context.runs:
        if run.outcome == "input_required" and (context.over != "open"):
            yield Note(
                f"{of(run)} asked for input, and the client did not call it again with an answer",
                (f"#{run.exchanges[-1]} response /result/inputRequests", f"#{call.turn.index} response"),
            )


@tool_rule(
    "tool-invalid-result",
    "tool",
    "warning",
    "P",
    says="A result breaks the schema that the tool states for its structured content, or has no list of content as MCP wants it.",
    fix="Correct the tool's `outputSchema` or its result; clients refuse such results.",
    not_when=("The tool reports an error", "Only structured content is there: then it is an info"),
)
def invalid_result(context: ToolContext) -> Iterator[Note]:
    for call, run in context.runs:
        if (what := malformed(run)) is not None:
            only = is_object((run.result or {}).get("structuredContent"))
            yield Note(
                f"the result of {of(run)} {what}",
                (f"#{run.exchanges[-1]} response /result", f"#{call.turn.index} response"),
                severity="info" if only else None,
            )
        broken = context.breaks_schema(run)
        if broken:
            known = context.definition(run)
            yield Note(
                f"the result of {of(run)} breaks its tool's `outputSchema` {described(broken)}",
                (
                    f"#{run.exchanges[-1]} response /result/structuredContent",
                    *((f"#{known.index} response /result/tools",) if known else ()),
                    f"#{call.turn.index} response",
                ),
            )


@tool_rule(
    "tool-protocol-broken",
    "tool",
    "warning",
    "P",
    says="A tool server breaks the rules of MCP: it answers twice, defines a tool twice, or its list of tools never ends.",
    fix="Use an official SDK for the server, or correct the message that the evidence names.",
)
def protocol_broken(context: ToolContext) -> Iterator[Note]:
    note = context.note
    if note is None:
        return
    broken = {
        "answered_twice": f"sent an answer with the id {note.what} that no open request has",
        "listed_twice": f"lists the tool {note.what!r} twice, with another {note.detail.replace(', ', ' and another ')}",
        "list_loops": f"names the page {note.what!r} as the next one of that page itself, so its list never ends",
    }
    if (what := broken.get(note.kind)) is not None:
        answer = "request" if note.kind == "answered_twice" else "response /result"
        yield Note(f"server {note.server!r} {what}", (f"#{note.index} {answer}",))


@tool_rule(
    "client-tool-protocol-broken",
    "client",
    "warning",
    "P",
    says="The client breaks the rules of MCP: it leaves pages of the list of tools unread, uses a session that is gone or does not "
    "name it, or asks before the server is ready.",
    fix="Read all pages of `tools/list`; after status 404, begin a new session with `initialize`; wait for the end of the handshake.",
    not_when=("The tools changed and the client offers the old ones: then it is an info",),
)
def client_breaks_protocol(context: ToolContext) -> Iterator[Note]:
    note = context.note
    for server, index in context.outdated:
        if context.turn is not None:
            yield Note(
                f"server {server!r} announced that its tools change, and the client offers those that it knew before",
                (f"#{index} request", f"#{context.turn.round_trip.index} request"),
                severity="info",
            )
    if note is None:
        return
    broken = {
        "page_not_read": f"calls a tool of server {note.server!r} without having read the rest of its list of tools",
        "not_ready": f"sent {note.what} to server {note.server!r} before the handshake had ended: {note.detail[:80]!r}",
        "session_gone": f"sent {note.what} to server {note.server!r} in a session that the server no longer has",
        "session_not_named": f"sent {note.what} to server {note.server!r} without the id of its session",
    }
    if (what := broken.get(note.kind)) is not None:
        before = () if note.before is None else (f"#{note.before} response",)
        yield Note(f"the client {what}", (*before, f"#{note.index} request"))


@tool_rule(
    "tool-error-unmarked",
    "tool",
    "info",
    "S",
    says="A tool returned an error as if it were a result: without `isError`, clients and models take it for a success.",
    fix="Set `isError` in the results of failed calls.",
    not_when=("The tool reads files, logs or pages: the text may be what it read",),
)
def error_unmarked(context: ToolContext) -> Iterator[Note]:
    for call, run in context.runs:
        text = run.returned_text or ""
        if run.outcome == "answered" and not run.is_error and reads_like_error(text) and not READERS.search(run.name):
            yield Note(
                f"{of(run)} returned an error that is not marked as one: {' '.join(text.split())[:80]!r}",
                (f"#{run.exchanges[-1]} response /result", f"#{call.turn.index} response"),
            )


@tool_rule(
    "tool-definition-changed",
    "tool",
    "warning",
    "P",
    says="A tool server changed the definition of a tool during the run.",
    fix="Restart the server between versions; announce changes with `notifications/tools/list_changed`.",
    not_when=(
        "The server announced that its tools change: then it is an info",
        "Only the description changed: then it is an info",
        "Tools were only added or removed",
    ),
)
def definition_changed(context: ToolContext) -> Iterator[Note]:
    note = context.note
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


@tool_rule(
    "tool-garbage-on-stdout",
    "tool",
    "warning",
    "P",
    says="A tool server writes something else than messages to its standard output.",
    fix="Write logs and banners to stderr; stdout is for JSON-RPC messages only.",
    not_when=("Empty lines",),
)
def garbage(context: ToolContext) -> Iterator[Note]:
    note = context.note
    if note is not None and note.kind == "garbage":
        yield Note(
            f"server {note.server!r} wrote a line to stdout that is not a message: {note.what[:80]!r}",
            (f"#{note.index} request",),
        )


@tool_rule(
    "client-tool-definition-differs",
    "client",
    "warning",
    "P",
    says="The model is offered another definition of a tool than its server states.",
    fix="Look for what rewrites definitions: an old copy, a schema converter, a limit for descriptions.",
    not_when=(
        "The description was cut, or got words of the client: then it is an info",
        "Only keywords of the schema, optional arguments or related types differ: then it is an info",
        "Arguments were only added: then it is an info",
    ),
)
def definition_differs(context: ToolContext) -> Iterator[Note]:
    differ = [(tool, known, found) for tool, known in context.offers if (found := compare(tool, known)) is not None]
    mild = [one for one in differ if one[2].mild]
    for tool, known, found in [*(one for one in differ if not one[2].mild), *mild[:1]]:
        if context.turn is not None:
            others = f" (and {several(len(mild) - 1, 'more tool')})" if found.mild and len(mild) > 1 else ""
            yield Note(
                f"{tool.name!r}{others} differs from what its server states: {found.text}",
                (f"#{context.turn.round_trip.index} request {tool.pointer}", f"#{known.index} response /result/tools"),
                severity="info" if found.mild else None,
            )


RULES = (
    server_died,
    server_silent,
    server_error,
    not_on_server,
    invalid_result,
    protocol_broken,
    client_breaks_protocol,
    error_unmarked,
    reported_error,
    input_unanswered,
    definition_changed,
    garbage,
    definition_differs,
)
