"""What a client left undone when it closed a session over WebSocket."""

from collections.abc import Iterator

from turntape.cassettes.excerpts import listed

from ...wire.printable import several
from ..rule import Note, rule
from ..rule_context import RuleContext
from .loop import is_deliberate

_WAITED = 5.0
"""Seconds. Whoever closes the session sooner did not wait for an answer."""


@rule(
    "client-answer-not-requested",
    "client",
    "warning",
    "S",
    when="closed",
    says="The client gave the results of calls in a session and never asked for an answer, which the API does not give unasked. "
    "The model has not seen them.",
    fix="Send `response.create` after the results of all calls of an answer.",
    not_when=(
        "The client requested a later answer, or the user's speech did",
        "The call itself is the output, or a person must approve it",
        "The client closed the session within five seconds, as after a call that ends the talk: then it is an info",
        "The model also said something: a tool may run in the background, so it is an info",
    ),
)
def not_requested(context: RuleContext) -> Iterator[Note]:
    end = context.session_end
    if end is None or end.at is None or context.following is not None or is_deliberate(context):
        return
    given = [call.id for call in context.emission.calls if call.id and call.id in end.results]
    if not given:
        return
    waited = end.at - max(end.results[one] for one in given)
    alone = not context.emission.text.strip()
    yield Note(
        f"the client gave {several(len(given), 'result')} ({listed(given, 4)}), asked for no answer, and closed the session "
        f"{waited:.0f} s later",
        tuple(f"{context.at} call {one}" for one in given[:4]),
        severity=None if alone and waited >= _WAITED else "info",
    )


@rule(
    "session-event-failed",
    "client",
    "info",
    "P",
    when="closed",
    says="Something failed in a session outside of its answers: the API refused an event of the client, or could not write down "
    "what the user said (api).",
    fix="Handle the session's error events: truncate only what was played, commit only sound that was sent, cancel only what "
    "is running.",
    not_when=("The API refused a request for an answer, an item or settings: then `request-rejected` says so",),
)
def event_failed(context: RuleContext) -> Iterator[Note]:
    once = ("session-event-failed", context.index)
    if not context.session_notes or once in context.run.reported:
        return
    context.run.reported.add(once)
    for note in context.session_notes:
        yield Note(note.what, (f"{context.at} response",), layer=note.layer, key=note.what)


CLOSED = (not_requested, event_failed)
