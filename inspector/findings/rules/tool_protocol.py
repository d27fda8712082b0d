"""How tool servers break the rules of MCP, and what they send that an API then refuses."""

from collections.abc import Iterator

from turntape.cassettes.excerpts import cut

from ...tools.session_state import NoteKind, WireNote
from ..causes import DEFINITION_REJECTED, OF_ORIGIN, RESULT_UNREADABLE, TOOL_BREAKS_PROTOCOL
from ..rule import Note, tool_rule
from ..tool_breach import Breach, Evidence, in_answer, in_message, in_request, in_result
from ..tool_context import ToolContext


def _of_link(note: WireNote) -> Evidence:
    """In the answer about a resource, and in the result that named it."""
    return (*in_answer(note), *(() if note.before is None else (f"#{note.before} response /result/content",)))


def _of_end(note: WireNote) -> Evidence:
    """In the answer, and in the one that ended the session."""
    return (*in_answer(note), *(() if note.before is None else (f"#{note.before} response",)))


_SPARED = frozenset({"ping", "resources/templates/list"})
"""What servers leave out without harm: many that have resources have no templates, and no capability says so."""
_BREACHES: dict[NoteKind, Breach] = {
    "answered_twice": Breach(lambda n: f"sent an answer with the id {n.what} that no open request has", in_message),
    "listed_twice": Breach(
        lambda n: f"lists the tool {n.what!r} twice, with another {n.detail.replace(', ', ' and another ')}", in_result
    ),
    "list_loops": Breach(
        lambda n: f"names the page {n.what!r} of {n.detail} again as the next one, so its list never ends", in_result
    ),
    "page_repeats": Breach(lambda n: f"has {n.what!r} on several pages of {n.detail}", in_result),
    "no_schema": Breach(
        lambda n: f"defines the tool {n.what!r} without an `inputSchema`, which MCP requires", in_result
    ),
    "session_id_wrong": Breach(
        lambda n: f"gave its session the id {cut(n.what, 40)!r}, and only visible ASCII is allowed there",
        in_answer,
        mild=True,
    ),
    "session_kept": Breach(lambda n: f"answered {n.what} in the session that it had ended with status 404", _of_end),
    "session_refused": Breach(
        lambda _: "says with status 400 that it has no such session; clients begin a new one only on status 404",
        in_answer,
    ),
    "progress_unknown": Breach(
        lambda n: f"reports progress under the token {n.what}, which no request has", in_request, mild=True
    ),
    "progress_late": Breach(
        lambda n: f"reports progress under the token {n.what} after it had answered the request", in_request, mild=True
    ),
    "progress_back": Breach(
        lambda n: f"reports progress under the token {n.what} that does not grow, and it must", in_request, mild=True
    ),
    "progress_over": Breach(
        lambda n: f"reports more progress under the token {n.what} than the total that it states", in_request, mild=True
    ),
    "notice_refused": Breach(
        lambda n: f"refused {n.what} with {n.detail}, and it must accept what needs no answer", in_answer, mild=True
    ),
    "stream_refused": Breach(
        lambda n: (
            f"answered the client that listens for its messages with {n.detail}, where MCP wants an event "
            "stream or status 405"
        ),
        in_answer,
        mild=True,
    ),
    "link_broken": Breach(
        lambda n: f"does not have the resource {n.what!r} that its tool names: {cut(n.detail, 80)!r}", _of_link
    ),
    "version_unknown": Breach(
        lambda n: f"wants to speak version {cut(n.what, 40)}, which MCP does not have", in_result
    ),
    "ask_wrong": Breach(lambda n: f"sent a request {n.what} that {n.detail}", in_message),
    "ask_undeclared": Breach(
        lambda n: f"sent a request {n.what} to a client that has not declared that it can answer",
        in_message,
        spared=frozenset({"roots/list"}),
    ),
    "ask_unknown": Breach(
        lambda n: f"sent a request {n.what}, which MCP does not have: {cut(n.detail, 80)!r}", in_message, mild=True
    ),
    "ask_early": Breach(
        lambda n: f"sent a request {n.what} before it had answered the client's `initialize`", in_message
    ),
    "not_known": Breach(
        lambda n: (
            f"does not know {n.what}, "
            + ("which every side must answer" if n.what == "ping" else "and has declared that it does")
        ),
        in_answer,
        spared=_SPARED,
    ),
    "answer_wrong": Breach(
        lambda n: f"gave an answer to {n.what} that {n.detail}, and none of its tools is offered", in_result
    ),
    "answer_odd": Breach(lambda n: f"gave an answer to {n.what} that {n.detail}", in_result, mild=True),
    "schema_wrong": Breach(lambda n: f"states for the tool {n.what!r} {n.detail}", in_result, mild=True),
    "ask_odd": Breach(
        lambda n: f"sent a request {n.what} that {n.detail}, and the client answered it", in_message, mild=True
    ),
    "notice_wrong": Breach(lambda n: f"sent {n.what} that {n.detail}", in_message, mild=True),
    "ask_id_open": Breach(
        lambda n: f"sent a request {n.what} with the id {n.detail} of another one that was still open", in_message
    ),
    "ask_id_used": Breach(
        lambda n: f"sent a request {n.what} with the id {n.detail} of an earlier one, which MCP forbids",
        in_message,
        mild=True,
    ),
    "session_id_changed": Breach(
        lambda _: "gave the session another id while it lasted, and MCP has one for each session", in_answer
    ),
    "notice_answered": Breach(
        lambda n: f"answered {n.what} with {cut(n.detail, 60)!r}, and MCP wants status 202 without a body", in_answer
    ),
    "cancelled_answered": Breach(
        lambda n: f"answered {n.what} after the client had cancelled it: {cut(n.detail, 60)!r}", in_answer, mild=True
    ),
    "endpoint_elsewhere": Breach(
        lambda n: (
            f"names {cut(n.what, 80)} as the address for all messages, at another origin than its stream, and the "
            "client sent nothing there: the official SDKs refuse that"
        ),
        in_answer,
    ),
    "endpoint_followed": Breach(
        lambda n: (
            f"names {cut(n.what, 80)} as the address for all messages, at another origin than its stream: the official "
            "SDKs refuse that"
        ),
        in_answer,
        mild=True,
    ),
    "cursor_wrong": Breach(
        lambda n: f"names {n.what} as the next page of its list of tools, which must be a text", in_result
    ),
}


