"""What clients do wrong with tool servers: the session, the tools that they offer, and what servers ask of them."""

from collections import defaultdict
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut

from ...tools.definitions import Definition, compare
from ...tools.session_state import OPEN, NoteKind, WireNote
from ...tools.tool_run import ToolRun
from ...wire.printable import several
from ..blame import DEFINITION_DIFFERS, UNKNOWN_TOOL, blamed
from ..rule import Note, tool_rule
from ..schema_check import described, violations
from ..tool_breach import Breach, after_answer, after_request
from ..tool_context import ToolContext
from .tool_results import of
from .tool_servers import is_elsewhere


@tool_rule(
    "client-tool-not-on-server",
    "client",
    "warning",
    "P",
    says="The client called a tool on a server that has none of this name.",
    fix="Keep for each offered tool which server it is from and what that server calls it, without your own prefix.",
    not_when=("The server ran it, although it does not list it: then it is an info",),
)
def not_on_server(context: ToolContext) -> Iterator[Note]:
    asked = [*(run for _, run in context.runs), *([context.loose] if context.loose is not None else [])]
    for run in asked:
        if run.outcome == "failed" and is_elsewhere(context, run):
            answer = () if run.turn is None else (f"#{run.turn} response",)
            yield Note(
                f"the client called {run.name!r} on server {run.server!r}, which does not list it",
                (f"#{run.exchanges[-1]} request /params/name", *answer),
                because_of=_made_up(context, run),
            )
        elif run.source == "wire" and run.outcome == "answered" and _is_hidden(context, run):
            yield Note(
                f"the client called {run.name!r} on server {run.server!r}, which does not list it and ran it all the same",
                (f"#{run.exchanges[-1]} request /params/name",),
                severity="info",
            )


def _is_hidden(context: ToolContext, run: ToolRun) -> bool:
    return context.join is not None and context.over == "closed" and context.join.catalogue.hides(run.server, run.name)


def _made_up(context: ToolContext, run: ToolRun) -> tuple[str, ...]:
    """The finding about a call of a tool that the model was not offered."""
    blames = (blamed(context, call, one) for call, one in context.runs if one is run)
    return tuple(one.cause for one in blames if one is not None and one.cause == UNKNOWN_TOOL)


@tool_rule(
    "client-tool-input-unanswered",
    "client",
    "warning",
    "P",
    says="A tool server asked for input, and the client did not answer.",
    fix="Use a client that supports elicitation or sampling, or a tool that works without.",
    not_when=(
        "The client refuses it with an error: then it is an info, if it had not declared that it can answer",
        "It is a ping or asks for the roots, and the server did not end for it: then it is an info",
        "The request has a wrong form, or the client had not declared that it can answer: then `tool-protocol-broken` "
        "says so",
    ),
)
def input_unanswered(context: ToolContext) -> Iterator[Note]:
    note = context.note
    if note is not None and note.kind in ("no_answer_of_client", "refused_by_client", "cannot_answer"):
        refused = note.kind != "no_answer_of_client"
        how = f"was refused by the client: {cut(note.detail, 120)!r}" if refused else "has no answer from the client"
        how += ", which had declared that it can answer" if note.kind == "cannot_answer" else ""
        left = not refused and note.detail == "ended"
        how += ", and the server ended" if left else ""
        plain = note.what in ("ping", "roots/list") and not left
        yield Note(
            f"the request {note.what} of server {note.server!r} {how}",
            (f"#{note.index} {'response' if refused or note.detail == OPEN else 'request'}", *_reply(note)),
            severity="info" if note.kind == "refused_by_client" or plain else None,
        )
    for call, run in context.runs:
        if run.outcome == "input_required" and run.flaw is None and context.over != "open":
            yield Note(
                f"{of(run)} asked for input, and the client did not call it again with an answer",
                (f"#{run.exchanges[-1]} response /result/inputRequests", f"#{call.turn.index} response"),
            )


