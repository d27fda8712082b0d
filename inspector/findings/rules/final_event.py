"""The event that completes a stream: many clients take the whole answer from it and forget the pieces before it."""

from collections.abc import Iterator

from ...analysis.history_diff import HistoryDiff
from ..rule import Note, rule
from ..rule_context import RuleContext


@rule(
    "api-final-event-empty",
    "api",
    "warning",
    "P",
    when="followed",
    says="The event that completes the answer has no items, although the stream brought some. Clients that read only "
    "this event lose them.",
    fix="Report it to the provider of the gateway or server; a client can collect the items from their own events.",
    not_when=(
        "Codex's API, which sends none on purpose",
        "The client collected the items from the stream: then it is an info",
        "A gateway completes an answer of text, and no request shows what the client did with it: then it is an info",
    ),
)
def final_event_empty(context: RuleContext) -> Iterator[Note]:
    echo = context.next_echo
    if echo is not None and context.following is not None and _is_empty(context):
        yield _note(context, lost=_is_lost(echo))


@final_event_empty.also("closed")
def last_event_empty(context: RuleContext) -> Iterator[Note]:
    if context.following is None and _is_empty(context):
        yield _note(context, lost=bool(context.emission.calls) or context.provider.own_models)


def _note(context: RuleContext, *, lost: bool) -> Note:
    return Note(
        "the event that completes the answer has no items, although the stream brought some",
        (f"{context.at} response",),
        severity=None if lost else "info",
    )


def _is_empty(context: RuleContext) -> bool:
    empty = context.protocol.answers.final_without_items
    return empty is not None and context.succeeded and bool(context.emission.content) and empty(context.exchange)


def _is_lost(echo: HistoryDiff) -> bool:
    """True when the next request has not all of the answer."""
    return any(change.emitted and change.kind in ("call_dropped", "text_dropped") for change in echo.changes)


RULES = (final_event_empty, last_event_empty)
