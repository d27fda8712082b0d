"""What the client did with the model's calls: which of them a tool server was given, how often, and with what."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...analysis.conversation import without_space
from ...tools.arguments import differences
from ...tools.definitions import Definition, is_passed_on
from ...tools.model_calls import ModelCall
from ...tools.tool_names import fits
from ...tools.tool_run import ToolRun
from ...wire.json_value import as_object, is_object, value_at
from ...wire.printable import several
from ..blame import is_why, steps_of
from ..finding import Severity
from ..rule import Note, tool_rule
from ..schema_check import violations
from ..tool_context import Execution, ToolContext
from .own_tools import INVALID, UNKNOWN
from .results import reads_like_error
from .tool_results import of
from .tool_waits import left_early, never_answered, reports_progress, waited

_REFUSED = regex(
    r"error|fail|exception|timed? ?out|closed|cancel|abort|not (?:connected|found|available|allowed|permitted|executed)"
    r"|denied|reject|refus|unable|could ?n.t|cannot|invalid|interrupt|unavailable|disconnected|declin|skipped|doesn.t want"
    r"|terminated|unexpected|(?:stream|connection|session) ended|\bno (?:answer|response)\b"
    r"|\bstopped by\b|\buser (?:has )?stopped|\bgave up\b|\bdid(?: not|n.t) (?:finish|complete|respond|answer|run)\b|\bexpired\b",
    re.IGNORECASE,
)
"""How clients say that they did not run a call, or got no result."""


def at(call: ModelCall) -> tuple[str, ...]:
    """The evidence: the answer with the call, and the place of its result."""
    shown = () if call.shown is None else (f"#{call.shown.index} request {call.shown.pointer}".strip(),)
    return (f"#{call.turn.index} response", *shown)


def _named(call: ModelCall) -> str:
    return f"{call.call.name!r}" + (f" ({call.call.id})" if call.call.id else "")


def says_why(text: str) -> bool:
    return reads_like_error(text) or _REFUSED.search(text[:600]) is not None


@tool_rule(
    "client-tool-never-executed",
    "client",
    "warning",
    "P",
    says="The model called a tool of a recorded server, and the server was never asked.",
    fix="Look into the client's log for what happened to the call: a refusal, a hook, a lost connection.",
    not_when=(
        "The model reads why, and not an untruth, a client's exception or another call's failure: then it is an info",
        "The recording ends with the call: then it is an info",
        "The arguments of the call are not JSON",
        "The model sees a result all the same: `client-tool-result-forged` or `client-tool-result-stale`",
    ),
)
def never_executed(context: ToolContext) -> Iterator[Note]:
    for call in context.missing if context.over == "closed" else ():
        if call.call.arguments is None and call.call.arguments_raw.strip():
            continue
        shown = call.shown
        if shown is not None and not (shown.is_error or shown.blank or says_why(shown.text)):
            continue
        untrue = _untrue(context, call)
        mild = call.turn.followed_by is None or (shown is not None and not shown.blank and not untrue)
        server = call.tool[0] if call.tool else ""
        yield Note(
            f"the model called {_named(call)}, but server {server!r} was not asked to run it{untrue}",
            at(call),
            severity="info" if mild else None,
        )


def _untrue(context: ToolContext, call: ModelCall) -> str:
    """Why the client's reason for not running a call is not one, as the end of a sentence; empty when it may be one."""
    said = call.shown.text[:_REASON] if call.shown is not None else ""
    known = context.join.tools.get(call.tool[0], {}).get(call.tool[1]) if context.join and call.tool else None
    if known is None or len(said) == _REASON or not said:
        return ""
    if UNKNOWN.search(said):
        return ", and the model reads that there is no such tool, which the server lists"
    arguments = call.call.arguments
    if INVALID.search(said) and is_object(arguments) and not violations(known.schema, arguments):
        return ", and the model reads that the arguments are invalid, which the server's schema allows"
    if _CRASH.search(said) and is_object(arguments) and not violations(known.schema, arguments):
        return ", and the model reads an exception of the client"
    if _OF_OTHERS.search(said) and len(context.calls.calls if context.calls else ()) > 1:
        return " because another call had failed"
    return ""