_BREACHES: dict[NoteKind, Breach] = {
    "page_not_read": Breach(
        lambda n: f"calls a tool of server {n.server!r} without having read the rest of its list of tools", after_answer
    ),
    "not_ready": Breach(
        lambda n: f"sent {n.what} to server {n.server!r} before the handshake had ended: {cut(n.detail, 80)!r}",
        after_answer,
    ),
    "session_gone": Breach(
        lambda n: f"sent {n.what} to server {n.server!r} in a session that the server no longer has", after_answer
    ),
    "session_kept": Breach(
        lambda n: (
            f"sent {n.what} to server {n.server!r} in a session that the server had ended with status 404, "
            "and the server took it"
        ),
        after_answer,
        mild=True,
    ),
    "session_not_named": Breach(
        lambda n: f"sent {n.what} to server {n.server!r} without the id of its session", after_answer
    ),
    "id_reused": Breach(
        lambda n: f"gave a request to server {n.server!r} the id {n.what} of another one that was still open",
        after_request,
    ),
    "id_too_large": Breach(
        lambda n: f"gave a request to server {n.server!r} the id {n.what}, which many JSON parsers round", after_answer
    ),
    "not_declared": Breach(
        lambda n: f"asked server {n.server!r} for {n.what}, which it has not declared", after_answer, mild=True
    ),
    "start_cancelled": Breach(
        lambda n: f"cancelled its own `initialize` at server {n.server!r}, which MCP forbids", after_request, mild=True
    ),
    "request_wrong": Breach(lambda n: f"sent server {n.server!r} a request {n.what} that {n.detail}", after_answer),
    "request_odd": Breach(
        lambda n: f"sent server {n.server!r} a request {n.what} that {n.detail}, and the server took it",
        after_answer,
        mild=True,
    ),
    "stream_twice": Breach(
        lambda n: f"opened a second stream for the messages of server {n.server!r}, which allows one",
        after_answer,
        mild=True,
    ),
    "outdated": Breach(
        lambda n: (
            f"sent server {n.server!r} a {n.what} request, and version {n.detail} has neither a stream for "
            "the server's messages nor sessions"
        ),
        after_answer,
        mild=True,
    ),
    "session_not_renewed": Breach(
        lambda n: f"did not begin another session with server {n.server!r}, which had ended this one with status 404",
        after_answer,
        mild=True,
    ),
    "never_confirmed": Breach(
        lambda n: (
            f"never sent server {n.server!r} `notifications/initialized`, which ends the handshake, "
            "and the server answered its requests all the same"
        ),
        after_answer,
        mild=True,
    ),
    "own_garbage": Breach(
        lambda n: f"sent server {n.server!r} {n.what}, which is not a message of MCP", after_answer, mild=True
    ),
    "own_garbage_refused": Breach(
        lambda n: (
            f"sent server {n.server!r} {n.what}, which is not a message of MCP, and the server refused it: "
            f"{cut(n.detail, 80)!r}"
        ),
        after_answer,
    ),
    "own_notice_wrong": Breach(lambda n: f"sent server {n.server!r} {n.what} that {n.detail}", after_answer, mild=True),
}


@tool_rule(
    "client-tool-protocol-broken",
    "client",
    "warning",
    "P",
    says="The client breaks the rules of MCP: it leaves pages of the list of tools unread, uses a session that is gone or does not "
    "name it, asks before the server is ready, gives requests no id or ids by which their answers cannot be matched, or sends "
    "requests, replies and notifications in another form than MCP or the server wants, or what is not a message.",
    fix="Read all pages of `tools/list` and offer their tools; after status 404, begin a new session with `initialize`; wait for the "
    "end of the handshake; check replies against `requestedSchema`.",
    not_when=(
        "The tools changed and the client offers the old ones: then it is an info",
        "Tools of later pages are not offered, and the first page has only one: then it is an info",
        "A request has a wrong form, and the server took it: then it is an info",
        "A notification has a wrong form: then it is an info",
        "It sends something else than a message, and the server does not refuse it: then it is an info",
        "It asks for what the server has not declared, or cancels its own `initialize`: then it is an info",
        "It never sends `notifications/initialized`, and the server answers all the same: then it is an info",
        "It begins no session in place of one that is gone: then it is an info",
        "It uses a session that the server has ended, and the server answers in it: then it is an info",
    ),
)
def client_breaks_protocol(context: ToolContext) -> Iterator[Note]:
    note = context.note
    for server, index, count, first in _pages_left_out(context):
        if context.turn is not None:
            yield Note(
                f"the client offers every tool of the first page of server {server!r}, and none of the "
                f"{several(count, 'tool')} of its later pages",
                (f"#{index} response /result/tools", f"#{context.turn.round_trip.index} request"),
                severity="info" if first == 1 else None,
            )
    for server, index in context.outdated:
        if context.turn is not None:
            yield Note(
                f"server {server!r} announced that its tools change, and the client offers those that it knew before",
                (f"#{index} request", f"#{context.turn.round_trip.index} request"),
                severity="info",
            )
    if note is None:
        return
    wrong = note.detail if note.kind == "reply_wrong" else ""
    if note.kind == "replied" and (found := violations(note.wanted, note.given)):
        wrong = f"breaks the schema that the server gave for it {described(found)}"
    if wrong:
        yield Note(
            f"the client's reply to {note.what} of server {note.server!r} {wrong}",
            (f"#{note.index} response", *_reply(note)),
        )
    if (breach := _BREACHES.get(note.kind)) is not None:
        severity = "info" if breach.is_mild(note) else None
        yield Note(f"the client {breach.words(note)}", breach.evidence(note), severity)


