"""Streams that mix two answers, in each protocol, and the names that change in healthy ones."""

from typing import Any

import pytest
from aws_frames import frame
from judged import CONVERSE, OLLAMA, RESPONSES
from round_trips import CHAT, GEMINI_STREAM, MESSAGES, exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.shared.piece_names import PieceNames, grow, second_message

MIXED = "Pieces of two answers are mixed: "
HELLO = {"role": "user", "content": "hi"}
MISTRAL = "https://api.mistral.ai/v1/chat/completions"
COHERE = "https://api.cohere.com/v2/chat"
STREAM = CONVERSE + "-stream"


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("aab", []),
        ("abc", []),
        ("aba", [MIXED + "the id changes from 'a' to 'b' and back."]),
        ("abcbab", [MIXED + "the id changes from 'b' to 'c' and back."]),
    ],
)
def test_only_a_name_that_comes_back_is_a_problem(names: str, found: list[str]) -> None:
    seen = PieceNames()
    for name in names:
        seen.add({"the id": name})

    assert seen.problems == found


def test_each_kind_of_name_counts_alone_and_a_missing_one_does_not() -> None:
    seen = PieceNames()
    for piece in ({"a": 1, "b": 2}, {"a": 2, "b": ""}, {"a": 3, "b": None}, {"a": 4, "b": 2}, {"a": 5, "b": [1]}):
        seen.add(piece)
    assert seen.problems == []
    seen.add({"a": 4})
    assert seen.problems == [MIXED + "a changes from 4 to 5 and back."]


def problems(url: str, asked: dict[str, Any], answer: bytes) -> tuple[str, ...]:
    return read(exchanged(url, asked, answer)).problems


