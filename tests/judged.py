"""What the rules say of round trips, and round trips of several APIs in a line each, for tests of the rules."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import orjson
from conversations import HELLO, START, chat, result, said
from round_trips import GEMINI, MESSAGES, exchanged
from tool_wire import confirmed

from turntape.cassettes.tape.command_end import CommandEnd
from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.findings.docs import NAMING
from turntape.inspector.findings.memory import RunMemory, ThreadMemory
from turntape.inspector.findings.rule_context import RuleContext
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read

RESPONSES = "https://api.openai.com/v1/responses"
OLLAMA = "http://127.0.0.1:11434/api/chat"
CONVERSE = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5/converse"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
LOOK_UP = {"name": "look_up", "description": "Look a word up.", "input_schema": SCHEMA}
FUNCTION = {"type": "function", "name": "look_up", "description": "Look a word up.", "parameters": SCHEMA}
DECLARED = {"functionDeclarations": [{"name": "look_up", "description": "Look a word up.", "parameters": SCHEMA}]}


@dataclass(frozen=True)
class Said:
    """A finding, and the number of its round trip."""

    at: int
    id: str
    layer: str
    severity: str
    tier: str
    message: str
    because_of: tuple[str, ...]


@contextmanager
def no_rule_raises() -> Iterator[None]:
    """Fails when a rule of ours raised: the product only logs it and leaves the rule's findings out."""
    raised: list[str] = []

    class Raised(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raised.append(record.getMessage())

    handler, engine = Raised(), logging.getLogger("turntape.inspector.findings.engine")
    engine.addHandler(handler)
    try:
        yield
    finally:
        engine.removeHandler(handler)
    assert [message for message in raised if "(turntape." in message] == []


class Ended(list[RoundTrip]):
    """The round trips of a command, and how it ended after them."""

    def __init__(self, *trips: RoundTrip, **end: Any) -> None:
        super().__init__(trips)
        self.end = CommandEnd(trips[-1].started_at + 60, **end)


def findings(
    trips: Sequence[RoundTrip], hints: bool, advice: bool, end: CommandEnd | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of each round trip and its findings as JSON, in order."""
    with no_rule_raises():
        labelled = label_all(confirmed(trips), hints=hints, advice=advice, command_end=end)
    for done in labelled:
        for one in list[Any](done.label["findings"]):  # pyright: ignore[reportArgumentType]
            first = one["id"].partition("-")[0]
            assert first not in NAMING or first == one["layer"], "an id that begins with a layer blames that layer"
            yield done.round_trip.index, one


def judged(*trips: RoundTrip, hints: bool = False, advice: bool = False, end: CommandEnd | None = None) -> list[Said]:
    """Every finding, in order."""
    return [
        Said(at, one["id"], one["layer"], one["severity"], one["tier"], one["message"], tuple(one["because_of"]))
        for at, one in findings(trips, hints, advice, end)
    ]


def lines(*trips: RoundTrip, only: str = "", hints: bool = False, advice: bool = False) -> list[str]:
    """Every finding as a line: where, what, whose, its message, its evidence, and what it is because of.

    `only` is the beginning of the ids that are wanted.
    """
    reported: list[str] = []
    for at, one in findings(trips, hints, advice):
        cause = f" | because of {', '.join(one['because_of'])}" if one["because_of"] else ""
        if one["id"].startswith(only):
            head = f"#{at} {one['id']} ({one['layer']}, {one['severity']}, {one['tier']})"
            reported.append(f"{head}: {one['message']} | {', '.join(one['evidence'])}{cause}")
    return reported


def context_of(one: RoundTrip, **fields: Any) -> RuleContext:
    """What a rule is given about a first turn, with these fields."""
    made: dict[str, Any] = {"thread": ThreadMemory(), "run": RunMemory()}
    return RuleContext(Threads().add(one, read(one)), **(made | fields))


def ids(*trips: RoundTrip, hints: bool = False, advice: bool = False) -> set[str]:
    """The classes that were found."""
    return {one.id for one in judged(*trips, hints=hints, advice=advice)}


def only(identity: str, *trips: RoundTrip, hints: bool = False, advice: bool = False) -> Said:
    """The one finding of that class."""
    [one] = [f for f in judged(*trips, hints=hints, advice=advice) if f.id == identity]
    return one


def with_answer(one: RoundTrip, **fields: Any) -> RoundTrip:
    """The round trip with these fields in its answer."""
    assert one.response is not None
    body = orjson.dumps(orjson.loads(one.response.body) | fields)
    return replace(one, response=replace(one.response, content=body, chunks=()))


def at_host(one: RoundTrip, url: str, upstream: str | None = None) -> RoundTrip:
    """The round trip as one with this address."""
    return replace(one, request=replace(one.request, url=url), upstream=upstream)


def trip(url: str, asked: object, answer: object, index: int = 0, at: float | None = None, **more: Any) -> RoundTrip:
    """One round trip, in its place."""
    started = START + (index if at is None else at)
    times: dict[str, Any] = {"request_at": 1_000, "first_byte_at": 200_000, "ended_at": 250_000}
    return replace(exchanged(url, asked, answer, **more), index=index, started_at=started, **times)


def emitted(name: str = "look_up", arguments: str = '{"word":"tape"}', **fields: Any) -> RoundTrip:
    """A round trip whose answer makes one call."""
    return chat([HELLO], said(None, ("call_1", name, arguments)), **fields)


def anthropic(
    messages: Sequence[dict[str, Any]],
    content: Sequence[dict[str, Any]] | None = None,
    index: int = 0,
    *,
    stop: str | None = None,
    tools: Sequence[dict[str, Any]] = (LOOK_UP,),
    usage: dict[str, int] | None = None,
    error: str | None = None,
    status: int = 400,
    at: float | None = None,
    **fields: Any,
) -> RoundTrip:
    """One turn of Anthropic's API."""
    asked = {"model": "claude-sonnet-4-5", "max_tokens": 1000, "messages": list(messages), **fields}
    asked |= {"tools": list(tools)} if tools else {}
    if error is not None:
        body: dict[str, Any] = {"type": "error", "error": {"type": "invalid_request_error", "message": error}}
        return trip(MESSAGES, asked, body, index, at, status=status)
    blocks = list(content or ())
    called = any(block["type"] == "tool_use" for block in blocks)
    answer = {
        "id": f"msg_{index}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": blocks,
        "stop_reason": stop or ("tool_use" if called else "end_turn"),
        "usage": {"input_tokens": 100, "output_tokens": 10, **(usage or {})},
    }
    return trip(MESSAGES, asked, answer, index, at)


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def use(call_id: str = "toolu_1", word: str = "tape", name: str = "look_up") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"word": word}}