_CRASH = regex(
    r"\bcannot read propert|\bis not a function\b|\bis not (?:defined|iterable|callable|subscriptable)\b|\bNoneType\b"
    r"|\bobject has no attribute\b|\b(?:Type|Attribute|Key|Reference|Name|Index|Assertion)Error\b|\bTraceback \(most"
    r"|\bnull pointer\b|\bNullPointerException\b|\bpanic: |\bunwrap\(\)",
    re.IGNORECASE,
)
"""What programs say that fail in themselves, and not for what they were given."""
_OF_OTHERS = regex(
    r"\bsibling\b|\bparallel\b|\b(?:another|other|previous|preceding|earlier) (?:tool|call|function)", re.IGNORECASE
)
"""How clients say that they did not run a call because another one failed."""


_REASON = 1_200
"""Characters. A reason is shorter; a longer text may be content."""


@tool_rule(
    "client-tool-result-forged",
    "client",
    "error",
    "P",
    says="The model sees a result that no tool returned.",
    fix="Look for a mock, a cache or a hook in the client that answers calls in the tool's place.",
    not_when=(
        "The text says that the call was refused or failed",
        "It is the result of an earlier run: `client-tool-result-stale`",
    ),
)
def result_forged(context: ToolContext) -> Iterator[Note]:
    for call in context.missing if context.over == "closed" else ():
        shown = call.shown
        if shown is None or shown.is_error or shown.blank or says_why(shown.text):
            continue
        if context.returned_before(call) is None:
            yield Note(f"{_named(call)} was not executed, but the model sees a result: {_quoted(shown.text)}", at(call))
    for call, run in context.final:
        if run.outcome not in ("failed", "unanswered", "cancelled") or run.seen_as != "replaced" or run.seen_error:
            continue
        if run.task is not None or (run.awaits and context.over != "closed"):
            continue  # the model reads of the task, or the answer is still to be recorded
        if not says_why(run.seen_text or "") and not _is_of_error(run):
            yield Note(
                f"{of(run)} returned no result, but the model sees one: {_quoted(run.seen_text)}",
                (f"#{run.index} request", *at(call)[1:]),
            )


def _is_of_error(run: ToolRun) -> bool:
    """Whether the model sees a part of the server's error."""
    seen = without_space(run.seen_text or "")
    return len(seen) >= _PART and seen in without_space(run.returned_text or "")


_PART = 8
"""Characters without white space."""


def _quoted(text: str | None) -> str:
    return repr(" ".join((text or "").split())[:80])


@tool_rule(
    "client-tool-misrouted",
    "client",
    "warning",
    "P",
    says="The client ran another tool than the model called, or the tool of another server that has the same name.",
    fix="Keep for each offered tool which server it is from and what that server calls it; do not look it up by its name alone.",
    not_when=("Only the spelling of the name differs, or a prefix",),
)
def misrouted(context: ToolContext) -> Iterator[Note]:
    for call, run in context.runs:
        if call.tool is None:
            continue
        if call.tool[1] != run.name and not fits(call.call.name, run.server, run.name):
            yield Note(
                f"the model called {_named(call)}, and the client ran {of(run)}",
                (f"#{call.turn.index} response", f"#{run.index} request /params/name"),
            )
        elif (meant := _meant(context, call, run)) is not None:
            yield Note(
                f"the model called {_named(call)} as server {meant.server!r} defines it, and the client ran {of(run)}",
                (
                    f"#{call.turn.index} response",
                    f"#{meant.index} response /result/tools",
                    f"#{run.index} request /params/name",
                ),
            )


def _meant(context: ToolContext, call: ModelCall, run: ToolRun) -> Definition | None:
    """The definition that the model was offered, where it is that of another server than the one that ran the call."""
    stated = context.definition(run)
    offers = (
        [tool for tool in context.turn.reading.request.tools if tool.name == call.call.name] if context.turn else []
    )
    if stated is None or context.join is None or len(offers) != 1 or is_passed_on(offers[0], stated):
        return None
    others = (
        tools[run.name] for server, tools in context.join.tools.items() if server != run.server and run.name in tools
    )
    return next((other for other in others if is_passed_on(offers[0], other)), None)


@tool_rule(
    "client-tool-error-ends-run",
    "client",
    "warning",
    "S",
    says="A tool failed, and the client ended the run: the model never read of it.",
    fix="Catch errors of tools and answer the call with them, so that the model can try another way.",
    not_when=("Another call of the same answer had no answer yet", "The run continues in another thread"),
)
def error_ends_run(context: ToolContext) -> Iterator[Note]:
    runs = [run for _, run in context.runs]
    failed = [run for run in runs if run.outcome == "failed" or run.is_error]
    if failed and _ends_with(context):
        yield Note(
            f"{of(failed[-1])} failed, and no request of the client followed: {cut(' '.join((failed[-1].returned_text or '').split()), 80)!r}",
            (f"#{failed[-1].exchanges[-1]} response", f"#{failed[-1].turn} response"),
        )