def chat(*ids: str, url: str = CHAT, key: str = "id", delta: dict[str, Any] | None = None) -> tuple[str, ...]:
    """The problems of a stream whose pieces have these ids; the last but one has no text when `delta` is given."""
    base = {"id": "x", "object": "chat.completion.chunk", "model": "gpt-5", "created": 1}
    events: list[dict[str, Any]] = [
        {**base, key: name, "choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]}
        for name in ids
    ]
    if delta is not None:
        events[-2]["choices"][0]["delta"] = delta
    events.append({**base, key: ids[-1], "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return problems(url, {"model": "gpt-5", "messages": [HELLO], "stream": True}, sse(*events, done=True))


@pytest.mark.parametrize("url", [CHAT, MISTRAL], ids=["chat", "mistral"])
@pytest.mark.parametrize("key", ["id", "model", "created"])
def test_chat_pieces_of_two_answers(url: str, key: str) -> None:
    assert chat("a", "a", "b", "a", url=url, key=key) == (MIXED + f"the {key} changes from 'a' to 'b' and back.",)
    assert chat("a", "a", "b", "c", url=url, key=key) == ()


@pytest.mark.parametrize("delta", [{}, {"role": "assistant"}, {"role": "assistant", "content": ""}])
def test_a_piece_of_chat_that_says_nothing_is_of_no_answer(delta: dict[str, Any]) -> None:
    assert chat("a", "b", "a", delta=delta) == ()
    assert chat("a", "b", "a", delta={"tool_calls": [{"index": 0}]}) != ()


def gemini(key: str, *names: str, empty: bool = False) -> tuple[str, ...]:
    def parts(place: int) -> list[dict[str, Any]]:
        return [] if empty and place == len(names) - 2 else [{"text": "word "}]

    events = [
        {"responseId": "r", "modelVersion": "gemini-3", key: name, "candidates": [{"content": {"parts": parts(place)}}]}
        for place, name in enumerate(names)
    ]
    events[-1]["candidates"][0]["finishReason"] = "STOP"
    return problems(GEMINI_STREAM, {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, sse(*events))


@pytest.mark.parametrize("key", ["responseId", "modelVersion"])
def test_gemini_pieces_of_two_answers(key: str) -> None:
    assert gemini(key, "a", "b", "a") == (MIXED + f"the {key} changes from 'a' to 'b' and back.",)
    assert gemini(key, "a", "b", "a", empty=True) == ()
    assert gemini(key, "a", "a", "b") == ()


def ollama(*models: str, last: str = "m") -> tuple[str, ...]:
    lines = [{"model": name, "message": {"role": "assistant", "content": "w "}, "done": False} for name in models]
    lines.append({"model": last, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"})
    body = b"".join(sse(line)[6:-1] for line in lines)
    asked = {"model": "m", "messages": [HELLO]}
    return read(exchanged(OLLAMA, asked, body, content_type="application/x-ndjson")).problems


def test_ollama_lines_of_two_models() -> None:
    assert ollama("m", "n", "m") == (MIXED + "the model changes from 'm' to 'n' and back.",)
    assert ollama("n", "n") == ()
    assert ollama("m", "n") == (), "the last line says nothing of the model"


def responses(*ids: str, place: int = 0) -> tuple[str, ...]:
    """The problems of a stream whose pieces of text name these items; the last piece is of item `place`."""
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "word word word "}]}
    items = [{**text, "id": ids[0], "status": "completed"}]
    whole = {"id": "resp_1", "object": "response", "status": "completed", "model": "gpt-5", "output": items}
    pieces = [
        {"type": "response.output_text.delta", "item_id": name, "output_index": 0, "delta": "word "} for name in ids
    ]
    pieces[-1]["output_index"] = place
    begun = [{"type": "response.output_item.added", "output_index": 0, "item": {**text, "id": ids[0], "content": []}}]
    events = [*begun, *pieces, {"type": "response.completed", "response": {**whole, "output": []}}]
    return problems(RESPONSES, {"model": "gpt-5", "input": "hi", "stream": True}, sse(*events))


def test_responses_pieces_of_two_items_at_one_place() -> None:
    assert responses("a", "b", "a") == (MIXED + "the id of the item changes from 'a' to 'b' and back.",)
    assert responses("a", "b", "a", place=1) == ()
    assert responses("a", "b", "c") == (), "GitHub Copilot encrypts the id of each event again"


def anthropic(*events: dict[str, Any]) -> tuple[str, ...]:
    asked = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [HELLO], "stream": True}
    ends = [
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]
    return problems(MESSAGES, asked, sse(*events, *ends, names=True))


def begun(name: str | None) -> dict[str, Any]:
    message = {"type": "message", "role": "assistant", "content": [], "model": "claude-sonnet-4-5"}
    return {"type": "message_start", "message": {**message, "id": name}}


def block(index: int) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": "word"}}


def test_a_second_message_in_a_stream_of_anthropic() -> None:
    found = ("A second message begins in the stream: 'msg_2' after 'msg_1'.",)
    assert anthropic(begun("msg_1"), block(0), begun("msg_2"), block(1)) == found
    assert anthropic(begun("msg_1"), begun("msg_1"), block(0), block(1)) == (), "some gateways send the start twice"
    assert anthropic(begun("msg_1"), begun(None), block(0)) == ()
    assert anthropic(begun("msg_1"), block(0), block(0)) == ("Content block 0 begins a second time.",)


def converse(*names: str) -> tuple[str, ...]:
    payloads: dict[str, Any] = {
        "messageStart": {"role": "assistant"},
        "contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "word"}},
        "contentBlockStop": {"contentBlockIndex": 0},
        "messageStop": {"stopReason": "end_turn"},
    }
    asked = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    body = b"".join(frame(name, payloads[name]) for name in (*names, "contentBlockStop", "messageStop"))
    kind = "application/vnd.amazon.eventstream"
    return read(exchanged(STREAM, asked, body, content_type=kind)).problems


def test_a_second_message_in_a_stream_of_converse() -> None:
    found = ("A second message begins in the stream: 'messageStart' arrived 2 times.",)
    assert converse("messageStart", "contentBlockDelta", "messageStart", "contentBlockDelta") == found
    assert converse("messageStart", "contentBlockDelta", "contentBlockDelta") == ()


def cohere(*ids: str) -> tuple[str, ...]:
    starts = [{"type": "message-start", "id": name, "delta": {"message": {"role": "assistant"}}} for name in ids]
    text = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "word"}}}}
    events = [event for start in starts for event in (start, text)]
    end = {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}
    return problems(COHERE, {"model": "command-a", "messages": [HELLO], "stream": True}, sse(*events, end))


def test_a_second_message_in_a_stream_of_cohere() -> None:
    assert cohere("m1", "m2") == ("A second message begins in the stream: 'message-start' arrived 2 times.",)
    assert cohere("m1", "m1") == ()
    assert cohere("m1") == ()


