"""What tool servers do wrong on their own wire."""

import re
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...tools.returned import returned_of
from ...tools.tool_run import ToolRun
from ...wire.json_value import as_count, is_object
from ..blame import BY_CLIENT, Blame, blamed
from ..causes import DEFINITION_REJECTED, OF_ORIGIN, RESULT_UNREADABLE, TOOL_BREAKS_PROTOCOL
from ..rule import Note, tool_rule
from ..schema_check import described
from ..tool_context import ToolContext, is_whole
from .results import READERS, is_error_of_reader, reads_like_error, reports_failure
from .tool_results import left_early, never_answered, of, reports_progress

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
            f"server {note.server!r} answered `tools/list` with an error: {note.detail[:120]!r}",
            (f"#{note.index} response /error",),
        )
    if note is not None and note.kind == "start_failed":
        yield Note(
            f"server {note.server!r} refused the handshake, and none succeeded after it: {note.detail[:120]!r}",
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
    says="A tool server never answered a call or another request, until the connection was closed or the client gave up.",
    fix="Let the server answer every request, also when the tool fails or hangs.",
    not_when=(
        "The client gave up, or closed the connection, in less than five seconds: then `client-tool-gave-up` says so",
        "An answer came later",
        "The server ended: `tool-server-died`",
        "The tool reported progress: then `client-tool-gave-up` says so",
        "The client gave the call an id by which no answer can be matched: `client-tool-protocol-broken`",
        "No call of the model has it: then it is a warning, and an info where the client gave up",
    ),
)
def server_silent(context: ToolContext) -> Iterator[Note]:
    for one in context.executions:
        run = one.run
        if run.unclear_id:
            continue
        waits = run.outcome == "unanswered" and run.ended_by != "server" and not reports_progress(run)
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
        given_up = run.outcome == "cancelled" and (one.went_on or one.call is None)
        if given_up and never_answered(run):
            after = f"{(run.duration_ms or 0) / 1000:.3g} s"
            yield Note(
                f"server {run.server!r} had not answered the call of {run.name!r} when the client gave up after {after}",
                (f"#{run.exchanges[-1]} request", *one.answer),
                "info" if one.call is None else None,
            )
    note = context.note
    if note is not None and note.kind == "never_answered":
        yield Note(
            f"server {note.server!r} had not answered {note.what} when the client closed the connection after {note.detail}",
            (f"#{note.index} request",),
            severity="warning",
        )


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
    TOOL_BREAKS_PROTOCOL,
    "tool",
    "warning",
    "P",
    says="A tool server breaks the rules of MCP: it answers twice, defines a tool twice or without a schema, its list of "
    "tools never ends, it hides that a session is gone, names a resource that it does not have, or a version that does not "
    "exist, gives two calls each other's result, answers or notifies in another form than MCP's, does not know what it "
    "has declared, or asks the client in a wrong form, too early, or for what the client has not declared.",
    fix="Use an official SDK for the server, or correct the message that the evidence names.",
    not_when=(
        "It reports progress that nobody asked for, that does not grow, is more than its total, or comes after its "
        "answer: then it is an info",
        "It does not know `ping`: then it is an info",
        "A message has a wrong form, and the client took it, as a list whose tools are offered: then it is an info",
        "A notification or a schema has a wrong form: then it is an info",
        "It refuses a notification, or to let a client listen: then it is an info",
        "It gives a request the id of an earlier one that has its answer, answers what was cancelled with an error, or "
        "asks for roots that the client has not declared: then it is an info",
    ),
)
def protocol_broken(context: ToolContext) -> Iterator[Note]:
    yield from _inherited(context, TOOL_BREAKS_PROTOCOL, "the server itself answered so")
    note = context.note
    if note is None:
        return
    broken = {
        "answered_twice": f"sent an answer with the id {note.what} that no open request has",
        "listed_twice": f"lists the tool {note.what!r} twice, with another {note.detail.replace(', ', ' and another ')}",
        "list_loops": f"names the page {note.what!r} of {note.detail} again as the next one, so its list never ends",
        "page_repeats": f"has {note.what!r} on several pages of {note.detail}",
        "no_schema": f"defines the tool {note.what!r} without an `inputSchema`, which MCP requires",
        "session_id_wrong": f"gave its session the id {note.what[:40]!r}, and only visible ASCII is allowed there",
        "session_refused": "says with status 400 that it has no such session; clients begin a new one only on status 404",
        "progress_unknown": f"reports progress under the token {note.what}, which no request has",
        "progress_late": f"reports progress under the token {note.what} after it had answered the request",
        "progress_back": f"reports progress under the token {note.what} that does not grow, and it must",
        "progress_over": f"reports more progress under the token {note.what} than the total that it states",
        "notice_refused": f"refused {note.what} with {note.detail}, and it must accept what needs no answer",
        "stream_refused": f"answered the client that listens for its messages with {note.detail}, where MCP wants an event "
        "stream or status 405",
        "link_broken": f"does not have the resource {note.what!r} that its tool names: {note.detail[:80]!r}",
        "version_unknown": f"wants to speak version {note.what[:40]}, which MCP does not have",
        "ask_wrong": f"sent a request {note.what} that {note.detail}",
        "ask_undeclared": f"sent a request {note.what} to a client that has not declared that it can answer",
        "ask_early": f"sent a request {note.what} before it had answered the client's `initialize`",
        "not_known": f"does not know {note.what}, "
        + ("which every side must answer" if note.what == "ping" else "and has declared that it does"),
        "answer_wrong": f"gave an answer to {note.what} that {note.detail}, and none of its tools is offered",
        "answer_odd": f"gave an answer to {note.what} that {note.detail}",
        "schema_wrong": f"states for the tool {note.what!r} {note.detail}",
        "ask_odd": f"sent a request {note.what} that {note.detail}, and the client answered it",
        "notice_wrong": f"sent {note.what} that {note.detail}",
        "ask_id_open": f"sent a request {note.what} with the id {note.detail} of another one that was still open",
        "ask_id_used": f"sent a request {note.what} with the id {note.detail} of an earlier one, which MCP forbids",
        "session_id_changed": "gave the session another id while it lasted, and MCP has one for each session",
        "notice_answered": f"answered {note.what} with {note.detail[:60]!r}, and MCP wants status 202 without a body",
        "cancelled_answered": f"answered {note.what} after the client had cancelled it: {note.detail[:60]!r}",
        "cursor_wrong": f"names {note.what} as the next page of its list of tools, which must be a text",
    }
    if (what := broken.get(note.kind)) is not None:
        progress = note.kind.startswith("progress_")
        mild = (
            progress
            or note.kind
            in (
                "answer_odd",
                "ask_odd",
                "notice_wrong",
                "schema_wrong",
                "notice_refused",
                "stream_refused",
                "session_id_wrong",
                "ask_id_used",
                "cancelled_answered",
            )
            or (note.kind == "ask_undeclared" and note.what == "roots/list")
            or (note.kind == "not_known" and note.what == "ping")
        )
        asks = note.kind in (
            "answered_twice",
            "ask_wrong",
            "ask_odd",
            "ask_undeclared",
            "ask_early",
            "notice_wrong",
            "ask_id_open",
            "ask_id_used",
        )
        apart = note.before is not None  # over HTTP the server asks in a response
        at = "request" if progress or (asks and not apart) else "response"
        plain = progress or asks or note.kind in _WHOLE
        named = (
            () if note.kind != "link_broken" or note.before is None else (f"#{note.before} response /result/content",)
        )
        part = "" if plain else " /result"
        yield Note(f"server {note.server!r} {what}", (f"#{note.index} {at}{part}", *named), "info" if mild else None)