def _ends_with(context: ToolContext) -> bool:
    """Whether a run ends with the calls of this turn, each of which was answered."""
    runs = [run for _, run in context.runs]
    if context.over != "closed" or context.calls is None or context.join is None or not runs:
        return False
    ended = all(run.outcome in ("answered", "failed") for run in runs)
    return ended and context.calls.followed_by is None and context.join.is_last(context.calls)


@tool_rule(
    "client-tool-result-unread",
    "client",
    "info",
    "S",
    says="A tool returned a result, and the client ended the run: the model never read it.",
    fix="Send the result to the model, unless the tool's result is the answer of the run.",
    not_when=(
        "Another call of the same answer had no answer yet",
        "The run continues in another thread",
        "A call of the same answer failed: then `client-tool-error-ends-run` says so",
    ),
)
def result_unread(context: ToolContext) -> Iterator[Note]:
    runs = [run for _, run in context.runs]
    if _ends_with(context) and not any(run.outcome == "failed" or run.is_error for run in runs):
        yield Note(
            f"{of(runs[-1])} returned a result, and no request of the client followed",
            (f"#{runs[-1].exchanges[-1]} response", f"#{runs[-1].turn} response"),
        )


@tool_rule(
    "client-tool-executed-twice",
    "client",
    "warning",
    "P",
    says="The client executed one call of the model more than once.",
    fix="Retry only calls that failed, and only tools that may run twice.",
    not_when=(
        "The run before had neither a result nor an error of the tool: a retry, and an info",
        "The server says that the tool only reads, or may run twice: then it is an info",
    ),
)
def executed_twice(context: ToolContext) -> Iterator[Note]:
    for call in context.calls.calls if context.calls else ():
        if len(call.runs) < 2:
            continue
        first, *others = call.runs
        known = context.definition(first)
        retried = all(run.outcome != "answered" or run.is_error for run in call.runs[:-1])
        ran = any(run.outcome == "answered" for run in call.runs[:-1])
        mild = (retried and not ran) or (known is not None and known.may_repeat)
        why = " because the run before " + ("reported an error" if ran else "had no result") if retried else ""
        yield Note(
            f"the call {_named(call)} was executed {len(call.runs)} times{why}",
            (f"#{call.turn.index} response", f"#{first.index} request", *(f"#{run.index} request" for run in others)),
            severity="info" if mild else None,
        )


@tool_rule(
    "client-tool-arguments-changed",
    "client",
    "warning",
    "P",
    says="The tool was given other arguments than the model wrote.",
    fix="Look for what rewrites arguments: defaults, a hook, a parser of numbers or texts.",
    not_when=(
        "Numbers are written in another way",
        "Arguments were only added, or left out where `null` or empty, and no error names them: then it is an info",
        "A text became the number or the boolean that it names, and the server's schema takes that: then it is an info",
        "The client itself had added the argument to the definition: then it is an info",
    ),
)
def arguments_changed(context: ToolContext) -> Iterator[Note]:
    for call, run in context.runs:
        sent = call.call.arguments
        if sent is None and call.call.arguments_raw.strip():
            continue
        paths = list(differences(sent, run.arguments))
        if paths:
            harmed = is_why(context, call, run)
            own = _of_client(context, call, run)
            mild = (
                all(_is_mild(sent, run.arguments, path) or own.intersection(steps_of(path)[:1]) for path in paths)
                and not harmed
            )
            first = _change(sent, run.arguments, paths[0])
            more = f", and {several(len(paths) - 1, 'more argument')}" if len(paths) > 1 else ""
            yield Note(
                f"{of(run)} was given other arguments than the model wrote: {first}{more}",
                (f"#{call.turn.index} response", f"#{run.index} request /params/arguments{paths[0]}"),
                severity="info" if mild else None,
            )


def _of_client(context: ToolContext, call: ModelCall, run: ToolRun) -> set[str]:
    """The arguments that the model is offered and that the tool's server does not have: the client reads them itself."""
    known = context.definition(run)
    offered = context.turn.reading.request.tools if context.turn is not None else ()
    tool = next((one for one in offered if one.name == call.call.name), None)
    if tool is None or known is None:
        return set()
    ours, theirs = (as_object(as_object(one.schema).get("properties")) for one in (tool, known))
    return set(ours) - set(theirs)


def _pair(sent: object, given: object, path: str) -> tuple[object, object]:
    steps = steps_of(path)
    return value_at(sent, steps), value_at(given, steps)