def test_a_protocol_without_a_first_event_has_no_second_message() -> None:
    assert second_message([("", {}), ("", {})], "message-start") == []


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        (["A tape ", "A tape is a ", "A tape is a strip of plastic."], True),
        (["", "A tape ", "A tape is a ", "", "A tape is a strip of plastic."], True),
        (["A tape ", "A tape is a strip of plastic."], False),
        (["A tape ", "A tape is ", "A tape is a strip"], False),
        (["A tape ", "A tape is a ", "A tape is a strip ..."], True),
        (["A tape ", "A tape ", "A tape is a strip of plastic."], False),
        (["A tape ", "is a ", "A tape is a strip of plastic."], False),
    ],
    ids=["grows", "empty pieces", "two", "17 characters", "21 characters", "the same", "ends with all"],
)
def test_pieces_that_hold_all_pieces_before_them(pieces: list[str], found: bool) -> None:
    assert grow(pieces) is found


GROWING = ["A tape ", "A tape is a ", "A tape is a strip of plastic."]
REPEATS = "Each piece of the text repeats all pieces before it."


def test_chat_pieces_that_grow() -> None:
    base = {"id": "x", "object": "chat.completion.chunk", "model": "gpt-5"}

    def streamed(*deltas: dict[str, Any]) -> tuple[str, ...]:
        events = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        end = {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        return problems(CHAT, {"model": "gpt-5", "messages": [HELLO], "stream": True}, sse(*events, end, done=True))

    def piece(arguments: str) -> dict[str, Any]:
        function = {"name": "look_up", "arguments": arguments}
        return {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}

    assert streamed(*({"content": text} for text in GROWING)) == (REPEATS,)
    cumulative = ['{"word":', '{"word":"tape",', '{"word":"tape","count":2}']
    assert streamed(*map(piece, cumulative)) == ("Each piece of a call's arguments repeats all pieces before it.",)
    assert streamed(*map(piece, ['{"word":', '"tape",', '"count":2}'])) == ()


def test_gemini_and_ollama_pieces_that_grow() -> None:
    asked = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}

    def google(thought: bool) -> tuple[str, ...]:
        parts = [{"text": text, **({"thought": True} if thought else {})} for text in GROWING]
        events: list[dict[str, Any]] = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
        events[-1]["candidates"][0]["finishReason"] = "STOP"
        return problems(GEMINI_STREAM, asked, sse(*events))

    assert google(False) == (REPEATS,)
    assert google(True) == ()
    lines = [{"model": "m", "message": {"content": text}, "done": False} for text in GROWING]
    body = b"".join(sse(line)[6:-1] for line in [*lines, {"model": "m", "done": True, "done_reason": "stop"}])
    kind = "application/x-ndjson"
    assert read(exchanged(OLLAMA, {"model": "m", "messages": [HELLO]}, body, content_type=kind)).problems == (REPEATS,)


def test_anthropic_pieces_that_grow() -> None:
    def grown(kind: str, key: str, *pieces: str) -> tuple[str, ...]:
        deltas = [{"type": "content_block_delta", "index": 0, "delta": {"type": kind, key: text}} for text in pieces]
        first = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        return anthropic(begun("msg_1"), first, *deltas)

    found = ("Each piece of a content block repeats all pieces before it.",)
    assert grown("text_delta", "text", *GROWING) == found
    assert grown("input_json_delta", "partial_json", *GROWING) == found
    assert grown("text_delta", "text", "A tape ", "is a ", "strip of plastic.") == ()


def test_an_id_and_a_model_that_change_at_once_begin_a_second_answer() -> None:
    seen = PieceNames()
    seen.add({"the id": "a", "the model": "m", "the created": 1})
    seen.add({"the id": "b", "the model": "m", "the created": 2})
    assert seen.problems == []
    seen.add({"the id": "c", "the model": "n", "the created": 2})
    assert seen.problems == [
        "A second answer begins in the stream: the id changes from 'b' to 'c' and the model changes from 'm' to 'n'."
    ]


def test_a_name_that_appears_late_begins_nothing() -> None:
    seen = PieceNames()
    for names in ({"the id": "a"}, {"the id": "b", "the model": "m"}, {"the id": "c", "the model": None}):
        seen.add(names)

    assert seen.problems == []
