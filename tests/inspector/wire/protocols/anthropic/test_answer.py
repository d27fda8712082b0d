"""A stream of Anthropic Messages says what the whole message says, in whatever pieces it comes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from round_trips import MESSAGES, exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Emission, Reading

ASK: dict[str, Any] = {"model": "claude-x", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
HEAD: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "model": "claude-x-1"}
BLOCKS: tuple[dict[str, Any], ...] = (
    {"type": "thinking", "thinking": "Let me see.", "signature": "sealed"},
    {"type": "redacted_thinking", "data": "hidden"},
    {"type": "text", "text": "I look at Köln. "},
    {"type": "tool_use", "id": "t1", "name": "find", "input": {"city": "Köln", "days": [1, 2]}},
    {"type": "tool_use", "id": "t2", "name": "now", "input": {}},
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
    {"type": "text", "text": "Done.", "citations": [{"cited_text": "x"}]},
)
ENDED = {"type": "message_stop"}


def got(answer: Any, **settings: Any) -> Reading:
    return read(exchanged(MESSAGES, {**ASK, "stream": isinstance(answer, bytes)}, answer, **settings))


def stream(*events: dict[str, Any], names: bool = True) -> Reading:
    return got(sse(*events, names=names))


def start(**fields: Any) -> dict[str, Any]:
    return {"type": "message_start", "message": {**HEAD, "content": [], "stop_reason": None, **fields}}


def end(stop: str | None, **fields: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": stop}, **fields}


def pieces(block: dict[str, Any], size: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The block as it begins, and its deltas of at most `size` characters."""
    deltas: list[dict[str, Any]] = []
    begun = dict(block)
    for key, kind in (("thinking", "thinking_delta"), ("text", "text_delta"), ("signature", "signature_delta")):
        if isinstance(block.get(key), str):
            begun[key] = ""
            cuts = range(0, len(block[key]), size)
            deltas += [{"type": kind, key: block[key][at : at + size]} for at in cuts]
    if "input" in block:
        begun["input"], raw = {}, json.dumps(block["input"], ensure_ascii=False)
        deltas += [
            {"type": "input_json_delta", "partial_json": raw[at : at + size]}
            for at in (range(0, len(raw), size) if block["input"] else ())
        ]
    if "citations" in block:
        begun.pop("citations")
        deltas += [{"type": "citations_delta", "citation": one} for one in block["citations"]]
    yield begun, deltas


def streamed(size: int) -> list[dict[str, Any]]:
    events = [start(usage={"input_tokens": 7, "output_tokens": 1})]
    for index, block in enumerate(BLOCKS):
        for begun, deltas in pieces(block, size):
            events.append({"type": "content_block_start", "index": index, "content_block": begun})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
    return [*events, end("tool_use", usage={"output_tokens": 9}), ENDED]


def emitted(reading: Reading) -> Emission:
    assert reading.emission is not None
    return reading.emission


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("names", [True, False])
def test_a_stream_is_its_whole_message(size: int, names: bool) -> None:
    whole = got(
        {**HEAD, "content": BLOCKS, "stop_reason": "tool_use", "usage": {"input_tokens": 7, "output_tokens": 9}}
    )
    found = stream(*streamed(size), names=names)

    for reading in (whole, found):
        said = emitted(reading)
        assert (said.text, said.reasoning) == ("I look at Köln. Done.", "Let me see.")
        assert [(call.id, call.arguments, call.complete) for call in said.calls] == [
            ("t1", {"city": "Köln", "days": [1, 2]}, True),
            ("t2", {}, True),
        ]
        assert [call.name for call in said.server_calls] == ["web_search"]
        assert reading.usage is not None and (reading.usage.input, reading.usage.output) == (7, 9)
        assert (reading.response_id, reading.response_model) == ("msg_1", "claude-x-1")
        assert reading.finish is not None and (reading.finish.label, reading.finish.raw) == ("tool_calls", "tool_use")
        assert reading.problems == () and reading.error is None
    assert emitted(found).signatures == emitted(whole).signatures and "sealed" in emitted(whole).signatures
    assert [(part.kind, part.pointer) for part in emitted(found).content] == [
        (part.kind, part.pointer) for part in emitted(whole).content
    ]
    assert [part.pointer for part in emitted(found).content] == [f"/content/{place}" for place in range(len(BLOCKS))]
    assert emitted(found).content[-1].raw == BLOCKS[-1]


def test_the_name_of_an_event_counts_where_its_body_has_no_type() -> None:
    lines = [
        f"event: {one['type']}\ndata: {json.dumps({key: value for key, value in one.items() if key != 'type'})}\n\n"
        for one in streamed(1000)
    ]
    found = got("".join(lines).encode())

    assert emitted(found).text == "I look at Köln. Done."
    assert found.finish is not None and found.finish.label == "tool_calls"


def test_numbers_in_a_delta_are_not_added_to_its_text() -> None:
    begun = {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}
    grown = {"type": "thinking_delta", "thinking": "hm", "estimated_tokens": 7}
    found = stream(start(), begun, {"type": "content_block_delta", "index": 0, "delta": grown}, end("end_turn"), ENDED)

    assert emitted(found).reasoning == "hm"


