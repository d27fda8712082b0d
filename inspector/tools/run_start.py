"""How a `tools/call` begins a tool run, or continues one that waits for its client."""

from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import copied_with

from ..wire.json_value import Object, as_object, as_text, compact, is_object
from .definitions import Definition
from .message_forms import breaks, wrong_reply
from .session_state import Session
from .tool_messages import ToolMessage
from .tool_run import Departure, ToolRun


def called(session: Session, message: ToolMessage, known: Definition | None, wrong: str | None) -> ToolRun:
    """The run that a `tools/call` begins, or continues; `wrong`: how the request breaks the rules."""
    place, lost = _place_of_earlier(session, message.params)
    earlier = session.runs.pop(place, None) if place is not None else None
    if earlier is not None:
        run = _continued(earlier, message)
        own = lost or _wrongly_answered(earlier, message.params) or _wrongly_repeated(earlier, message.params)
    else:
        run = _first(session, message, known)
        own = _of_another(session, message.params)
    if wrong is None and own is not None:
        session.flaws[message.sequence] = wrong = own
    if wrong is not None:
        run = copied_with(run, departed=Departure(f"sent a request that {wrong}", message.index))
    session.runs[message.sequence] = run
    return run


def _first(session: Session, message: ToolMessage, known: Definition | None) -> ToolRun:
    arguments = message.params.get("arguments")
    return ToolRun(
        index=message.index,
        session=message.session,
        sequence=message.sequence,
        server=session.server,
        run=session.run,
        name=as_text(message.params.get("name")) or "",
        arguments=arguments,
        arguments_raw="" if arguments is None else compact(arguments),
        started_at=message.at,
        exchanges=(message.index,),
        meta=as_object(message.params.get("_meta")),
        output_schema=known.output_schema if known is not None else None,
    )


def _continued(earlier: ToolRun, message: ToolMessage) -> ToolRun:
    run = copied_with(earlier, outcome="unanswered", exchanges=(*earlier.exchanges, message.index))
    if not _is_other_call(earlier, message.params):
        return run
    arguments = message.params.get("arguments")
    return copied_with(run, arguments=arguments, arguments_raw=compact(arguments))


def _is_other_call(earlier: ToolRun, params: Object) -> bool:
    return as_object(params.get("arguments")) != as_object(earlier.arguments) or params.get("name") != earlier.name


def _wrongly_repeated(earlier: ToolRun, params: Object) -> str | None:
    return "repeats the call, and not as its server had asked about it" if _is_other_call(earlier, params) else None


def named(session: Session, server: str) -> Iterator[ToolRun]:
    """The runs of a session whose server is known under another name from now on.

    Over the transport of 2024-11-05 the server says its name in an answer that is recorded after the calls.
    """
    session.server = server
    for place, run in session.runs.items():
        session.runs[place] = renamed = copied_with(run, server=server)
        yield renamed


def _of_another(session: Session, params: Object) -> str | None:
    """How a call that continues nothing names a state: one that its server gave for another call."""
    given = session.states.get(as_text(params.get("requestState")) or "")
    return None if given in (None, stateless(params)) else "names the `requestState` of another call"


def _place_of_earlier(session: Session, params: Object) -> tuple[int | None, str | None]:
    """The place of the run that a call continues, and how the call breaks the rule for naming it."""
    state, lost = as_text(params.get("requestState")), None
    if "inputResponses" in params:
        state = stateless(params) if state is None else state
        if state not in session.waiting:
            state, lost = _other_state(session, params, state)
    return session.waiting.pop(state, None) if state is not None else None, lost


def _other_state(session: Session, params: Object, state: str | None) -> tuple[str | None, str | None]:
    """The state under which this very call waits, where it names another one or none, and how it breaks the rule."""
    own = stateless(params)
    given = [one for one, call in session.states.items() if call == own and one in session.waiting]
    if len(given) != 1:
        return state, None
    said = "another" if params.get("requestState") is not None else "no"
    return given[0], f"repeats the call with {said} `requestState` than its server gave"


def stateless(params: Object) -> str:
    """Under what a call waits for input to which its server gave no state: it is repeated with the same arguments."""
    return compact([params.get("name"), params.get("arguments")])


def _wrongly_answered(run: ToolRun, params: Object) -> str | None:
    """How the answers that a call is repeated with do not fit the questions of its server."""
    responses = as_object(params.get("inputResponses"))
    for name, question in run.questions.items():
        method, asked = as_text(as_object(question).get("method")) or "", as_object(as_object(question).get("params"))
        if name not in responses:
            return f"does not answer the question {name!r} of its server"
        reply = responses[name]
        if not is_object(reply):
            return f"answers the question {name!r} with {cut(compact(reply), 40)}, which must be an object"
        if (wrong := wrong_reply(method, reply)) is not None:
            return f"answers the question {name!r} in a form that {wrong}"
        wanted = asked.get("requestedSchema")
        if is_object(wanted) and reply.get("action") == "accept" and breaks(wanted, reply.get("content", {})):
            return f"answers the question {name!r} against the schema that its server gave for it"
    return None
