"""How the recorded command ended, beside its last turn: a client that fails says so only in its exit code."""

from collections.abc import Iterator

from turntape.cassettes.excerpts import listed

from ...wire.printable import several
from ..finding import Severity
from ..rule import Note, rule
from ..rule_context import RuleContext

_INTERRUPTED = frozenset({"SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE"})
"""Signals by which a person or another program ends a command."""
_OURS = frozenset({"run-ended-by-limit", "answer-refused-by-hand", "replay-missed", "replay-without-answer"})
"""What turntape itself answered in place of the API."""
_SIGNAL = 128
"""Shells, and programs that handle a signal, return this plus the number of the signal."""
_INTERRUPTED_CODES = frozenset({_SIGNAL + 1, _SIGNAL + 2, _SIGNAL + 13, _SIGNAL + 15})


@rule(
    "client-command-failed",
    "client",
    "error",
    "P",
    when="closed",
    says="The recorded command failed after this answer, whose calls nobody ran, and sent nothing more.",
    fix="Read the error output of the command: what it did with this answer made it fail.",
    not_when=(
        "The exit code is 0",
        "A person or another program ended the command, as with Ctrl-C",
        "turntape itself answered the last request, as at a limit",
        "The answer has no open calls: the exit code may be what the program has to say, so it is an info",
        "There were other conversations, as in a suite of tests: then it is a warning",
        "The last turn failed: then it is an info that follows from that",
    ),
)
def command_failed(context: RuleContext) -> Iterator[Note]:
    end = context.command
    if end is None or not end.failed or end.signal in _INTERRUPTED or end.exit in _INTERRUPTED_CODES:
        return
    if any(one.id in _OURS for one in context.found):
        return
    how = f"was ended by {end.signal}" if end.exit is None else f"ended with exit code {end.exit}"
    calls = [call for call in context.emission.calls if call.choice == 0]
    open_calls = bool(calls) and context.dispatch is not None and not context.dispatch.results
    severity: Severity | None = "info"
    causes: tuple[str, ...] = ()
    if not context.succeeded or context.finish.effective == "cut":
        causes = tuple(dict.fromkeys(one.id for one in context.found if one.severity == "error" and not one.because_of))
        what = f"the command {how} after this turn, which failed"
    elif open_calls:
        names = listed([*dict.fromkeys(call.name for call in calls)], 4)
        what = f"the command {how} and sent nothing after this answer: nobody ran its {several(len(calls), 'call')} ({names})"
        severity = "warning" if context.run.generations > context.thread.turns else None
    else:
        what = f"the command {how} after this answer"
    yield Note(what, (f"{context.at} response",), severity=severity, because_of=causes[:1])


CLOSED = (command_failed,)