@pytest.mark.parametrize("events", range(2, len(streamed(3))))
def test_a_stream_that_breaks_off_is_cut_and_keeps_what_has_come(events: int) -> None:
    whole, cut = emitted(stream(*streamed(3))), stream(*streamed(3)[:events])
    said = emitted(cut)

    assert cut.finish is not None
    assert cut.finish.effective == ("tool_calls" if events >= len(streamed(3)) - 1 else "cut")
    assert whole.text.startswith(said.text) and whole.reasoning.startswith(said.reasoning)
    assert [call.id for call in said.calls] == ["t1", "t2"][: len(said.calls)]
    open_at_the_end = streamed(3)[events - 1]["type"] in ("content_block_start", "content_block_delta")
    assert [call.complete for call in said.calls[:-1]] == [True] * len(said.calls[:-1])
    last = said.content[-1].call if said.content else None
    assert last is None or last.complete != open_at_the_end


def test_the_stop_of_a_block_may_be_missing_where_the_message_ends() -> None:
    events = [one for one in streamed(1000) if one["type"] != "content_block_stop"]

    assert all(call.complete for call in emitted(stream(*events)).calls)
    assert [call.complete for call in emitted(stream(*events[:-1])).calls] == [False, False]


@pytest.mark.parametrize("kind", ["text_delta", "input_json_delta", "thinking_delta"])
def test_a_block_that_never_began_is_what_its_pieces_are(kind: str) -> None:
    key = {"text_delta": "text", "input_json_delta": "partial_json", "thinking_delta": "thinking"}[kind]
    found = stream(start(), {"type": "content_block_delta", "index": 0, "delta": {"type": kind, key: "{}"}})

    assert found.problems == ("Content block 0 has deltas and no start.",)
    said = emitted(found)
    assert (said.text, said.reasoning, len(said.calls)) == {
        "text_delta": ("{}", "", 0),
        "thinking_delta": ("", "{}", 0),
        "input_json_delta": ("", "", 1),
    }[kind]


def test_events_without_a_number_are_of_the_last_block() -> None:
    events = [{key: value for key, value in one.items() if key != "index"} for one in streamed(1000)]
    found = stream(*events)

    assert found.problems == () and emitted(found).text == "I look at Köln. Done."


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        (
            {"type": "content_block_start", "index": 0, "content_block": BLOCKS[2]},
            "Content block 0 begins a second time.",
        ),
        (start(id="msg_2"), "A second message begins in the stream: 'msg_2' after 'msg_1'."),
        (start(), None),
        ({"type": "ping"}, None),
        ({"type": "ping", "error": {"message": "no"}}, None),
        ("[DONE]", None),
        ("7", "is not a JSON object"),
        ("{", "JSON"),
    ],
)
def test_what_is_wrong_in_a_stream_is_a_problem(event: Any, problem: str | None) -> None:
    begun = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    found = stream(start(), begun, event, end("end_turn"), ENDED)

    assert [problem in one for one in found.problems if problem] == [True] * (problem is not None)
    assert found.error is None and (problem is not None or found.problems == ())


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"type": "gateway", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        'event: error\ndata: {"error": {"type": "overloaded_error", "message": "Overloaded"}}',
    ],
)
def test_the_first_error_of_a_stream_is_its_error(event: Any) -> None:
    first = sse(start()) + (f"{event}\n\n".encode() if isinstance(event, str) else sse(event))
    found = got(first + sse({"type": "error", "error": {"type": "api_error", "message": "later"}}))

    assert found.error is not None
    assert (found.error.message, found.error.type, found.error.in_stream) == ("Overloaded", "overloaded_error", True)
    assert found.finish is not None and found.finish.effective == "error"


def test_an_error_of_a_stream_may_be_a_text() -> None:
    found = got(sse(start()) + b"event: error\ndata: upstream connect error\n\n")

    assert found.error is not None and "upstream connect error" in found.error.message and found.error.in_stream


@pytest.mark.parametrize(
    "body",
    [
        {"type": "error", "request_id": "req_1", "error": {"type": "api_error", "message": "No"}},
        {"error": {"type": "api_error", "message": "No"}, "request_id": "req_1"},
    ],
)
def test_an_error_in_an_answer_that_says_ok(body: dict[str, Any]) -> None:
    found = got(body)

    assert found.error is not None and (found.error.message, found.error.in_stream) == ("No", False)
    assert (found.response_id, found.emission and found.emission.emitted) == ("req_1", "none")
    assert found.finish is not None and found.finish.effective == "error"


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("end_turn", "complete"),
        ("stop_sequence", "stop_sequence"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("pause_turn", "pause"),
        ("compaction", "pause"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context_full"),
        ("never heard", "unknown"),
    ],
)
def test_each_stop_reason_has_its_meaning(word: str, meaning: str) -> None:
    whole = got({**HEAD, "content": [], "stop_reason": word, "usage": {"input_tokens": 7}})

    assert whole.finish is not None and (whole.finish.label, whole.finish.raw) == (meaning, word)
    found = stream(start(), end(word), ENDED)
    assert found.finish is not None and (found.finish.label, found.finish.raw) == (meaning, word)


