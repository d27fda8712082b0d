"""What the answers of a tool server show that are not results of calls: to the handshake, to lists, to a ping."""

from collections.abc import Iterator

from turntape.cassettes.excerpts import cut

from ..wire.json_value import Object, as_object, as_text, compact, is_object, objects_in
from ..wire.protocols.mcp.shape import META
from .definitions import Definition
from .form import ANY_JSON, bare_error, is_modern, wrong_envelope
from .http_form import OF_SESSION
from .listings import ENTRIES, Listing
from .message_forms import METHODS, declares, is_unheard, odd_answer, wrong_answer, wrong_schema
from .param_headers import wrong_headers
from .returned import error_message
from .session_state import Session, WireNote, is_new
from .tool_messages import ToolMessage

STARTS = ("initialize", "tools/list")
"""Requests without whose answers a client has no tools to offer."""
_OLD_CODE = -32002
"""With which a server said until 2025-11-25 that it does not have a resource."""
_ASKED_BACK = frozenset({"tools/call", "prompts/get", "resources/read"})
"""To what a server may answer that it needs input."""
_NO_RESOURCE = frozenset({_OLD_CODE, -32602})
"""The codes with which a server says that it does not have a resource."""
NO_METHOD = -32601
"""The code with which a side says that it does not know a method."""


def judged(session: Session, asked: ToolMessage, answer: ToolMessage) -> Iterator[WireNote]:
    """How an answer breaks MCP's form. One that clients must refuse as a whole is remembered: whether they did shows
    only when the recording ends."""
    method = asked.method or ""
    if method == "tools/call":
        return
    if answer.error is not None:
        bare = bare_error(answer.error)
        if bare is None and is_modern(session.version) and answer.error.get("code") == _OLD_CODE:
            bare = f"has the code {_OLD_CODE}, which version {session.version} does not have"
        if bare is not None and is_new(session, f"answer_odd {method}"):
            yield WireNote("answer_odd", session.server, asked.index, method, bare)
        return
    if method == "logging/setLevel":
        session.levels.agreed(as_text(asked.params.get("level")) or "", asked.at, answer.at)
    wrong = _wrong(session, asked, answer)
    if wrong is not None and method in STARTS:
        session.unusable = session.unusable or WireNote("answer_wrong", session.server, asked.index, method, wrong)
        return
    if wrong is None and not _comes_later(answer):
        wrong = odd_answer(method, answer.result or {}, modern=is_modern(session.version))
        if wrong is None and method == "tools/list" and session.offers and "tools" not in session.offers:
            wrong = "it has not declared"
    if wrong is not None and is_new(session, f"answer_odd {method}"):
        yield WireNote("answer_odd", session.server, asked.index, method, wrong)


def _wrong(session: Session, asked: ToolMessage, answer: ToolMessage) -> str | None:
    data, result, version = answer.data, answer.result, session.version
    if (wrong := wrong_envelope(answer, version)) is not None:
        return wrong
    if result is None:
        key = "error" if "error" in data else "result"
        return f"has {cut(compact(data[key]), 40)} as its `{key}`, which must be an object"
    if "error" in data and not is_object(data["error"]):
        return f"has a result and the error {cut(compact(data['error']), 40)}, and an answer has only one of both"
    if result.get("resultType") == "input_required" and is_modern(version) and asked.method not in _ASKED_BACK:
        return f"asks for input, and only answers to {', '.join(sorted(_ASKED_BACK))} may"
    if _comes_later(answer):
        return None
    return wrong_answer(asked.method or "", result, any_json=version is None or version >= ANY_JSON)


def _comes_later(answer: ToolMessage) -> bool:
    return (answer.result or {}).get("resultType", "complete") != "complete"


def paged(session: Session, asked: ToolMessage, answer: ToolMessage) -> Iterator[WireNote]:
    """What is wrong with a page of a list, beside the pages before it. Several clients read their own pages."""
    method = asked.method or ""
    if method not in ENTRIES or answer.result is None or session.starts > 1:
        return
    listing = session.listings.setdefault(method, Listing())
    for kind, what in listing.page(method, as_text(asked.params.get("cursor")), answer.result):
        if is_new(session, f"{kind} {method}"):
            yield WireNote(kind, session.server, answer.index, what, method)


def refused(session: Session, asked: ToolMessage, answer: ToolMessage) -> Iterator[WireNote]:
    """What it means that a server does not know a method: it had declared it, or the client should not have asked."""
    method, error = asked.method or "", answer.error or {}
    declared = True if method == "ping" else declares(method, asked.params, session.offers)
    declared = False if is_unheard(method) else declared
    if declared and method not in METHODS:
        declared = False  # a method that MCP does not have, or a later version
    if declared is not None and is_new(session, f"unknown {method}"):
        kind = "not_known" if declared else "not_declared"
        yield WireNote(kind, session.server, asked.index, method, error_message(error) or "")


