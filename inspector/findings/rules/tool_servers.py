"""What tool servers do wrong on their own wire, and what clients leave unanswered there."""

import re
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...tools.definitions import compare
from ...wire.json_value import as_count
from ...wire.printable import several
from ..finding import Severity
from ..rule import Note, tool_rule
from ..schema_check import described
from ..tool_context import ToolContext
from .tool_results import never_answered, of

_REFUSALS = frozenset({-32600, -32601, -32602, -32020, -32021, -32022, -32042, 400, 401, 403, 404, 405, 429})
"""Codes with which a server refuses a call, and says why."""
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
    ),
)
def server_error(context: ToolContext) -> Iterator[Note]:
    for call, run in context.runs:
        if run.outcome == "failed":
            code = as_count((run.error or {}).get("code"))
            said = " ".join((run.returned_text or "").split())[:120]
            denied = context.definition(run) is not None and _UNKNOWN.search(said) is not None
            severity: Severity | None = "info" if code in _REFUSALS and not denied else None
            number = f" (code {code})" if code is not None else ""
            yield Note(
                f"server {run.server!r} answered the call of {run.name!r} with an error{number}: {said!r}",
                (f"#{run.exchanges[-1]} response /error", f"#{call.turn.index} response"),
                severity,
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
    says="A tool server ended while a call waited for its answer.",
    fix="Look at the end of the server's stderr and at its exit code.",
)
def server_died(context: ToolContext) -> Iterator[Note]:
    for call, run in context.runs:
        if run.outcome == "unanswered" and run.ended_by == "server":
            yield Note(
                f"server {run.server!r} ended before it had answered the call of {run.name!r}",
                (f"#{run.exchanges[-1]} request", f"#{call.turn.index} response"),
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
    not_when=("The client refuses it with an error: then it is an info",),
)
def input_unanswered(context: ToolContext) -> Iterator[Note]:
    note = context.note
    if note is not None and note.kind in ("no_answer_of_client", "refused_by_client"):
        refused = note.kind == "refused_by_client"
        how = f"was refused by the client: {note.detail[:120]!r}" if refused else "has no answer of the client"
        yield Note(
            f"the request {note.what} of server {note.server!r} {how}",
            (f"#{note.index} {'response' if refused else 'request'}",),
            severity="info" if refused else None,
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
    says="A result breaks the schema that the tool states for its structured content.",
    fix="Correct the tool's `outputSchema` or its result; clients refuse such results.",
    not_when=("The tool reports an error",),
)
def invalid_result(context: ToolContext) -> Iterator[Note]:
    for call, run in context.runs:
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
    invalid_result,
    reported_error,
    input_unanswered,
    definition_changed,
    garbage,
    definition_differs,
)
