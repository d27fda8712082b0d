"""Edits that several faults share."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from ..identities import signature
from ..loop import Loop, Rewrite, Step
from ..pieces import Block, Call, Event, Failed, Json, Message, Result, Text, Thinking, Tokens

PARALLEL = 0
"""The step with two calls."""
FAILING = 1
"""The step whose call fails."""
READS = 2
"""The step that reads the settings."""
QUERIES = 3
TICKETS = 4
LAST = 5


def say(loop: Loop, seed: str, text: str, *calls: tuple[str, str]) -> tuple[Block, ...]:
    """What a model emits: reasoning where the API has it, text, calls as `(name, arguments)`."""
    dialect = loop.dialect
    at = f"{dialect.name}/{loop.name}/{seed}"
    blocks: list[Block] = []
    if dialect.thinks:
        blocks.append(
            Thinking("What is left to do follows from the last result.", signature(at), dialect.thinking_id(at))
        )
    if text:
        blocks.append(Text(text, dialect.text_id(at)))
    for number, (name, arguments) in enumerate(calls):
        where = f"{at}/{number}"
        blocks.append(Call(dialect.call_id(where, name), name, arguments, None, dialect.item_id(where)))
    return tuple(blocks)


def answered(step: Step, *texts: str, error: bool = False) -> Step:
    """The step with a result for each of its calls."""
    step.results = tuple(Result(c.id, c.name, text, error) for c, text in zip(step.calls, texts, strict=True))
    return step


def first_call(step: Step) -> Call:
    return step.calls[0]


def with_arguments(step: Step, **changes: Any) -> str:
    """The arguments of a step's first call with some changed; None leaves one out."""
    values: Json = json.loads(first_call(step).arguments) | changes
    return json.dumps({k: v for k, v in values.items() if v is not None}, ensure_ascii=False)


def corrected(loop: Loop, place: int, name: str, arguments: str, seen: str) -> int:
    """The model first makes a faulty call, gets an error result, and then makes the call of the story."""
    calm = loop.steps[place]
    text = next((b.text for b in calm.blocks if isinstance(b, Text)), "")
    wrong = Step(say(loop, f"wrong{place}", text, (name, arguments)))
    loop.steps.insert(place, answered(wrong, seen, error=True))
    loop.steps[place + 1] = replace(calm, blocks=reworded(loop, calm.blocks, "I will fix the call."))
    return place


def reworded(loop: Loop, blocks: tuple[Block, ...], text: str) -> tuple[Block, ...]:
    return tuple(replace(b, text=text) if isinstance(b, Text) else b for b in blocks)


def ends(loop: Loop, place: int) -> int:
    """Nothing comes after this step."""
    del loop.steps[place + 1 :]
    loop.steps[place].results = ()
    loop.steps[place].says = None
    return place


def cut_text(share: float) -> Callable[[tuple[Block, ...]], tuple[Block, ...]]:
    """Only the beginning of the text, ending inside a word."""

    def passes(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        return tuple(
            replace(b, text=_inside_a_word(b.text, int(len(b.text) * share))) if isinstance(b, Text) else b
            for b in blocks
            if not isinstance(b, Call)
        )

    return passes


def _inside_a_word(text: str, size: int) -> str:
    while not text[size - 1].isalpha() or not text[size].isalpha():
        size -= 1
    return text[:size]


def cut_call(loop: Loop, *, unterminated: bool) -> Callable[[tuple[Block, ...]], tuple[Block, ...]]:
    """Only the beginning of the last call's arguments: broken JSON, or an object that lacks what came later."""

    def passes(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        *rest, last = blocks
        assert isinstance(last, Call)
        values: Json = json.loads(last.arguments)
        first = next(iter(values))
        short = last.arguments[: len(last.arguments) * 2 // 3]
        return (*rest, replace(last, arguments=short if unterminated else json.dumps({first: values[first]})))

    return passes


def without_calls(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple(block for block in blocks if not isinstance(block, Call))


def spending(output: int) -> Callable[[Tokens], Tokens]:
    """The answer cost this many tokens."""
    return lambda tokens: replace(tokens, output=output)


def in_answer(edit: Callable[[Json], None]) -> dict[str, Any]:
    """The edit of every JSON object of an answer, streamed or not, as fields of a step."""

    def events(stream: list[Event]) -> list[Event]:
        for _, value in stream:
            if isinstance(value, dict):
                edit(cast(Json, value))
        return stream

    return {"edit_answer": (edit,), "edit_events": (events,)}


def everywhere(value: Any, key: str, change: Callable[[Any], Any]) -> None:
    """Change the value of a key, at any depth."""
    if isinstance(value, dict):
        fields = cast(Json, value)
        for name, inner in fields.items():
            if name == key and inner is not None:
                fields[name] = change(inner)
            else:
                everywhere(inner, key, change)
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            everywhere(inner, key, change)


def put(step: Step, **values: Any) -> Step:
    """The step with some fields set."""
    for name, value in values.items():
        setattr(step, name, value)
    return step


def attempts(loop: Loop, place: int, failed: Failed, *gaps: float) -> tuple[int, ...]:
    """The request of a step fails again and again, and then the agent gives up."""
    del loop.steps[place + 1 :]
    ask = dict(loop.steps[place].ask)
    first = loop.steps[place]
    put(first, failed=failed, results=(), says=None)
    for gap in gaps:
        loop.steps.append(Step((), gap=gap, failed=failed, ask=dict(ask)))
    return tuple(range(place, place + 1 + len(gaps)))


def rejected(loop: Loop, place: int, message: str, **fields: Any) -> int:
    """The API refuses the request of this step with 400, and the agent stops."""
    step = loop.steps[place]
    step.failed = Failed(400, message, **fields)
    return ends(loop, place)


def rewriting(change: Callable[[Message], Message | None]) -> Rewrite:
    """A rewrite that looks at each message; None drops it."""

    def rewrite(history: list[Message]) -> list[Message]:
        return [kept for message in history if (kept := change(message)) is not None]

    return rewrite


def on_answer(loop: Loop, place: int, change: Callable[[tuple[Block, ...]], tuple[Block, ...]]) -> int:
    """The client's copy of a step's answer is other than the answer, from the next request on."""
    blocks = loop.steps[place].blocks

    def edit(message: Message) -> Message:
        return Message(message.role, change(blocks)) if message.blocks is blocks else message

    loop.steps[place + 1].rewrite = rewriting(edit)
    return place + 1


def gone(which: Callable[[Message], bool]) -> Rewrite:
    """A rewrite that drops messages."""
    return rewriting(lambda message: None if which(message) else message)


def results_of(step: Step) -> list[Result]:
    return [block for block in step.results if isinstance(block, Result)]