_WHOLE = (
    "session_id_changed",
    "notice_answered",
    "cancelled_answered",
    "session_refused",
    "session_id_wrong",
    "link_broken",
    "not_known",
    "notice_refused",
    "stream_refused",
)
"""Kinds whose evidence is not inside a result."""


@tool_rule(
    "tool-error-unmarked",
    "tool",
    "info",
    "S",
    says="A tool returned an error as if it were a result: without `isError`, clients and models take it for a success.",
    fix="Set `isError` in the results of failed calls.",
    not_when=("The tool reads files, logs or pages, and the text is longer than an error: it may be what it read",),
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
                f"{of(run)} returned an error that is not marked as one: {' '.join(text.split())[:80]!r}",
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


def _inherited(context: ToolContext, name: str, how: str) -> Iterator[Note]:
    for one in context.inherited:
        if OF_ORIGIN.get(one.id) == name:
            yield Note(f"{how}: {one.message}", one.evidence, one.severity)


@tool_rule(
    DEFINITION_REJECTED,
    "tool",
    "error",
    "P",
    says="The API rejects the definition of a tool, and the client offers it as the tool's server states it.",
    fix="Correct the definition in the server, or leave this tool out; one such tool makes every request fail.",
    not_when=("The client offers another schema than the server states: then it is the client's",),
)
def definition_rejected(context: ToolContext) -> Iterator[Note]:
    yield from _inherited(context, DEFINITION_REJECTED, "the server itself states the definition")


@tool_rule(
    RESULT_UNREADABLE,
    "tool",
    "warning",
    "P",
    says="A tool returned an image in a form that no model can see: as a text of base64, under the name of another format, or in a "
    "format that the API does not take; or a placeholder of its programming language in place of the value.",
    fix="Return images as image blocks of PNG, JPEG, GIF or WebP, with the media type that their bytes have, and values as JSON "
    "or text.",
    not_when=("The tool returned it in another form, and the client changed it",),
)
def result_unreadable(context: ToolContext) -> Iterator[Note]:
    yield from _inherited(context, RESULT_UNREADABLE, "the tool itself returned it so")


RULES = (
    definition_rejected,
    result_unreadable,
    server_died,
    server_silent,
    server_error,
    invalid_result,
    protocol_broken,
    error_unmarked,
    reported_error,
    definition_changed,
    garbage,
)