@tool_rule(
    TOOL_BREAKS_PROTOCOL,
    "tool",
    "warning",
    "P",
    says="A tool server breaks the rules of MCP: it answers twice, defines a tool twice or without a schema, its list of "
    "tools never ends, it hides that a session is gone or answers in one that it has ended, names a resource that it does "
    "not have, or a version that does not exist, names an address for messages at another origin, gives two calls each other's result, answers or notifies in another form than MCP's, does not know what it "
    "has declared, or asks the client in a wrong form, too early, or for what the client has not declared.",
    fix="Use an official SDK for the server, or correct the message that the evidence names.",
    not_when=(
        "It reports progress that nobody asked for, that does not grow, is more than its total, or comes after its "
        "answer: then it is an info",
        "It does not know `ping`, or has resources and no templates of them: then it is an info",
        "It sends a request that MCP does not have: then it is an info",
        "A message has a wrong form, and the client took it, as a list whose tools are offered: then it is an info",
        "A notification or a schema has a wrong form: then it is an info",
        "The client follows it to another origin: then it is an info",
        "It refuses a notification, or to let a client listen: then it is an info",
        "It gives a request the id of an earlier one that has its answer, answers what was cancelled with an error, or "
        "asks for roots that the client has not declared: then it is an info",
    ),
)
def protocol_broken(context: ToolContext) -> Iterator[Note]:
    yield from _inherited(context, TOOL_BREAKS_PROTOCOL, "the server itself answered so")
    note = context.note
    breach = _BREACHES.get(note.kind) if note is not None else None
    if note is not None and breach is not None:
        severity = "info" if breach.is_mild(note) else None
        yield Note(f"server {note.server!r} {breach.words(note)}", breach.evidence(note), severity)


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
            f"server {note.server!r} wrote a line to stdout that is not a message: {cut(note.what, 80)!r}",
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
    "format that the API does not take; or a placeholder of its programming language in place of the value, or a text that is "
    "damaged or there twice.",
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
