"""The loop of the client: were calls run, partial answers kept out, pauses resumed, and did it end at the right time?"""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import listed
from turntape.cassettes.regex import regex

from ...analysis.conversation import call_meaning, units_emitted
from ...analysis.dispatch import taken_as_text
from ...analysis.turn import Turn
from ...wire.exchange import Exchange, header
from ...wire.printable import several
from ..finding import Severity
from ..memory import request_key
from ..rule import Note, rule
from ..rule_context import RuleContext
from .pairing import confirmed
from .unfit_calls import dispatched_partial, executed_filtered

FINAL_TOOLS = regex(r"final|submit|finish|answer|output|respond|complete|done|structured|extract|result", re.IGNORECASE)
_LITTLE = 65
"""A request with a smaller cap on output tokens only tests the API."""
_ASKING = regex(r"approv|confirm|human|ask_|request_input|user_input", re.IGNORECASE)
_ROUND = frozenset({10, 15, 20, 25, 30, 40, 50, 60, 75, 100, 150, 200})
_LAST_CALL = regex(
    r"maximum (?:number of )?(?:steps|iterations|turns)|step limit|no more tool|final answer now", re.IGNORECASE
)


def _unrun(context: RuleContext) -> bool:
    """True when the turn has complete calls that nobody answered."""
    return (
        context.finish.effective == "tool_calls"
        and bool(context.emission.calls)
        and not context.has("api-truncated-call-mislabelled", "api-fabricated-finish")
        and context.dispatch is not None
        and context.dispatch.outcome in ("open", "not_dispatched")
    )


def _was_answered(context: RuleContext) -> bool:
    """True when the client answered a call of one of these tools before, so the tool does more than take output."""
    return any(call.name in context.thread.answered_tools for call in context.emission.calls)


def is_deliberate(context: RuleContext) -> bool:
    """True when the client may leave the calls open on purpose."""
    choice = context.request.tool_choice
    if choice is not None and choice.mode in ("named", "required"):
        return True
    names = [call.name for call in context.emission.calls]
    if any(FINAL_TOOLS.search(name) or _ASKING.search(name) for name in names):
        return True
    tools = [tool for tool in context.request.tools if not tool.server]
    return len(tools) == 1 and FINAL_TOOLS.search(tools[0].name) is not None


@rule(
    "client-tool-calls-not-dispatched",
    "client",
    "error",
    "S",
    when="closed",
    says="The answer holds complete calls and the thread ends without their results.",
    fix="Continue the loop as long as there are calls, whatever the finish word says.",
    not_when=(
        "The recording may have stopped there: no call of the thread was ever answered, and no command is known to have ended, "
        "nor did the client close a session",
        "The client gave the results and asked for no answer: then `client-answer-not-requested` says so",
        "A person must approve the call",
        "The call itself is the output",
        "The run or the session ends there, or the tool never had a result: then it is an info",
        "The command ended well there after other conversations, as a suite of tests does: then it is an info",
        "The same request was sent again, and got another answer: then it is an info",
    ),
)
def not_dispatched(context: RuleContext) -> Iterator[Note]:
    if context.following is not None or not _unrun(context) or is_deliberate(context):
        return
    if context.turn.round_trip.closed_first == "client" or _capped(context):
        return
    disagrees = context.has("api-finish-label-disagrees")
    looped, left, closed = context.thread.dispatched > 0, _left_by_command(context), context.session_end
    if closed is not None and any(call.id in closed.results for call in context.emission.calls):
        return
    if not disagrees and not looped and not left and closed is None:
        return
    severity: Severity | None = "info"
    if disagrees or (context.later and _was_answered(context) and not _is_sent_again(context)):
        severity = None
    elif left and _was_answered(context) and context.run.generations == context.thread.turns:
        severity = "warning"
    ids = listed([str(call.id or call.name) for call in context.emission.calls], 4)
    what = "the client closed the session after" if closed is not None else "the thread ends with"
    what = "the command ended with exit code 0 after" if left else what
    yield Note(
        f"{what} {several(len(context.emission.calls), 'call')} that nobody answered: {ids}",
        tuple(f"{context.at} call {call.id or call.name}" for call in context.emission.calls[:4]),
        severity=severity,
        because_of=disagrees,
    )


