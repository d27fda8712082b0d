"""What an answer of Chat Completions says, whole and in chunks, with the words of the servers that share its shape."""

from typing import Any

import pytest
from round_trips import CHAT, exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Emission, Reading

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
HEAD: dict[str, Any] = {"id": "c-1", "created": 1, "model": "m-1"}
DONE = "[DONE]"


def whole(*choices: dict[str, Any], **fields: Any) -> Reading:
    body = {**HEAD, "object": "chat.completion", "choices": choices, **fields}
    return read(exchanged(CHAT, ASK, body))


def stream(*chunks: Any) -> Reading:
    return read(exchanged(CHAT, {**ASK, "stream": True}, sse(*chunks)))


def chunk(*deltas: dict[str, Any], finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk with a delta for each choice, all of which end with the same word."""
    choices = [{"index": place, "delta": delta, "finish_reason": finish} for place, delta in enumerate(deltas)]
    return {**HEAD, "object": "chat.completion.chunk", "choices": choices, **fields}


def said(text: str = "Hi", finish: object = "stop", **fields: Any) -> dict[str, Any]:
    return {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish, **fields}


def emitted(reading: Reading) -> Emission:
    assert reading.emission is not None
    return reading.emission


def label(reading: Reading) -> str | None:
    assert reading.finish is not None
    return reading.finish.label


WORDS = {
    "complete": "stop eos eos_token end_turn completed complete finish",
    "stop_sequence": "stop_sequence",
    "tool_calls": "tool_calls function_call tool_use tool_call",
    "length": "length max_tokens max_output_tokens",
    "context_full": "model_length model_context_window_exceeded",
    "pause": "pause_turn",
    "refusal": "refusal",
    "content_filter": "content_filter safety recitation blocklist prohibited_content spii sensitive "
    "guardrail_intervened",
    "malformed": "malformed_function_call malformed_response unexpected_tool_call",
    "error": "error failed timeout network_error insufficient_system_resource",
    "cancelled": "cancelled canceled abort",
}


@pytest.mark.parametrize(("meaning", "word"), [(name, word) for name, words in WORDS.items() for word in words.split()])
def test_each_finish_word_has_its_meaning_in_any_case(meaning: str, word: str) -> None:
    for one in (word, word.upper()):
        read = (whole(said(finish=one)), stream(chunk({"content": "Hi"}), chunk({}, finish=one)))
        assert [label(reading) for reading in read] == [meaning] * 2
        assert [reading.finish and reading.finish.raw for reading in read] == [one] * 2


@pytest.mark.parametrize(
    ("word", "raw"), [({"type": "stop"}, "stop"), ({"why": 1}, '{"why":1}'), (7, "7"), (None, None)]
)
def test_a_finish_in_another_type_is_shown_as_it_is(word: object, raw: str | None) -> None:
    found = whole(said(finish=word))

    assert found.finish is not None and found.finish.raw == raw


def test_old_models_say_how_they_finished_in_the_details() -> None:
    assert label(whole({**said(finish=None), "finish_details": {"type": "stop"}})) == "complete"


@pytest.mark.parametrize(
    ("word", "native", "meaning", "detail"),
    [
        ("stop", "MAX_TOKENS", "length", "native finish reason: MAX_TOKENS"),
        ("stop", "SAFETY", "content_filter", "native finish reason: SAFETY"),
        ("stop", "refusal", "refusal", "native finish reason: refusal"),
        ("stop", "MALFORMED_FUNCTION_CALL", "malformed", "native finish reason: MALFORMED_FUNCTION_CALL"),
        ("stop", "pause_turn", "pause", "native finish reason: pause_turn"),
        ("length", "model_length", "context_full", "native finish reason: model_length"),
        ("stop", "failed", "error", "native finish reason: failed"),
        ("tool_calls", "end_turn", "tool_calls", "native finish reason: end_turn"),
        ("error", "MAX_TOKENS", "error", "native finish reason: MAX_TOKENS"),
        ("stop", "STOP", "complete", None),
        ("stop", "never heard", "complete", "native finish reason: never heard"),
    ],
)
def test_a_native_word_counts_where_it_is_more_exact(word: str, native: str, meaning: str, detail: str | None) -> None:
    found = whole(said(finish=word, native_finish_reason=native))

    assert found.finish is not None
    assert (found.finish.label, found.finish.detail) == (meaning, detail)


def test_what_choices_say_of_their_end_is_in_the_detail() -> None:
    found = whole(said(), {**said(finish="length"), "index": 1, "finish_message": "too long"})

    assert found.finish is not None
    assert (found.finish.label, found.finish.detail) == (
        "length",
        "finish reasons of the choices: stop, length; too long",
    )


FILTERED = [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": True, "severity": "high"}}}]
PASSED = [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}]


@pytest.mark.parametrize(
    ("finish", "results", "filtered"),
    [
        ("content_filter", FILTERED, True),
        ("content_filter", PASSED, False),
        ("content_filter", None, False),
        ("stop", FILTERED, False),
    ],
)
def test_a_filter_of_the_prompt_is_not_one_of_the_answer(finish: str, results: object, filtered: bool) -> None:
    read = (
        whole(said(finish=finish), prompt_filter_results=results),
        stream(chunk(prompt_filter_results=results), chunk({"content": "Hi"}, finish=finish), DONE),
    )

    assert [one.finish and one.finish.prompt_filtered for one in read] == [filtered] * 2


MESSAGE: dict[str, Any] = {
    "reasoning_content": "hm",
    "content": "I look.",
    "tool_calls": [
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "Köln"}'}},
        {"index": 1, "id": "c2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
    ],
}


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_chunks_add_up_to_the_whole_answer(size: int) -> None:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for key in ("reasoning_content", "content"):
        deltas += [{key: MESSAGE[key][at : at + size]} for at in range(0, len(MESSAGE[key]), size)]
    for call in MESSAGE["tool_calls"]:
        text = call["function"]["arguments"]
        deltas.append({"tool_calls": [{**call, "function": {"name": call["function"]["name"], "arguments": ""}}]})
        deltas += [
            {"tool_calls": [{"index": call["index"], "function": {"arguments": text[at : at + size]}}]}
            for at in range(0, len(text), size)
        ]
    usage = {"prompt_tokens": 7, "completion_tokens": 9, "total_tokens": 16}
    ends = [chunk({}, finish="tool_calls"), chunk(usage=usage), DONE]

    for found in (
        whole({"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}, usage=usage),
        stream(*map(chunk, deltas), *ends),
    ):
        one = emitted(found)
        assert (one.text, one.reasoning, label(found)) == ("I look.", "hm", "tool_calls")
        assert [(call.id, call.name, call.arguments, call.complete) for call in one.calls] == [
            ("c1", "find", {"q": "Köln"}, True),
            ("c2", "now", {}, True),
        ]
        assert found.usage is not None and (found.usage.input, found.usage.output) == (7, 9)
        assert (found.response_id, found.response_model, found.problems, found.error) == ("c-1", "m-1", (), None)


def test_a_stream_has_ended_when_all_its_choices_have() -> None:
    both = chunk({"content": "A"}, {"content": "B"})
    first = {**chunk({}, finish="stop"), "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    second = {**first, "choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]}

    effective = [
        found.finish and found.finish.effective
        for found in (stream(both, first), stream(both, first, second), stream(both, DONE), stream(first, second, both))
    ]
    assert effective == ["cut", "complete", "unknown", "complete"]


@pytest.mark.parametrize(
    ("after", "problems"),
    [
        ([chunk({"content": "more"})], ["Pieces of the answer come after [DONE]; clients do not read them."]),
        ([chunk({"content": "more"})] * 2, ["Pieces of the answer come after [DONE]; clients do not read them."]),
        ([chunk({"role": "assistant"})], []),
        ([chunk({"content": ""}, finish="stop")], []),
        ([chunk(usage={"prompt_tokens": 1})], []),
    ],
)
def test_only_pieces_of_the_answer_after_its_end_are_a_problem(after: list[Any], problems: list[str]) -> None:
    assert list(stream(chunk({"content": "Hi"}, finish="stop"), DONE, *after).problems) == problems


@pytest.mark.parametrize(
    ("event", "problem"), [("7", "is not a JSON object"), ("{", ""), ("[]", "is not a JSON object")]
)
def test_an_event_of_another_type_is_a_problem(event: str, problem: str) -> None:
    (found,) = stream(chunk({"content": "Hi"}), event, chunk({}, finish="stop"), DONE).problems

    assert problem in found


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"error": {"message": "No", "code": 500}}\n\n',
        b'data: {"object": "error", "message": "No", "code": 500}\n\n',
        b'event: error\ndata: {"error": {"message": "No"}}\n\n',
        b"event: error\ndata: No\n\n",
    ],
)
def test_an_error_in_a_stream_is_its_first_one(event: bytes) -> None:
    later = b'data: {"error": {"message": "later"}}\n\n'
    body = sse(chunk({"content": "Hi"})) + event + later
    found = read(exchanged(CHAT, {**ASK, "stream": True}, body))

    assert found.error is not None and (found.error.message, found.error.in_stream) == ("No", True)
    assert emitted(found).text == "Hi"
    assert found.finish is not None and found.finish.effective == "error"


def test_a_body_without_choices_is_an_error_and_one_with_usage_alone_is_not() -> None:
    found = read(exchanged(CHAT, ASK, {"message": "No such deployment", "code": 7}))
    counted = whole(usage={"prompt_tokens": 7, "completion_tokens": 0}, message="a note")

    assert found.error is not None and found.error.message == "No such deployment"
    assert counted.error is None


def test_empty_events_and_comments_are_nothing() -> None:
    body = b": keep-alive\n\ndata:\n\n" + sse(chunk({"content": "Hi"}, finish="stop"), DONE)

    assert read(exchanged(CHAT, {**ASK, "stream": True}, body)).problems == ()


def test_a_stream_without_a_choice_has_not_ended() -> None:
    found = stream(chunk(usage={"prompt_tokens": 7}))

    assert found.finish is not None and found.finish.effective == "cut"


def test_an_error_may_be_in_a_choice_or_be_the_finish_word() -> None:
    inside = whole({**said(finish="error"), "error": {"message": "No", "code": 502}})
    word = whole(said(finish="error"))

    assert inside.error is not None and inside.error.message == "No"
    assert word.error is not None
    assert (word.error.message, word.error.in_stream) == ("The generation ended with 'error'.", False)


@pytest.mark.parametrize(
    ("message", "text", "kinds"),
    [
        ({"audio": {"id": "a", "transcript": "Hi"}}, "Hi", ["text", "media"]),
        ({"content": "Hi", "audio": {"id": "a", "transcript": "Hello"}}, "Hi", ["text", "media"]),
        ({"audio": {"id": "a"}}, "", ["media"]),
        ({"content": "Hi", "images": [{}, {}]}, "Hi", ["text", "media", "media"]),
        ({"refusal": "No"}, "", ["refusal"]),
        ({"content": "Hi", "function_call": {"name": "", "arguments": "x"}}, "Hi", ["text"]),
        ({"content": "Hi", "function_call": {"name": "f", "arguments": "{}"}}, "Hi", ["text", "call"]),
        ({"content": "Hi", "executed_tools": [{"type": "search", "arguments": "{}"}]}, "Hi", ["text", "call"]),
    ],
)
def test_what_a_message_holds_beside_its_text(message: dict[str, Any], text: str, kinds: list[str]) -> None:
    found = emitted(whole({"index": 0, "message": message, "finish_reason": "stop"}))

    assert (found.text, [part.kind for part in found.content]) == (text, kinds)
    assert ["[audio]" in (part.text for part in found.content)] == ["audio" in message]
    assert found.refusal == message.get("refusal")
    assert [call.name for call in found.server_calls] == ["search"] * ("executed_tools" in message)


def test_the_text_is_the_first_choices_and_the_calls_are_of_all() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    other = {"index": 1, "message": {"content": "B", "tool_calls": [call]}, "finish_reason": "tool_calls"}
    found = emitted(whole(said("A"), other))

    assert (found.text, [(call.name, call.choice) for call in found.calls]) == ("A", [("find", 1)])
    assert [choice.index for choice in found.choices] == [0, 1]


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk(usage={"prompt_tokens": 7, "completion_tokens": 9})],
        [chunk(x_groq={"id": "g"}), chunk(x_groq={"usage": {"prompt_tokens": 7, "completion_tokens": 9}})],
        [{**HEAD, "choices": [{"index": 0, "delta": {}, "usage": {"prompt_tokens": 7, "completion_tokens": 9}}]}],
        [
            chunk(usage={"prompt_tokens": 7, "completion_tokens": 1}),
            chunk(usage={"completion_tokens": 9, "total_tokens": None}),
        ],
    ],
)
def test_usage_is_the_last_that_was_counted_wherever_it_is(chunks: list[dict[str, Any]]) -> None:
    found = stream(chunk({"content": "Hi"}, finish="stop"), *chunks, DONE)

    assert found.usage is not None and (found.usage.input, found.usage.output) == (7, 9)


def test_each_part_of_an_answer_names_its_place() -> None:
    message = {
        **MESSAGE,
        "refusal": "No",
        "executed_tools": [{"id": "e1", "name": "run", "type": "python", "arguments": '{"code":"1"}'}],
        "audio": {"id": "a"},
        "images": [{"image_url": {"url": "https://x"}}] * 2,
    }
    found = emitted(whole(said(), {"index": 3, "message": message, "finish_reason": "stop"}))

    assert [part.pointer.removeprefix("/choices/1/message") for part in found.content[1:]] == [
        "/reasoning_content",
        "/content",
        "/refusal",
        "/tool_calls/0",
        "/tool_calls/1",
        "/executed_tools/0",
        "/audio",
        "/images/0",
        "/images/1",
    ]
    assert (found.text, found.reasoning, found.refusal) == ("Hi", "", None), "those of the first choice"
    [ran] = found.server_calls
    assert (ran.name, ran.id, ran.arguments, ran.server, ran.choice) == ("run", "e1", {"code": "1"}, True, 3)
    assert {call.choice for call in found.calls} == {3}


def test_the_pointers_of_a_transcript_and_of_a_function_call() -> None:
    heard = emitted(whole({"message": {"audio": {"transcript": "Hi"}}, "finish_reason": "stop"}))
    called = emitted(whole({"message": {"function_call": {"name": "f", "arguments": "{}"}}, "finish_reason": "stop"}))

    assert [part.pointer for part in heard.content] == [
        "/choices/0/message/audio/transcript",
        "/choices/0/message/audio",
    ]
    assert [part.pointer for part in called.content] == ["/choices/0/message/function_call"]


def test_a_function_call_that_repeats_a_tool_call_is_one_call() -> None:
    function = {"name": "find", "arguments": "{}"}
    both = {"tool_calls": [{"id": "c", "type": "function", "function": function}], "function_call": function}

    assert [call.id for call in emitted(whole({"message": both, "finish_reason": "tool_calls"})).calls] == ["c"]


def test_a_whole_answer_may_have_the_form_of_a_chunk() -> None:
    assert emitted(whole({"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"})).text == "Hi"


def test_an_error_word_at_the_end_of_a_stream_is_an_error_in_it() -> None:
    found = stream(chunk({"content": "Hi"}), chunk({}, finish="failed"), DONE)

    assert found.error is not None
    assert (found.error.message, found.error.in_stream) == ("The generation ended with 'failed'.", True)


def test_a_lost_piece_of_the_answer_is_a_problem_and_a_field_named_error_is_an_error() -> None:
    def read_with(line: bytes) -> Reading:
        body = sse(chunk({"content": "Hi"})) + line + b"\n\n" + sse(chunk({}, finish="stop"), DONE)
        return read(exchanged(CHAT, {**ASK, "stream": True}, body))

    odd, failed = read_with(b'dota: {"choices": []}'), read_with(b'error: {"message": "No", "code": 500}')
    assert odd.problems == ("The stream has a line of the unknown field 'dota'.",) and odd.error is None
    assert failed.problems == () and failed.error is not None and failed.error.message == "No"


@pytest.mark.parametrize("key", ["id", "model", "created"])
def test_a_stream_that_takes_a_name_up_again_mixes_two_answers(key: str) -> None:
    def problems(delta: dict[str, Any]) -> tuple[str, ...]:
        other = {**chunk(delta), key: 2 if key == "created" else "other"}
        first, last = chunk({"content": "Hi"}), chunk({"content": "!"}, finish="stop")
        return stream(first, other, last, DONE).problems

    assert [f"the {key}" in one for one in problems({"content": " you"})] == [True]
    assert problems({"role": "assistant"}) == (), "nothing of the answer is in it"


def test_usage_that_is_not_an_object_is_kept_as_it_came() -> None:
    odd, counted = whole(said(), usage="much"), whole(said(), usage={"prompt_tokens": 7})

    assert odd.usage is not None and (odd.usage.input, odd.usage_raw, len(odd.usage.problems)) == (None, "much", 1)
    assert (counted.usage is not None, counted.usage_raw) == (True, {"prompt_tokens": 7})


def test_the_first_value_of_what_each_chunk_says_counts() -> None:
    ended = chunk({}, finish="stop", service_tier="flex", system_fingerprint="b")
    found = stream(chunk({"content": "Hi"}, service_tier="priority", id="", model=""), ended, DONE)

    assert (found.response_id, found.response_model) == ("c-1", "m-1")
    assert found.price_terms is not None and "priority" in str(found.price_terms)
