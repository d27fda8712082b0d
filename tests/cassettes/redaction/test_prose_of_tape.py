"""A recording without its prose: no word is left, it reads as before, and it replays for the original prompts."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import round_trip

from turntape.cassettes import Cassette, CassetteError, Player, Recorder, Redactor, ReplayTransport, RoundTrip
from turntape.cassettes.redaction.scrub import scrub
from turntape.cassettes.replay.miss import Miss
from turntape.cassettes.tape.model import Chunk, Failure, Frame, Response
from turntape.inspector.run.labels import Labeller

SYSTEM = "Never mention the blue heron contract to anybody."
ASKED = "Where does “Zoë” keep her seven secret ledgers 😀?"
THOUGHT = "The user wants to know about hidden ledgers today."
SAID = "Let me look into the old\nboat house, naïve as it sounds."
PLACE = "the old boat house"
FOUND = '{"report": "three dusty ledgers under the floor", "count": 3}'
AGAIN = "Seven ledgers lie under the wooden floor boards."
DESCRIPTION = "Search the named building for hidden things."
ALL = (SYSTEM, ASKED, THOUGHT, SAID, PLACE, FOUND, AGAIN, DESCRIPTION)
SCHEMA = {
    "type": "object",
    "properties": {"place": {"type": "string", "description": "Name the house or barn here."}},
    "required": ["place"],
}
ARGUMENTS = json.dumps({"place": PLACE})


def sse(*events: dict[str, Any], named: bool = False) -> bytes:
    lines = [f"event: {event['type']}\n" if named else "" for event in events]
    return "".join(
        f"{name}data: {json.dumps(event, ensure_ascii=number % 2 == 0)}\n\n"
        for number, (name, event) in enumerate(zip(lines, events, strict=True))
    ).encode()


def pieces(text: str) -> list[str]:
    return [text[at : at + 5] for at in range(0, len(text), 5)]


def chat(streamed: bool) -> Iterator[tuple[str, Any, bytes]]:
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": ARGUMENTS}}
    tools = [{"type": "function", "function": {"name": "search", "description": DESCRIPTION, "parameters": SCHEMA}}]
    first = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": [{"type": "text", "text": ASKED}]}]
    answered = {"role": "assistant", "content": SAID, "tool_calls": [call]}
    second = [*first, answered, {"role": "tool", "tool_call_id": "call_1", "content": FOUND}]
    url = "https://api.openai.com/v1/chat/completions"
    usage = {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99}

    def chunk(delta: Any, finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "c1", "object": "chat.completion.chunk", "model": "gpt-5", "choices": [choice]}

    if streamed:
        said = [chunk({"content": piece}) for piece in pieces(SAID)]
        said.append(chunk({"tool_calls": [{"index": 0, **call, "function": {"name": "search", "arguments": ""}}]}))
        for piece in pieces(ARGUMENTS):
            said.append(chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}))
        one = sse(*said, chunk({}, "tool_calls")) + b"data: [DONE]\n\n"
        two = sse(*[chunk({"content": piece}) for piece in pieces(AGAIN)], chunk({}, "stop")) + b"data: [DONE]\n\n"
    else:
        end: Any = {"id": "c1", "object": "chat.completion", "model": "gpt-5", "usage": usage}
        one = json.dumps(end | {"choices": [{"index": 0, "message": answered, "finish_reason": "tool_calls"}]}).encode()
        message = {"role": "assistant", "content": AGAIN}
        two = json.dumps(end | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    base = {"model": "gpt-5", "stream": streamed, "tools": tools}
    yield url, base | {"messages": first}, one
    yield url, base | {"messages": second}, two


def anthropic(streamed: bool) -> Iterator[tuple[str, Any, bytes]]:
    url = "https://api.anthropic.com/v1/messages"
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": THOUGHT, "signature": "EqQBCkYIBxgCKkB+/aB=="},
        {"type": "text", "text": SAID},
        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"place": PLACE}},
    ]
    usage = {"input_tokens": 50, "output_tokens": 7}
    head = {"id": "m1", "type": "message", "role": "assistant", "model": "claude-x", "usage": usage}

    def stream(blocks: list[dict[str, Any]], stop: str) -> bytes:
        events: list[dict[str, Any]] = [{"type": "message_start", "message": head | {"content": []}}]
        for at, block in enumerate(blocks):
            field = {"thinking": "thinking", "text": "text", "tool_use": "input"}[block["type"]]
            kind = {"thinking": "thinking_delta", "text": "text_delta", "tool_use": "input_json_delta"}[block["type"]]
            text = json.dumps(block["input"]) if field == "input" else block[field]
            name = "partial_json" if field == "input" else field
            empty: Any = {} if field == "input" else ""
            events.append({"type": "content_block_start", "index": at, "content_block": block | {field: empty}})
            for piece in pieces(text):
                events.append({"type": "content_block_delta", "index": at, "delta": {"type": kind, name: piece}})
            events.append({"type": "content_block_stop", "index": at})
        events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 7}})
        return sse(*events, {"type": "message_stop"}, named=True)

    def whole(blocks: list[dict[str, Any]], stop: str) -> bytes:
        return json.dumps(head | {"content": blocks, "stop_reason": stop}).encode()

    base: Any = {"model": "claude-x", "max_tokens": 99, "stream": streamed, "system": SYSTEM}
    base["tools"] = [{"name": "search", "description": DESCRIPTION, "input_schema": SCHEMA}]
    made = stream if streamed else whole
    first = [{"role": "user", "content": ASKED}]
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": FOUND}
    second = [*first, {"role": "assistant", "content": blocks}, {"role": "user", "content": [result]}]
    yield url, base | {"messages": first}, made(blocks, "tool_use")
    yield url, base | {"messages": second}, made([{"type": "text", "text": AGAIN}], "end_turn")


def responses(streamed: bool) -> Iterator[tuple[str, Any, bytes]]:
    url = "https://api.openai.com/v1/responses"
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    item["content"] = [{"type": "output_text", "text": SAID, "annotations": []}]  # type: ignore[assignment]
    whole = {"id": "resp_1", "object": "response", "model": "gpt-5", "status": "completed", "output": [item]}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": whole | {"output": []}}]
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events += [{"type": "response.output_text.delta", **at, "delta": piece} for piece in pieces(SAID)]
    events += [{"type": "response.output_text.done", **at, "text": SAID}]
    events += [{"type": "response.completed", "response": whole}]
    given = {"model": "gpt-5", "stream": streamed, "instructions": SYSTEM}
    yield url, given | {"input": ASKED}, sse(*events, named=True) if streamed else json.dumps(whole).encode()


def gemini(streamed: bool) -> Iterator[tuple[str, Any, bytes]]:
    method = "streamGenerateContent?alt=sse" if streamed else "generateContent"
    url = f"https://generativelanguage.googleapis.com/v1beta/models/gemini-flash-latest-preview:{method}"
    call = {"functionCall": {"name": "search", "args": {"place": PLACE}}}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 6, "totalTokenCount": 11}

    def answer(parts: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": finish}
        return {"candidates": [candidate], "modelVersion": "gemini-flash", "usageMetadata": usage}

    thought = {"text": THOUGHT, "thought": True}
    if streamed:
        texts = [answer([{"text": piece, "thought": True}]) for piece in pieces(THOUGHT)]
        texts += [answer([{"text": piece}]) for piece in pieces(SAID)]
        one = sse(*texts, answer([call], "STOP"))
    else:
        one = json.dumps(answer([thought, {"text": SAID}, call], "STOP")).encode()
    first = [{"role": "user", "parts": [{"text": ASKED}]}]
    base = {"systemInstruction": {"parts": [{"text": SYSTEM}]}, "contents": first}
    yield url, base, one


def ollama(streamed: bool) -> Iterator[tuple[str, Any, bytes]]:
    lines = [
        {"model": "q", "message": {"role": "assistant", "content": piece}, "done": False} for piece in pieces(SAID)
    ]
    last = {"model": "q", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    whole = last | {"message": {"role": "assistant", "content": SAID}}
    body = b"".join(json.dumps(line).encode() + b"\n" for line in [*lines, last])
    given = {"model": "q", "stream": streamed, "messages": [{"role": "user", "content": ASKED}]}
    yield "http://localhost:11434/api/chat", given, body if streamed else json.dumps(whole).encode()


def converse(streamed: bool) -> Iterator[tuple[str, Any, bytes]]:
    assert not streamed
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse"
    content = [{"text": SAID}, {"toolUse": {"toolUseId": "t1", "name": "search", "input": {"place": PLACE}}}]
    answer = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use"}
    given = {"system": [{"text": SYSTEM}], "messages": [{"role": "user", "content": [{"text": ASKED}]}]}
    yield url, given, json.dumps(answer).encode()


CASES = [
    *((made, streamed) for made in (chat, anthropic, responses, gemini, ollama) for streamed in (False, True)),
    (converse, False),
]


def recorded(path: Path, exchanges: Iterator[tuple[str, Any, bytes]]) -> list[RoundTrip]:
    with Recorder(path, redactor=Redactor(salt="5a17"), durable=False) as recorder:
        for number, (url, given, answer) in enumerate(exchanges):
            kind = "text/event-stream" if answer[:1] in b"de" else "application/json"
            kind = "application/x-ndjson" if b"}\n{" in answer else kind
            response = Response(200, "OK", (("content-type", kind),), answer, (Chunk(len(answer), 9),))
            trip = round_trip(json.dumps(given, ensure_ascii=number == 0).encode(), None, url=url)
            recorder.write(RoundTrip(trip.request, response, trip.started_at + number, ended_at=9))
            recorder.label(number, {"index": number, "text": SAID})
    return list(Cassette.load(path))


def labels(trips: list[RoundTrip]) -> list[Any]:
    """The labels, with the lengths of texts and the ids of findings."""
    labeller = Labeller()
    found = [label for trip in trips for _, label in labeller.add(trip)] + [label for _, label in labeller.close()]
    assert len({json.dumps(label, default=str) for label in found}) >= len(trips)
    return [_lengths(json.loads(json.dumps(label, default=str)), "") for label in found]


def _lengths(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: _lengths(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_lengths(one, key) for one in value]
    return len(value) if key in ("text", "reasoning", "place", "arguments_raw", "message") and value else value


def runs(text: str) -> set[str]:
    words = re.findall(r"[^\W\d_]+", text)
    return {" ".join(words[at : at + 3]) for at in range(len(words) - 2)}


@pytest.mark.parametrize(("made", "streamed"), CASES)
def test_no_word_is_left_and_everything_else_stays(made: Any, streamed: bool, tmp_path: Path) -> None:
    old = recorded(tmp_path / "old.jsonl", made(streamed))

    scrub(tmp_path / "old.jsonl", tmp_path / "new.jsonl", prose=True)

    new = list(Cassette.load(tmp_path / "new.jsonl"))
    written = runs((tmp_path / "new.jsonl").read_text())
    spoken = "".join(json.dumps(label, default=str) for trip in [new] for label in labelled(trip))
    for planted in ALL:
        assert not runs(planted) & (written | runs(spoken)), planted
    assert labels(new) == labels(old)
    for before, after in zip(old, new, strict=True):
        assert before.response and after.response
        assert len(after.request.body) == len(before.request.body)
        assert len(after.response.body) == len(before.response.body)
        assert (after.response.chunks, after.request.url) == (before.response.chunks, before.request.url)


def labelled(trips: list[RoundTrip]) -> list[Any]:
    labeller = Labeller()
    return [label for trip in trips for _, label in labeller.add(trip)] + [label for _, label in labeller.close()]


@pytest.mark.parametrize(("made", "streamed"), CASES)
def test_the_original_requests_replay_and_another_misses(made: Any, streamed: bool, tmp_path: Path) -> None:
    recorded(tmp_path / "old.jsonl", made(streamed))
    scrub(tmp_path / "old.jsonl", tmp_path / "new.jsonl", prose=True)
    new = list(Cassette.load(tmp_path / "new.jsonl"))
    originals = list(made(streamed))

    with ReplayTransport(tmp_path / "new.jsonl") as replay, httpx.Client(transport=replay) as client:
        for (url, given, _), trip in zip(originals, new, strict=True):
            assert trip.response and client.post(url, json=given).content == trip.response.body
    player = Player(tmp_path / "new.jsonl")
    for trip in new:  # a client that sends the neutral answers back
        assert player.answer("POST", trip.request.url, (), trip.request.body).index == trip.index
    url, given, _ = originals[0]
    other = json.loads(json.dumps(given).replace("seven secret", "eight secret"))
    with pytest.raises(Miss):
        Player(tmp_path / "new.jsonl").answer("POST", url, (), json.dumps(other).encode())


def test_a_second_time_nothing_changes_and_nothing_can_be_added(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorded(path, chat(True))
    first = scrub(path, path, prose=True)
    once = path.read_bytes()

    again = scrub(path, path, prose=True)

    assert (first.changed, again.changed) == (2, 0) and path.read_bytes() == once
    assert Cassette.load(path).header["prose"] == 1
    with pytest.raises(CassetteError, match="the prose of .* was removed, so nothing can be added"):
        Recorder(path, append=True)


def test_a_replacement_of_a_newer_version_is_not_guessed(tmp_path: Path) -> None:
    recorded(tmp_path / "run.jsonl", chat(False))
    scrub(tmp_path / "run.jsonl", tmp_path / "run.jsonl", prose=True)
    text = (tmp_path / "run.jsonl").read_text()
    (tmp_path / "run.jsonl").write_text(text.replace('"prose":1', '"prose":2', 1))

    with pytest.raises(CassetteError, match="a newer turntape removed the prose"):
        Player(tmp_path / "run.jsonl")


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst"])
def test_no_word_is_left_beside_the_bodies(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.{suffix}"
    headers = (("content-type", "application/json"), ("x-note", PLACE), ("x-quoted", "the%20old%20boat+house"))
    trip = round_trip(b"", None, headers=headers, run=PLACE, failure=Failure("cut", PLACE), faults=(PLACE,))
    html = f"<h1>{PLACE}</h1>".encode()
    with Recorder(path, redactor=Redactor(salt="5a17", enabled=False), durable=False) as recorder:
        recorder.write(replace(trip, response=Response(502, PLACE, headers, html, trailers=headers)))
        recorder.write(replace(trip, response=Response(429, "Too Many Requests", (), b'{"error":"the old boat"}')))

    scrub(path, path, prose=True)

    first, second = Cassette.load(path)
    assert not re.search("old|boat|house", repr(first) + repr(second))
    assert first.response and first.response.headers[0] == headers[0] and first.response.body.startswith(b"<")
    assert second.response and second.response.reason == "Too Many Requests"


@pytest.mark.parametrize("line", ['{"tool_server":"s1","command":["words"]}', '{"n":'])
def test_another_line_is_refused(line: str, tmp_path: Path) -> None:
    recorded(tmp_path / "run.jsonl", chat(False))
    with (tmp_path / "run.jsonl").open("a") as file:
        file.write(line + "\n")

    with pytest.raises(CassetteError, match="the prose of line 6 cannot be removed: it is neither a round trip"):
        scrub(tmp_path / "run.jsonl", tmp_path / "new.jsonl", prose=True)
    assert not (tmp_path / "new.jsonl").exists()


EVENT = b'data: {"choices":[{"delta":{"content":"words that are here"}}]}\n\n'


@pytest.mark.parametrize(
    ("answer", "fields", "reason"),
    [
        (b'{"choices":[{"logprobs":{"content":[{"bytes":[72, 105]}]}}]}', {}, "it has words as lists of numbers"),
        (EVENT + b": keep these words alive\n\n", {}, "its stream has text outside of its events"),
        (b'data: {"content":\ndata: "two lines of words"}\n\n', {}, "an event of its stream is written over"),
        (b"data: words that are here\n\n", {}, "a body of it is not JSON"),
        (b"\xff\xfe\x00words", {}, "a body of it is not text"),
        (b"{}", {"url": "https://h.test/v1/x?q=words+that+are"}, "its URL has words"),
        (b"{}", {"frames": (Frame("client", 1, b"words", True),)}, "it is a WebSocket session"),
        (b"{}", {"body": b'{"jsonrpc":"2.0","method":"ping"}'}, "it is an exchange with a tool server"),
        (b"{}", {"extra": {"note": "words that are here"}}, "it has fields that are not of the round trip"),
    ],
)
def test_what_cannot_be_done_safely_is_refused(answer: bytes, fields: Any, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Recorder(path, durable=False) as recorder:
        recorder.write(round_trip())
        recorder.write(round_trip(**({"body": b'{"a":"b"}', "answer": answer} | fields)))
    before = path.read_bytes()

    with pytest.raises(CassetteError, match=f"the prose of round trip 1 cannot be removed: {reason}"):
        scrub(path, path, prose=True)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
