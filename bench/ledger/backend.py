"""A scripted LLM API with its own tokenizer: it counts what it is sent, and keeps the truth of each piece.

It renders a prompt as real ones do: hidden text, tools, system prompt, messages with roles around them, blocks with
marks. A piece has the tokens of its text and of what is around it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from bench.faults.dialects import Dialect
from bench.faults.dialects.dialect import compact, parsed
from bench.faults.pieces import Answer, Ask, Block, Call, Message, Result, Text, Thinking, Tokens
from turntape.cassettes.tape.model import Chunk, Request, Response, RoundTrip

from .talk import Talk
from .tokenizers import Count

BEGINS_ANSWER = 3
"""Tokens at the end of a prompt that begin the answer."""
GRID, LEAST = 128, 1024


@dataclass(frozen=True, slots=True)
class Backend:
    """How one API renders and caches prompts."""

    dialect: Dialect
    count: Count
    hidden: int = 0
    """Tokens of a text that nobody sees, in front of the tools."""
    role: int = 4
    """Tokens around a message, and around each block and each tool."""
    block: int = 2
    answer: int | None = None
    """Tokens around an answer; None when they are those around any message."""
    apart: bool = False
    """True when each result is a separate message."""
    keeps_reasoning: bool = True
    states_reasoning: bool = True
    """False when its counts do not say how much of an answer is reasoning."""
    renders_calls: bool = False
    """True when it writes the calls of the history in another way than the model did."""
    more_in_results: int = 0
    """So many tokens more are around each result than around another block, and as many fewer around each call of the
    history. As every call has its result, no count shows it."""
    marks: bool = False
    """True when it caches up to marks, else in blocks of `GRID` where the dialect caches."""
    shows: bool = True
    """False when its answers do not say what it cached."""


@dataclass(slots=True)
class Served:
    """A run against a backend, and its truth."""

    trips: list[RoundTrip] = field(default_factory=list[RoundTrip])
    truths: list[list[int]] = field(default_factory=list[list[int]])
    """By turn, the tokens of each piece of the prompt in order."""
    tokens: list[Tokens] = field(default_factory=list[Tokens])
    anchors: list[list[tuple[int, int]]] = field(default_factory=list[list[tuple[int, int]]])
    """By turn, for each place of a mark in the prompt the tokens up to it."""


def served(backend: Backend, talk: Talk, name: str) -> Served:
    """Every turn of a run, as a tape holds it."""
    made, history = Served(), list[Message]()
    warm: dict[int, tuple[int, ...]] = {}
    previous, held = None, 0
    for number, turn in enumerate(talk.turns):
        history += turn.sent
        dialect = backend.dialect
        stateful = {"previous": previous, "held": held} if dialect.stateful else {}
        ask = Ask(dialect.model, talk.system, talk.tools, list(history), False, **stateful)
        pieces = list(_pieces(backend, talk, history))
        total = backend.hidden + sum(pieces) + BEGINS_ANSWER
        sums = list(accumulate(pieces, initial=backend.hidden))
        marks = [len(talk.tools) + 1, len(pieces)]
        cached, written = _cached(backend, pieces, sums, marks, warm, total)
        output = sum(_answered(backend, block) for block in turn.answer) + 1
        thought = sum(_answered(backend, block) for block in turn.answer if isinstance(block, Thinking))
        tokens = Tokens(total, cached, written, output, thought if backend.states_reasoning else 0)
        identity = dialect.answer_id(f"{name}/{number}")
        finish = "calls" if any(isinstance(block, Call) for block in turn.answer) else "stop"
        answer = Answer(identity, dialect.served or dialect.model, turn.answer, finish, tokens)
        made.trips.append(_trip(dialect, ask, answer, number))
        made.truths.append(pieces)
        made.tokens.append(tokens)
        made.anchors.append([(mark, sums[mark]) for mark in marks])
        history.append(Message("assistant", turn.answer))
        previous, held = identity, len(history)
    return made


def _pieces(backend: Backend, talk: Talk, history: list[Message]) -> Iterator[int]:
    """The tokens of each piece of a prompt, with what is around it."""
    for tool in talk.tools:
        fields = compact({"name": tool.name, "description": tool.description, "parameters": tool.schema})
        yield backend.count(fields) + backend.role + backend.block
    yield backend.count(talk.system) + backend.role
    for message in history:
        around = backend.role
        if message.role == "assistant" and backend.answer is not None:
            around = backend.answer
        signed = any(isinstance(block, Call) and block.signature for block in message.blocks)
        thought = 0
        for block in message.blocks:
            if isinstance(block, Thinking) and backend.dialect.upstream == "gemini":
                # Such a thought comes back as the signature of a call, or not at all.
                thought = _sent(backend, block) if signed else 0
                continue
            behind = thought if isinstance(block, Call) and block.signature else 0
            yield _sent(backend, block) + backend.block + around + behind + _moved(backend, block)
            around = backend.role if backend.apart and message.role == "results" else 0


def _moved(backend: Backend, block: Block) -> int:
    match block:
        case Call():
            return -backend.more_in_results
        case Result():
            return backend.more_in_results
        case _:
            return 0


def _sent(backend: Backend, block: Block) -> int:
    """The tokens of a block in a prompt."""
    match block:
        case Thinking():
            return backend.count(block.text) if backend.keeps_reasoning else 0
        case Call():
            if backend.renders_calls:
                return backend.count(f"{block.name}({compact(parsed(block.arguments))})")
            return backend.count(f'{{"name": "{block.name}", "arguments": {block.arguments}}}')
        case Result() | Text():
            return backend.count(block.text)
        case _:
            raise TypeError(block)


def _answered(backend: Backend, block: Block) -> int:
    """The tokens of a block as the model wrote it."""
    if isinstance(block, Thinking):
        return backend.count(block.text)
    if isinstance(block, Call):
        return backend.count(f'{{"name": "{block.name}", "arguments": {block.arguments}}}') + backend.block
    return _sent(backend, block) + backend.block


def _cached(
    backend: Backend,
    pieces: list[int],
    sums: list[int],
    marks: list[int],
    warm: dict[int, tuple[int, ...]],
    total: int,
) -> tuple[int, int]:
    """What the cache has of this prompt, and what it takes of it."""
    if not backend.dialect.caches or not backend.shows:
        return 0, 0
    if not backend.marks:
        common = max((sums[length] for length, prompt in warm.items() if tuple(pieces[:length]) == prompt), default=0)
        warm[len(pieces)] = tuple(pieces)
        return (common // GRID * GRID if common >= LEAST else 0), 0
    read = max((sums[length] for length, prompt in warm.items() if tuple(pieces[:length]) == prompt), default=0)
    ends = [mark for mark in marks if sums[mark] >= LEAST]
    for mark in ends:
        warm[mark] = tuple(pieces[:mark])
    return read, max(0, max((sums[mark] for mark in ends), default=0) - read)


def _trip(dialect: Dialect, ask: Ask, answer: Answer, number: int) -> RoundTrip:
    body = compact(dialect.body(ask)).encode()
    headers = (("content-type", "application/json"), *dialect.request_headers(ask))
    data = dialect.written(dialect.whole(ask, answer))
    response = Response(200, "OK", (("content-type", "application/json"),), data, (Chunk(len(data), 900_000),))
    request = Request("POST", dialect.url(ask), headers, body)
    return RoundTrip(
        request,
        response,
        1_780_000_000.0 + 20 * number,
        index=number,
        request_at=900,
        first_byte_at=800_000,
        ended_at=900_000,
        route="base_url",
        upstream=dialect.upstream,
    )