def _left_by_command(context: RuleContext) -> bool:
    """True when the recorded command ended well after this turn, so that the recording did not just stop there."""
    return context.command is not None and not context.command.failed


def _is_sent_again(context: RuleContext) -> bool:
    """True when a later request of the run is the same: SDKs repeat one whose answer they could not read to its end."""
    return context.run.requests[request_key(context.turn)].index > context.index


@not_dispatched.also("followed")
def passed_over(context: RuleContext) -> Iterator[Note]:
    if context.following is None or not _unrun(context) or context.next_echo is None:
        return
    disagrees = context.has("api-finish-label-disagrees")
    dropped = any(change.kind == "call_dropped" for change in context.next_echo.changes)
    if disagrees and dropped and not taken_as_text(context.emission.calls, context.following.reading.request.messages):
        ids = listed([str(call.id or call.name) for call in context.emission.calls], 4)
        noun = "call" if len(context.emission.calls) == 1 else "calls"
        yield Note(
            f"the next request continues without the {noun} {ids}",
            (f"{context.at} call {ids}", f"#{context.following.round_trip.index} request"),
            because_of=disagrees,
        )


def _capped(context: RuleContext) -> bool:
    return context.thread.turns in _ROUND and context.thread.dispatched >= context.thread.turns - 2


@rule(
    "client-max-iterations",
    "client",
    "warning",
    "S",
    when="closed",
    says="The loop seems to have stopped at a turn limit, with open calls.",
    fix="Raise the limit, or let the last turn answer without tools.",
    not_when=("The number of turns is not a usual limit, such as 10, 25 or 50",),
)
def max_iterations(context: RuleContext) -> Iterator[Note]:
    if context.following is None and _unrun(context) and not is_deliberate(context) and _capped(context):
        yield Note(
            f"the thread stops after {several(context.thread.turns, 'turn')} with open calls, as at a turn limit",
            tuple(f"{context.at} call {call.id or call.name}" for call in context.emission.calls[:3]),
        )


@max_iterations.also("ended")
def forced_last(context: RuleContext) -> Iterator[Note]:
    before = context.previous
    if before is None or context.echo is None or not context.echo.new:
        return
    said = context.echo.new[-1].text
    tools_gone = bool(before.reading.request.tools) and (
        not context.request.tools
        or (context.request.tool_choice is not None and context.request.tool_choice.mode == "none")
    )
    if tools_gone and _LAST_CALL.search(said[-400:]):
        yield Note(
            "the last request offers no tools and mentions a limit of steps",
            (f"{context.at} request {context.echo.new[-1].pointer}",),
        )


def _little(context: RuleContext) -> bool:
    """True when the cap is so low that the client must expect a cut answer."""
    return (context.request.max_output or _LITTLE) < _LITTLE


@rule(
    "client-treated-truncated-as-final",
    "client",
    "warning",
    "S",
    when="closed",
    says="An answer that was cut or capped was taken as final.",
    fix="Check the finish before ending the loop: continue, raise the cap, or report that the answer is incomplete.",
    not_when=("The client asked for very few tokens on purpose",),
)
def truncated_as_final(context: RuleContext) -> Iterator[Note]:
    if context.following is not None or context.finish.effective not in ("length", "context_full", "cut"):
        return
    if context.turn.round_trip.closed_first == "client" or context.thread.turns < 2 or context.emission.calls:
        return
    if context.finish.effective == "length" and _little(context):
        return
    yield Note(
        f"the thread ends with an incomplete answer ({context.finish.raw or context.finish.effective})",
        (context.finish_at,),
        because_of=context.has("api-length-truncated", "api-context-full", "api-stream-cut"),
    )


_GO_ON = regex(r"continu|go on|carry on|truncat|cut off|resume", re.IGNORECASE)