def given(call_id: str = "toolu_1", text: str = "a strip", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text, **more}


def asked(*blocks: dict[str, Any] | str) -> dict[str, Any]:
    return {"role": "user", "content": [words(b) if isinstance(b, str) else b for b in blocks]}


def spoke(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def converse(results: list[Any], status: str = "error") -> RoundTrip:
    """A Converse request with the result of a call: the pieces of its content, and its status."""
    called = {"toolUse": {"toolUseId": "t1", "name": "look_up", "input": {}}}
    answered = {"toolResult": {"toolUseId": "t1", "status": status, "content": results}}
    messages = [
        {"role": "user", "content": [{"text": "hi"}]},
        {"role": "assistant", "content": [called]},
        {"role": "user", "content": [answered]},
    ]
    tools = [{"toolSpec": {"name": "look_up", "inputSchema": {"json": {"type": "object"}}}}]
    answer = {"output": {"message": {"role": "assistant", "content": [{"text": "x"}]}}, "stopReason": "end_turn",
              "usage": {"inputTokens": 5, "outputTokens": 5, "totalTokens": 10}}  # fmt: skip
    return trip(CONVERSE, {"messages": messages, "toolConfig": {"tools": tools}}, answer)


def gemini(
    contents: Sequence[dict[str, Any]], parts: Sequence[dict[str, Any]], index: int = 0, *, finish: str = "STOP",
    **more: Any,
) -> RoundTrip:  # fmt: skip
    """One turn of Gemini's API."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
    answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3", **more}
    return trip(GEMINI, {"contents": list(contents), "tools": [DECLARED]}, answer, index)


def turn(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def calls(word: str = "tape", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": "look_up", "args": {"word": word}}, **more}


def gives(text: str = "a strip", name: str = "look_up") -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": text}}}


def responses(
    items: Sequence[dict[str, Any]], output: Sequence[dict[str, Any]] | None, index: int = 0, *,
    error: dict[str, Any] | None = None, **fields: Any,
) -> RoundTrip:  # fmt: skip
    """One turn of the Responses API."""
    body = {"model": "gpt-5.1", "input": list(items), "tools": [FUNCTION], **fields}
    if error is not None:
        return trip(RESPONSES, body, {"error": error}, index, status=400)
    answer = {
        "id": f"resp_{index}", "object": "response", "status": "completed", "model": "gpt-5.1-2025-11-13",
        "output": list(output or ()),
        "usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110},
    }  # fmt: skip
    return trip(RESPONSES, body, answer, index)


def item_call(call_id: str = "call_1", word: str = "tape") -> dict[str, Any]:
    arguments = f'{{"word":"{word}"}}'
    return {"id": f"fc_{call_id}", "type": "function_call", "status": "completed", "call_id": call_id,
            "name": "look_up", "arguments": arguments}  # fmt: skip


def item_output(call_id: str = "call_1", text: str = "a strip") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def steps(count: int, *, answer: str = "a strip", word: str | None = "tape") -> list[RoundTrip]:
    """A chat loop with this many calls, each with its own id; the same word each time, or another each time."""
    history: list[dict[str, Any]] = [HELLO]
    trips: list[RoundTrip] = []
    for n in range(count):
        call = said(None, (f"call_{n}", "look_up", f'{{"word":"{word or n}"}}'))
        trips.append(chat(history, call, index=n))
        history = [*history, call, result(f"call_{n}", answer if word else f"{answer} {n}")]
    return trips


def again(trips: Sequence[RoundTrip]) -> list[RoundTrip]:
    """The same requests, numbered in this order."""
    return [replace(one, index=n) for n, one in enumerate(trips)]
