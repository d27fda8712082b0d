"""How a request is wrong: by MCP's form, by what came before it in its session, by what its server had said.

Some of that is known only later, from the answer: the version, and what the server has.
"""

from collections.abc import Iterator

from turntape.cassettes.frozen import copied_with

from ..wire.json_value import as_text, compact
from .definitions import Definition
from .expectations import unoffered
from .form import is_modern
from .handshake import flaw_of_handshake, unlisted_version
from .request_form import flaw_of_request
from .session_state import Session, WireNote, is_new, key_of_id, version_of
from .tool_messages import ToolMessage
from .tool_run import Departure, ToolRun


def wrong_in(session: Session, asked: ToolMessage, tool: Definition | None) -> str | None:
    """How a request breaks MCP's form, or what the server demands of calls of this `tool`; None when it does not."""
    state = asked.params.get("requestState")
    given = state is not None and not isinstance(state, str) and compact(state) in session.states
    wrong = None if given else flaw_of_request(asked, version_of(session, asked, None))
    wrong = wrong or unlisted_version(session, asked)
    return wrong or _used_again(session, asked) or _lacking(session, asked) or _as_task(session, asked, tool)


def seen_late(session: Session, asked: ToolMessage, answer: ToolMessage) -> str | None:
    """How a request is wrong that was recorded before the answers that came before it."""
    if answer.index == asked.index:
        return None
    again = session.starts == 1 or not session.issued  # the older transport has a URL for each client
    wrong = flaw_of_handshake(session, asked, again=again) or flaw_of_request(asked, session.version)
    return wrong or _used_again(session, asked)


def unfounded(session: Session, asked: ToolMessage, answer: ToolMessage) -> str | None:
    """How a request relies on what the server has not declared, or leaves out what it requires."""
    if (lacking := _lacking(session, asked)) is not None:
        return lacking
    if session.starts > 1 or is_modern(session.version):
        return None
    return unoffered(asked, session.offers) if answer.error is None else None


def rejudged(session: Session, started: ToolMessage, notes: list[WireNote]) -> Iterator[ToolRun]:
    """Requests that were recorded before the version was known, and that this version does not allow.

    Over the transport of 2024-11-05, all answers are recorded after all requests.
    """
    for place, asked in session.asked.items():
        if asked.sender != "client" or place in session.flaws or asked.index == started.index:
            continue
        if (wrong := flaw_of_request(asked, session.version)) is None:
            continue
        session.flaws[place] = wrong
        run = session.runs.get(place)
        if run is None or run.departed is not None:
            continue
        session.runs[place] = run = copied_with(run, departed=Departure(f"sent a request that {wrong}", asked.index))
        if run.outcome == "failed" and is_new(session, "request_wrong"):
            notes.append(WireNote("request_wrong", session.server, asked.index, asked.method or "", wrong))
        yield run


def _lacking(session: Session, asked: ToolMessage) -> str | None:
    """How a request for a prompt leaves out what the server requires of it."""
    if asked.method != "prompts/get" or session.starts > 1 or is_modern(session.version):
        return None
    return session.prompts.lacking(asked)


def _as_task(session: Session, asked: ToolMessage, tool: Definition | None) -> str | None:
    """How a call asks for a task, or for none, against what its server says of the tool; None for any other."""
    name = as_text(asked.params.get("name")) if asked.method == "tools/call" else None
    if name is None or tool is None:
        return None
    if tool.tasks == "required" and "task" not in asked.params:
        return f"does not run {name!r} as a task, as its server demands"
    undeclared = session.offers is not None and "tasks" not in session.offers and not is_modern(session.version)
    if undeclared and "task" in asked.params:
        return f"runs {name!r} as a task, and its server has not declared `tasks`"
    forbidden = tool.tasks == "forbidden" and "task" in asked.params and not is_modern(session.version)
    return f"runs {name!r} as a task, which its server does not offer" if forbidden else None


def _used_again(session: Session, asked: ToolMessage) -> str | None:
    """Whether a request has the id of an earlier one that has its answer. Several clients may share a session."""
    answered = session.used.get(key_of_id(asked.id))
    if answered is None or asked.at <= answered or session.starts > 1:
        return None
    return f"has the id {compact(asked.id)} of an earlier request of the session, which MCP forbids"
