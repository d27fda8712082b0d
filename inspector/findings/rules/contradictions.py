"""Streams that contradict themselves, so that clients read other answers than the model gave."""

from collections.abc import Iterator
from itertools import pairwise

from ...wire.stream_pieces import repeated_text, repeats_calls
from ..causes import CONTRADICTION
from ..rule import Note, rule
from ..rule_context import RuleContext

_LONG = 40
"""A model may say less than this many characters twice."""


@rule(
    CONTRADICTION,
    "api",
    "warning",
    "P",
    says="The stream contradicts itself: pieces that repeat all before them, a second answer, other ids or names for one "
    "item, or more after the end. Clients read different answers in it.",
    fix="Report it to the provider of the gateway or server; compare with the same request without a stream.",
    not_when=("The calls are understood and were run all the same: then it is an info",),
)
def contradiction(context: RuleContext) -> Iterator[Note]:
    if not context.reading.streamed or context.finish.effective == "cancelled" or context.has("api-malformed-stream"):
        return
    for what in _ways(context):
        yield Note(f"the stream contradicts itself: {what}", (f"{context.at} response",))
        return


def _ways(context: RuleContext) -> Iterator[str]:
    events = context.exchange.events
    snapshots = repeated_text(events)
    if snapshots and any("".join(snapshots) in text for text in _read(context)):
        yield f"each piece repeats all before it; the last one is {snapshots[-1].strip()[:80]!r}"
    if repeats_calls(events) and len(context.emission.calls) > 1:
        yield "each piece repeats the calls before it"
    own = context.protocol.answers.contradictions
    if own is not None:
        yield from own(context.exchange)


def _read(context: RuleContext) -> Iterator[str]:
    """All texts of the answer as its pieces add up."""
    emission = context.emission
    yield from (emission.text, emission.reasoning, emission.refusal or "")
    yield from (call.arguments_raw for call in (*emission.calls, *emission.server_calls))


@rule(
    "api-text-twice",
    "api",
    "warning",
    "S",
    says="The answer holds the same text twice, as two blocks.",
    fix="Report it to the provider of the gateway or server; drop the second block before the answer goes back.",
    not_when=("The text is short", "Something else is between the two", "The two are sampled answers"),
)
def text_twice(context: RuleContext) -> Iterator[Note]:
    for content in [choice.content for choice in context.emission.choices] or [context.emission.content]:
        for before, part in pairwise(content):
            if before.kind == part.kind == "text" and before.text == part.text and len(part.text) >= _LONG:
                yield Note(
                    f"two blocks of the answer hold the same text: {part.text[:60]!r}",
                    (f"{context.at} response {part.pointer}",),
                )
                return


RULES = (contradiction, text_twice)