def _is_mild(sent: object, given: object, path: str) -> bool:
    before, now = _pair(sent, given, path)
    if before is None:
        return now != "null"
    if now is None:
        return before == ""
    if isinstance(before, str) and isinstance(now, str):
        return False  # white space and case may mean something, as in an edit of a file
    return not (is_object(before) or is_object(now)) and str(before).strip().lower() == str(now).strip().lower()


def _change(sent: object, given: object, path: str) -> str:
    before, now = _pair(sent, given, path)
    name = path.lstrip("/") or "all of them"
    if before is None:
        return f"{name} is the text 'null'" if now == "null" else f"{name} was added ({_quoted(str(now))})"
    return f"{name} was left out" if now is None else f"{name} is {_short(now)} and not {_short(before)}"


def _short(value: object) -> str:
    return repr(value) if len(repr(value)) <= 60 else repr(value)[:59] + "…"


@tool_rule(
    "client-tool-gave-up",
    "client",
    "warning",
    "P",
    says="The client gave up on a call before the tool had answered: it cancelled the call, closed the connection, or never "
    "fetched the result of its task.",
    fix="Raise the client's time limit for tools, or make the tool faster and let it report progress.",
    not_when=(
        "The thread ends with it, as when a user stops the agent: then it is an info",
        "The call was made again, and then had a result: then it is an info",
        "The client says that the user stopped it: then it is an info",
        "The tool was silent for five seconds, and did not answer later either: then `tool-server-silent` says so",
        "The tool wrote something else meanwhile, such as an answer with another id: `tool-server-silent`",
    ),
)
def gave_up(context: ToolContext) -> Iterator[Note]:
    for one in context.executions:
        run = one.run
        ends = context.over == "closed" and not one.went_on
        early = run.outcome == "unanswered" and left_early(run) and not run.unclear_id
        belated = waited(one.call, run) if one.call is not None else None
        left = run.outcome == "cancelled" or early or (run.ended_by == "client" and reports_progress(run))
        if run.task is not None and run.flaw is None and context.over != "open":
            yield Note(
                f"{of(run)} gave the task {run.task!r} in place of a result, and the client did not fetch its result",
                (f"#{run.exchanges[-1]} response /result", *one.answer),
                severity="info" if ends else None,
            )
        silent = never_answered(run) and not by_user(one) and (one.call is None or not ends)
        if belated is None and (not left or silent):
            continue
        took = belated if belated is not None or run.duration_ms is None else run.duration_ms / 1000
        after = f" after {took:.3g} s" if took is not None else ""
        why = f" ({cut(' '.join(run.reason.split()), 80)})" if run.reason else ""
        late = "; the server answered later" if run.result is not None or run.error is not None else ""
        late = late or ("; the tool had reported progress" if reports_progress(run) else "")
        severity: Severity | None = "info" if ends or one.repeated or by_user(one) else None
        yield Note(
            f"the client gave up on {of(run)}{after}{why}{late}",
            (f"#{run.index} request", *one.answer),
            severity,
        )


_USER = regex(r"\buser\b", re.IGNORECASE)


def by_user(one: Execution) -> bool:
    """True when the client says, to the server or to the model, that it was the user who ended the call."""
    shown = one.call.shown if one.call is not None else None
    said = shown.text[:_REASON] if shown is not None and says_why(shown.text) else ""
    return _USER.search(f"{one.run.reason or ''} {said}") is not None


@tool_rule(
    "client-tool-call-unasked",
    "client",
    "warning",
    "S",
    says="The client called a tool although the model had not asked for it.",
    fix="Look for what calls the tool: a hook, a retry, code that the model wrote.",
    not_when=(
        "The model was never offered the tool: clients call some tools for themselves",
        "The call came before the first turn",
    ),
)
def call_unasked(context: ToolContext) -> Iterator[Note]:
    run = context.loose
    if run is None or context.join is None or not context.join.is_offered(run) or not context.join.began_before(run):
        return
    yield Note(
        f"{of(run)} was called with {_short_json(run)}, but no answer of the model has that call",
        (f"#{run.index} request /params",),
    )


def _short_json(run: ToolRun) -> str:
    text = run.arguments_raw or "no arguments"
    return text if len(text) <= 80 else text[:79] + "…"


RULES = (
    misrouted,
    error_ends_run,
    result_unread,
    result_forged,
    never_executed,
    executed_twice,
    arguments_changed,
    gave_up,
    call_unasked,
)
