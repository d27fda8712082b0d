"""How tool servers break the rules of MCP, and what they send that an API then refuses."""

from collections.abc import Iterator

from ..causes import DEFINITION_REJECTED, OF_ORIGIN, RESULT_UNREADABLE, TOOL_BREAKS_PROTOCOL
from ..rule import Note, tool_rule
from ..tool_context import ToolContext


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
        "It does not know `ping`, or has resources and no templates of them: then it is an info",
        "It sends a request that MCP does not have: then it is an info",
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
        "ask_unknown": f"sent a request {note.what}, which MCP does not have: {note.detail[:80]!r}",
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
                "ask_unknown",
                "notice_wrong",
                "schema_wrong",
                "notice_refused",
                "stream_refused",
                "session_id_wrong",
                "ask_id_used",
                "cancelled_answered",
            )
            or (note.kind == "ask_undeclared" and note.what == "roots/list")
            or (note.kind == "not_known" and note.what in _SPARED)
        )
        asks = note.kind in (
            "answered_twice",
            "ask_wrong",
            "ask_odd",
            "ask_undeclared",
            "ask_unknown",
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


_SPARED = frozenset({"ping", "resources/templates/list"})
"""What servers leave out without harm: many that have resources have no templates, and no capability says so."""
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
    protocol_broken,
    garbage,
)