def test_an_answer_in_another_shape_may_still_be_an_error() -> None:
    found = got({"message": "No such deployment", "code": 7})
    typed = got({"type": "error", "error": {"message": "No"}, "content": []})

    assert found.error is not None and found.error.message == "No such deployment"
    assert typed.error is not None and typed.error.message == "No"
    assert found.finish is not None and found.finish.effective == "error"


def test_a_refusal_is_explained_and_a_stop_sequence_is_named() -> None:
    details = {"category": "bio", "explanation": "Not that."}
    refused = got({**HEAD, "content": [], "stop_reason": "refusal", "stop_details": details})
    stopped = got({**HEAD, "content": [], "stop_reason": "stop_sequence", "stop_sequence": "END"})

    assert emitted(refused).refusal == "Not that."
    assert refused.finish is not None and refused.finish.detail == "bio: Not that."
    assert emitted(stopped).refusal is None
    assert stopped.finish is not None and stopped.finish.detail == "END"


USAGE = {
    "input_tokens": 7,
    "cache_read_input_tokens": 3,
    "cache_creation_input_tokens": 2,
    "output_tokens": 9,
    "output_tokens_details": {"thinking_tokens": 4},
    "cache_creation": {"ephemeral_1h_input_tokens": 1},
    "server_tool_use": {"web_search_requests": 6},
}


def test_input_is_what_was_read_written_and_new() -> None:
    for found in (
        got({**HEAD, "content": [], "stop_reason": "end_turn", "usage": USAGE}),
        stream(start(usage={**USAGE, "output_tokens": 1}), end("end_turn", usage={"output_tokens": 9}), ENDED),
    ):
        assert found.usage is not None
        one = found.usage
        assert (one.input, one.cache_read, one.cache_write, one.output, one.reasoning) == (12, 3, 2, 9, 4)
        assert (one.cache_write_1h, one.web_searches, one.problems) == (1, 6, ())


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"input_tokens": 7, "output_tokens": 9}, (7, None, None, 9, 0, 0)),
        ({"cache_read_input_tokens": 3, "output_tokens": 9}, (None, 3, None, 9, 0, 0)),
        ({"input_tokens": 7, "cache_creation": {"ephemeral_1h_input_tokens": 5}}, (7, None, None, None, 0, 0)),
        ({**USAGE, "cache_creation": {"ephemeral_1h_input_tokens": 5}}, (12, 3, 2, 9, 2, 6)),
    ],
)
def test_what_is_not_counted_is_not_known(given: dict[str, Any], wanted: tuple[int | None, ...]) -> None:
    one = got({**HEAD, "content": [], "stop_reason": "end_turn", "usage": given}).usage

    assert one is not None
    assert (one.input, one.cache_read, one.cache_write, one.output, one.cache_write_1h, one.web_searches) == wanted


def test_a_start_that_is_sent_twice_and_counts_of_nothing_keep_what_was_counted() -> None:
    found = stream(start(usage={"input_tokens": 7}), start(), end("end_turn", usage={"output_tokens": None}), ENDED)

    assert found.usage is not None and (found.usage.input, found.usage.output) == (7, None)
    assert stream(start(), end("end_turn"), ENDED).usage is None


def test_a_message_may_begin_with_its_blocks() -> None:
    begun = start(content=[{"type": "text", "text": "Hi"}, {"type": "text", "text": " you"}])
    more = {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "!"}}
    found = stream(begun, more, end("end_turn"), ENDED)

    assert (emitted(found).text, found.problems) == ("Hi you!", ())


def test_pieces_that_repeat_all_before_them_are_a_problem() -> None:
    texts = ["It is a long text", "It is a long text that continues", "It is a long text that continues for long"]

    def problems(*said: str) -> tuple[str, ...]:
        begun = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        deltas = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": one}} for one in said
        ]
        return stream(start(), begun, *deltas, end("end_turn"), ENDED).problems

    assert problems(*texts) == ("Each piece of a content block repeats all pieces before it.",)
    assert problems(*reversed(texts)) == ()


def test_a_call_whose_arguments_break_off_keeps_their_text() -> None:
    begun = {"type": "content_block_start", "index": 0, "content_block": {**BLOCKS[3], "input": {}}}
    piece = {"type": "input_json_delta", "partial_json": '{"city": "Kö'}
    found = stream(start(), begun, {"type": "content_block_delta", "index": 0, "delta": piece}, end("max_tokens"))
    [call] = emitted(found).calls

    assert (call.arguments, call.arguments_raw, call.complete) == (None, '{"city": "Kö', False)


def test_an_empty_answer_is_a_problem_and_no_error() -> None:
    found = got({"note": 7})

    assert found.error is None and found.problems != ()
