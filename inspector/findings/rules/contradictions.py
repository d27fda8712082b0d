"""Answers that contradict themselves, so that clients read other answers than the model gave."""

from collections.abc import Iterator
from itertools import pairwise

from turntape.cassettes.excerpts import cut

from ...wire.citations import beyond_text
from ...wire.exchange import Exchange
from ...wire.json_value import as_object, values_at
from ...wire.stream_pieces import (
    begun_again,
    doubled_text,
    repeated_text,
    repeats_calls,
    texts_of,
    values_of,
)
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
    says="The answer contradicts itself: pieces that repeat all before them, a second answer, other ids, names or arguments "
    "for one item, or more after an end. Clients read different answers in it.",
    fix="Report it to the provider of the gateway or server; compare with the same request without a stream.",
    not_when=("The calls are understood and were run all the same: then it is an info",),
)
def contradiction(context: RuleContext) -> Iterator[Note]:
    if context.finish.effective == "cancelled" or context.has("api-malformed-stream"):
        return
    which = "stream" if context.reading.streamed else "answer"
    for what in _ways(context):
        yield Note(f"the {which} contradicts itself: {what}", (f"{context.at} response",))
        return


def _ways(context: RuleContext) -> Iterator[str]:
    exchange, rules = context.spoken
    values = values_of(exchange.events)
    texts = texts_of(values)
    snapshots = repeated_text(texts)
    if snapshots and any("".join(snapshots) in text for text in _read(context)):
        yield f"each piece repeats all before it; the last one is {cut(snapshots[-1].strip(), 80)!r}"
    if len(context.emission.calls) > 1 and repeats_calls(values):
        yield "each piece repeats the calls before it"
    if (twice := doubled_text(texts)) is not None:
        yield f"each piece comes twice, such as {cut(twice, 40)!r}"
    if (again := begun_again(texts)) is not None:
        yield f"a text begins again from the start after {len(again)} characters: {cut(again, 40)!r}"
    if rules.contradictions is not None:
        yield from rules.contradictions(exchange)
    yield from beyond_text(_whole(exchange))


def _whole(exchange: Exchange) -> object:
    """The answer as one body: itself, or the event that completes a stream; nothing where there is no such event."""
    if exchange.framing is None:
        return exchange.answer_fields
    wholes = (as_object(body["response"]) for _, body in reversed(exchange.event_objects) if "response" in body)
    return next((whole for whole in wholes if whole.get("output")), None)


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
    says="The answer holds the same text twice: as two blocks, or as reasoning and again as the text or its beginning.",
    fix="Report it to the provider of the gateway or server; drop the second copy before the answer goes back.",
    not_when=("The text is short", "Something else is between the two", "The two are sampled answers"),
)
def text_twice(context: RuleContext) -> Iterator[Note]:
    text, thought = context.emission.text.strip(), context.emission.reasoning.strip()
    if text == thought and len(text) >= _LONG:
        yield Note(
            f"the answer holds the same text as its text and as its reasoning: {cut(text, 60)!r}",
            (f"{context.at} response",),
        )
        return
    if len(thought) >= _LONG and text.startswith(thought) and text[len(thought) :][:1].isspace():
        yield Note(
            f"the text of the answer begins with the whole of its reasoning: {cut(thought, 60)!r}",
            (f"{context.at} response",),
        )
        return
    for content in [choice.content for choice in context.emission.choices] or [context.emission.content]:
        for before, part in pairwise(content):
            if before.kind == part.kind == "text" and before.text == part.text and len(part.text) >= _LONG:
                yield Note(
                    f"two blocks of the answer hold the same text: {cut(part.text, 60)!r}",
                    (f"{context.at} response {part.pointer}",),
                )
                return
    parts = [part.text for part in context.emission.content if part.kind == "text"]
    half = next((half for said in parts if (half := _half(said) or _half(said.strip()))), None)
    if half is not None and not context.has(CONTRADICTION):
        yield Note(
            f"the text of the answer is there twice, one behind the other: {cut(half, 60)!r}",
            (f"{context.at} response",),
        )


def _half(text: str) -> str | None:
    """The text that comes twice without anything between; None where a model may mean it, as in a row of signs."""
    half = text[: len(text) // 2]
    if len(half) < _SENTENCE or text != half * 2 or len(set(half)) < _VARIED:
        return None
    return None if half == half[: len(half) // 2] * 2 else half


_SENTENCE = 20
"""Characters. A model may say less twice without a space between."""
_VARIED = 8
"""Different characters. A row of signs or a table of numbers has fewer."""


@rule(
    "api-wrong-role",
    "api",
    "warning",
    "P",
    says="The answer says that another than the assistant speaks: clients that go by the role put it elsewhere.",
    fix="Report it to the provider of the gateway or server; set the role to the assistant's before the answer is stored.",
)
def wrong_role(context: RuleContext) -> Iterator[Note]:
    exchange, rules = context.spoken
    for path in rules.roles if context.succeeded else ():
        roles = (role for body in exchange.bodies for role in values_at(body, path) if isinstance(role, str) and role)
        first = next(roles, None)
        if first is not None and first.lower() not in _OWN_ROLES:
            yield Note(f"the answer has the role {first!r}", (f"{context.at} response",))
            return


_OWN_ROLES = frozenset({"assistant", "model"})

RULES = (contradiction, text_twice, wrong_role)