def _reply(note: WireNote) -> tuple[str, ...]:
    """Where the client's reply is, when it is not in the round trip of what the server asked."""
    return () if note.before is None else (f"#{note.before} request",)


def _pages_left_out(context: ToolContext) -> Iterator[tuple[str, int, int, int]]:
    """Servers of which a turn offers for the first time the whole first page of their list, and nothing of the others.

    With each, the first of those pages, how many tools they have, and how many the first page has.
    """
    offered: defaultdict[str, set[str]] = defaultdict(set)
    for _, known in context.offers:
        offered[known.server].add(known.name)
    listed = context.join.tools if context.join is not None else dict[str, dict[str, Definition]]()
    for server, names in offered.items():
        tools = listed[server].values()
        first = min((tool.index for tool in tools), default=0)  # a server may list no tool any more
        later = [tool for tool in tools if tool.index != first]
        whole = {tool.name for tool in tools if tool.index == first}
        if later and names == whole:
            yield server, min(tool.index for tool in later), len(later), len(whole)


@tool_rule(
    "client-tool-definition-differs",
    "client",
    "warning",
    "P",
    says="The model is offered another definition of a tool than its server states, or not all of the tools that a server "
    "lists. It is a warning where the server refuses a call for it.",
    fix="Look for what rewrites definitions: an old copy, a schema converter, a limit for descriptions; for tools that are not "
    "offered, look for a list of allowed tools, an old list, or a limit for their number.",
    not_when=(
        "The description was cut, or got words of the client: then it is an info",
        "Only keywords of the schema, optional arguments or related types differ: then it is an info",
        "Arguments were only added: then it is an info",
        "A prompt describes the tools of a server, or the client calls them without offering them",
        "Tools are not offered, which may be meant, as for a plan or by a list of allowed tools: then it is an info",
    ),
)
def definition_differs(context: ToolContext) -> Iterator[Note]:
    yield from _refused_for_it(context)
    note = context.note
    if note is not None and note.kind == "not_offered":
        rest = ", and requests offer other tools" if note.detail else ", and offers the model no tools at all"
        yield Note(
            f"the client offers none of the tools that server {note.server!r} lists ({cut(note.what, 80)}){rest}",
            (f"#{note.index} response /result/tools",),
            severity="info",
        )
    if note is not None and note.kind == "partly_offered":
        yield Note(
            f"the client never offers {note.detail} that server {note.server!r} lists: {cut(note.what, 80)}",
            (f"#{note.index} response /result/tools",),
            severity="info",
        )
    if note is not None and note.kind == "shadowed":
        yield Note(
            f"servers {note.detail!r} and {note.server!r} both list a tool {note.what!r}, and requests offer only one",
            (f"#{note.before} response /result/tools", f"#{note.index} response /result/tools"),
            severity="info",
        )
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


def _refused_for_it(context: ToolContext) -> Iterator[Note]:
    """Calls that follow the schema which the model was offered and break the server's, and that the server refused."""
    offered = {tool.name: tool for tool in context.turn.reading.request.tools} if context.turn is not None else {}
    for call, run in context.runs:
        blame, tool, known = blamed(context, call, run), offered.get(call.call.name), context.definition(run)
        if blame is not None and blame.cause == DEFINITION_DIFFERS and tool is not None and known is not None:
            yield Note(
                f"{tool.name!r} was offered without what its server wants, and the server refused the call: its "
                f"arguments break the server's schema {described(blame.broken)}",
                (f"#{call.turn.index} request {tool.pointer}", f"#{known.index} response /result/tools",
                 f"#{run.exchanges[-1]} response"),
            )  # fmt: skip


RULES = (
    not_on_server,
    client_breaks_protocol,
    input_unanswered,
    definition_differs,
)