def undeclared(session: Session, asked: ToolMessage, answer: ToolMessage) -> Iterator[WireNote]:
    """A question in the answer to a call that the client has not declared that it can answer, or with a wrong state."""
    result = answer.result or {}
    said = as_object(asked.params.get("_meta")).get(f"{META}clientCapabilities")
    if result.get("resultType") != "input_required":
        return
    state = result.get("requestState")
    if state is not None and not isinstance(state, str) and is_new(session, "state wrong"):
        wrong = f"has {cut(compact(state), 40)} as its `requestState`, which must be a text"
        yield WireNote("answer_odd", session.server, asked.index, "tools/call", wrong)
    if not is_object(said):
        return
    for question in objects_in(list(as_object(result.get("inputRequests")).values())):
        method = as_text(question.get("method")) or ""
        if declares(method, as_object(question.get("params")), said) is False and is_new(session, f"asks {method}"):
            wrong = f"asks for {method}, which the client has not declared"
            yield WireNote("answer_odd", session.server, asked.index, "tools/call", wrong)


_FINAL = frozenset({"completed", "failed", "cancelled"})
"""A task in one of these states stays there."""
MOST_TASKS = 2_000
"""So many of the tasks that were asked about last are known."""


def of_status(session: Session, asked: ToolMessage, answer: ToolMessage) -> Iterator[WireNote]:
    """What a server says of a task, beside what was asked and what it has said before."""
    if asked.method == "tasks/result" or answer.result is None:
        return
    task, named = as_text(asked.params.get("taskId")) or "", as_text(answer.result.get("taskId"))
    now, before = as_text(answer.result.get("status")), session.tasks.get(task)
    if now is not None:
        session.tasks.pop(task, None)
        session.tasks[task] = now
        if len(session.tasks) > MOST_TASKS:
            del session.tasks[next(iter(session.tasks))]
    if named is not None and named != task:
        wrong = f"is about the task {named!r}, and the request about {task!r}"
    elif before in _FINAL and now is not None and now != before:
        wrong = f"says {now!r} of the task {task!r}, which had ended as {before!r}"
    else:
        return
    if is_new(session, f"answer_odd {asked.method}"):
        yield WireNote("answer_odd", session.server, asked.index, asked.method or "", wrong)


def list_failed(session: Session, answer: ToolMessage, error: Object) -> Iterator[WireNote]:
    """The server has refused to list its tools."""
    said = error_message(error) or ""
    known = error.get("code") != NO_METHOD and not OF_SESSION.search(said)
    if known and is_new(session, "list_failed"):
        yield WireNote("list_failed", session.server, answer.index, "tools/list", said)


def not_there(session: Session, asked: ToolMessage, answer: ToolMessage, said: str) -> Iterator[WireNote]:
    """A resource that a result named, or that the server lists, cannot be read."""
    uri = as_text(asked.params.get("uri")) or ""
    listing = session.listings.get("resources/list")
    unknown = (answer.error or {}).get("code") in _NO_RESOURCE and listing is not None and uri in listing.entries
    if unknown and session.starts < 2 and is_new(session, "answer_odd resources/read"):
        wrong = f"says that it does not have {cut(uri, 80)!r}, which it lists: {cut(said, 60)!r}"
        yield WireNote("answer_odd", session.server, asked.index, "resources/read", wrong)
    if uri in session.links and is_new(session, "link_broken"):
        yield WireNote("link_broken", session.server, asked.index, uri, said, session.links[uri])


def of_schemas(session: Session, tool: Definition) -> Iterator[WireNote]:
    """What a server states as a schema and that is none."""
    for key, schema in (("inputSchema", tool.schema), ("outputSchema", tool.output_schema)):
        if "schema_wrong" not in session.noted and (wrong := wrong_schema(schema)) is not None:
            session.noted.add("schema_wrong")
            yield WireNote("schema_wrong", session.server, tool.index, tool.name, f"an `{key}` that {wrong}")


def of_headers(session: Session, tool: Definition) -> Iterator[WireNote]:
    """Parameters that a tool wants in headers, as no client can send them: clients must leave such a tool out."""
    if is_modern(session.version) and "schema_wrong" not in session.noted:
        wrong = wrong_headers(tool.schema)
        if wrong is not None and is_new(session, "schema_wrong"):
            yield WireNote("schema_wrong", session.server, tool.index, tool.name, f"an `inputSchema` that {wrong}")