def asks_for_rest(context: RuleContext) -> bool:
    """True when the next request keeps an incomplete answer and asks for the rest of it."""
    again = context.next_echo
    if again is None or any(change.emitted for change in again.changes):
        return False
    words = [unit for unit in again.new if unit.kind == "text" and unit.role == "user"]
    return bool(words) and _GO_ON.search(words[-1].text) is not None


@truncated_as_final.also("followed")
def truncated_as_said(context: RuleContext) -> Iterator[Note]:
    following, again = context.following, context.next_echo
    if (
        following is None
        or context.finish.effective not in ("length", "context_full")
        or context.emission.calls
        or again is None
        or _little(context)
    ):
        return
    kept = not any(change.emitted for change in again.changes)
    words = [unit for unit in again.new if unit.kind == "text" and unit.role == "user"]
    if kept and words and not _GO_ON.search(words[-1].text):
        yield Note(
            f"the next request continues after an incomplete answer ({context.finish.raw or context.finish.effective})",
            (context.finish_at, f"#{following.round_trip.index} request {words[-1].pointer}"),
            because_of=context.has("api-length-truncated", "api-context-full"),
        )


@rule(
    "client-pause-not-resumed",
    "client",
    "error",
    "P",
    says="The API paused a turn and the client did not send the answer back.",
    fix="Send the paused answer back unchanged as the last message, and limit how often.",
)
def pause_complained(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-pause-not-resumed", ())


@pause_complained.also("followed")
def pause_not_resumed(context: RuleContext) -> Iterator[Note]:
    following, again = context.following, context.next_echo
    if following is None or context.finish.label != "pause" or again is None:
        return
    if following.reading.request.continues in context.reading.answer_ids:
        return
    changed = [change for change in again.changes if change.emitted]
    emitted = {id(unit) for unit in units_emitted(context.emission)}
    after = [unit for unit in again.new if id(unit) not in emitted]
    if changed or after:
        why = "changes the answer" if changed else "adds something after the answer"
        yield Note(
            f"the API paused the turn and the next request {why} instead of sending it back unchanged",
            (context.finish_at, f"#{following.round_trip.index} request"),
        )


@pause_complained.also("closed", tier="S")
def pause_forgotten(context: RuleContext) -> Iterator[Note]:
    if context.following is None and context.finish.label == "pause":
        yield Note(
            f"the API paused the turn ({context.finish_word}) and the client did not send the answer back",
            (context.finish_at,),
        )


@rule(
    "client-stored-failed-turn",
    "client",
    "error",
    "P",
    says="The partial answer of a failed turn is in the history as if it were complete.",
    fix="Do not store an answer that was cut or ended in an error; send the whole turn again.",
)
def stored_failed(context: RuleContext) -> Iterator[Note]:
    before = context.before
    if before is None or before.reading.emission is None or before.reading.finish is None:
        return
    if before.reading.finish.effective not in ("error", "cut"):
        return
    emission = before.reading.emission
    text = emission.text.strip()
    calls = {call_meaning(call) for call in emission.calls}
    old = len(before.reading.request.messages)
    for message in context.request.messages[old:]:
        if message.role != "assistant":
            continue
        held = len(text) > 8 and any(part.text.strip() == text for part in message.parts if part.kind == "text")
        held = held or any(part.call is not None and call_meaning(part.call) in calls for part in message.parts)
        if held:
            yield Note(
                f"the partial answer of #{before.round_trip.index} ({before.reading.finish.effective}) is in the history as if it were complete",
                (f"#{before.round_trip.index} response", f"{context.at} request {message.pointer}"),
                key=("stored", before.round_trip.index),
                because_of=context.has_recently("api-stream-cut", "api-error-in-200-stream", "client-interrupted"),
            )
            return


@rule(
    "client-continued-after-end",
    "client",
    "warning",
    "S",
    when="followed",
    says="The model had finished and the client sent another request with nothing new.",
    fix="End the loop when the answer is complete and has no calls.",
    not_when=(
        "The user sends a new message",
        "No tools are offered and the request says something: a person may ask for more, so it is an info",
        "The request says something and comes three seconds later: a person may ask for more, so it is an info",
        "Other tools are offered",
        "The request wants another output format",
        "The request goes to another endpoint",
    ),
)
def continued_after_end(context: RuleContext) -> Iterator[Note]:
    following, again = context.following, context.next_echo
    if following is None or again is None or context.finish.effective not in ("complete", "stop_sequence"):
        return
    if context.emission.calls or context.emission.server_calls or context.emission.emitted != "text":
        return
    if not _same_settings(context, following):
        return
    if any(change.emitted for change in again.changes):
        return
    words = [unit.text.strip() for unit in again.new]
    if all(not word or NUDGE.fullmatch(word) for word in words):
        reported = context.thread.reported
        first = ("client-continued-after-end", "once") not in reported
        answer = following.reading.emission
        by_person = any(words) and (not context.request.tools or _waited(context, following) >= _TYPED)
        harmless = by_person or (first and (answer is None or answer.emitted != "empty"))
        reported.add(("client-continued-after-end", "once"))
        yield Note(
            "the model had finished and the next request adds "
            + (f"only {words[-1]!r}" if words and words[-1] else "nothing"),
            (context.finish_at, f"#{following.round_trip.index} request"),
            severity="info" if harmless else None,
        )


_TYPED = 3.0
"""Seconds. A person needs longer to read an answer and to ask for more; a loop does not."""


def _waited(context: RuleContext, following: Turn) -> float:
    """The seconds between the end of an answer and the next request."""
    trip = context.turn.round_trip
    return following.round_trip.started_at - trip.started_at - (trip.ended_at or 0) / 1e6


NUDGE = regex(r"(?:please )?(?:continue|go on|proceed|keep going|next)\W*", re.IGNORECASE)


def _same_settings(context: RuleContext, following: Turn) -> bool:
    """True when the next request goes to the same model and endpoint, with the same tools and parameters."""
    asked, next_asked = context.request, following.reading.request
    return (
        asked.parameters == next_asked.parameters
        and asked.tools == next_asked.tools
        and asked.model == next_asked.model
        and context.exchange.path == Exchange(following.round_trip).path
    )


@rule(
    "client-parallel-run-serially",
    "client",
    "info",
    "S",
    says="Parallel calls were run one after the other.",
    fix="Run the calls of one answer at the same time.",
    not_when=("The client does not report how long each tool took",),
)
def run_serially(context: RuleContext) -> Iterator[Note]:
    said = header(context.turn.round_trip.request.headers, "x-claude-code-prev-tool-durations")
    before = context.previous
    if not said or before is None or before.reading.emission is None or len(before.reading.emission.calls) < 2:
        return
    durations = [float(n) for n in re.findall(r"=(\d+(?:\.\d+)?)", said)]
    ended = before.round_trip.started_at + (before.round_trip.ended_at or 0) / 1e6
    gap = (context.turn.round_trip.started_at - ended) * 1000
    if len(durations) > 1 and gap >= 0.9 * sum(durations) and sum(durations) > 1.5 * max(durations):
        yield Note(
            f"{len(durations)} tools took {sum(durations):.0f} ms in all and {gap:.0f} ms passed: they ran one after the other",
            (f"#{before.round_trip.index} response", f"{context.at} request header x-claude-code-prev-tool-durations"),
        )


@rule(
    "client-stopped-silently",
    "client",
    "info",
    "H",
    when="closed",
    says="The thread ends without a complete answer and nothing explains it.",
    fix="Look into the client's log at the time of the last turn.",
)
def stopped_silently(context: RuleContext) -> Iterator[Note]:
    if (
        context.following is not None
        or context.found
        or context.finish.effective in ("complete", "stop_sequence", "refusal", "unknown")
    ):
        return
    if context.thread.turns < 2 or is_deliberate(context):
        return
    yield Note(
        f"the thread ends with `{context.finish.effective}` and nothing explains it",
        (context.finish_at,),
    )


RULES = (forced_last, dispatched_partial, executed_filtered, pause_complained, stored_failed, run_serially)
FOLLOWED = (passed_over, truncated_as_said, pause_not_resumed, continued_after_end)
CLOSED = (not_dispatched, max_iterations, truncated_as_final, pause_forgotten)
HINTS = (stopped_silently,)
