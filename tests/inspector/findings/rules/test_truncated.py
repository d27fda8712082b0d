"""Answers that were cut, and what says so."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from conversations import CALL, HELLO, chat, said
from judged import (
    CONVERSE,
    OLLAMA,
    RESPONSES,
    anthropic,
    calls,
    gemini,
    ids,
    judged,
    lines,
    only,
    trip,
    turn,
    use,
    words,
)
from round_trips import CHAT, GEMINI, sse

from turntape.cassettes.tape.model import RoundTrip

HALF = ("call_1", "look_up", '{"word":"ta')
AT_CAP = "api-truncated-text-mislabelled"
HI = turn("user", {"text": "hi"})


def turn_of(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_the_cap_is_named_with_what_was_spent() -> None:
    one = only("api-length-truncated", chat([HELLO], said("It holds"), finish="length", max_tokens=10))

    assert (one.layer, one.severity) == ("api", "warning")
    assert "10" in one.message


def test_a_ping_that_asks_for_one_token_is_not_a_warning() -> None:
    ping = chat([HELLO], said("It"), finish="length", max_tokens=1)

    assert only("api-length-truncated", ping).severity == "info"


def test_a_call_under_the_cap_is_more_severe_than_a_text() -> None:
    assert only("api-length-truncated-tool-call", chat([HELLO], said(None, HALF), finish="length")).severity == "error"
    assert only("api-length-truncated-tool-call", chat([HELLO], said(None, CALL), finish="length")).severity == "error"


def test_a_call_that_a_full_window_cut_names_the_window() -> None:
    full = anthropic([turn_of("hi")], [use(name="look_up")], stop="model_context_window_exceeded")

    assert only("api-length-truncated-tool-call", full).message.startswith("the context window was full")


@pytest.mark.parametrize(
    ("spent", "cap", "tier"),
    [(50, 50, "P"), (0, 50, "S"), (None, None, "S"), (30, 50, None)],
    ids=["exactly the cap", "nothing counted", "no cap", "below the cap"],
)
def test_a_cut_call_is_known_by_its_count_or_by_its_end(spent: int | None, cap: int | None, tier: str | None) -> None:
    fields: dict[str, Any] = {} if cap is None else {"max_completion_tokens": cap}
    cut = chat([HELLO], said(None, HALF), usage=None if spent is None else (100, spent), **fields)

    reported = [one for one in judged(cut) if one.id == "api-truncated-call-mislabelled"]

    assert [one.tier for one in reported] == ([tier] if tier else [])


def test_arguments_of_only_escaped_quotes_take_no_time() -> None:
    endless = '{"word": "' + '\\"' * 200_000

    assert "api-truncated-call-mislabelled" in ids(chat([HELLO], said(None, ("call_1", "look_up", endless))))


def test_broken_json_that_ends_is_the_models_and_not_a_cut() -> None:
    reported = ids(chat([HELLO], said(None, ("call_1", "look_up", '{"word": tape}'))))

    assert "api-truncated-call-mislabelled" not in reported
    assert "call-args-not-json" in reported


def streamed(text: str, output: int) -> Any:
    base = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-5"}
    usage = {"prompt_tokens": 10 if output else 0, "completion_tokens": output, "total_tokens": output and 10 + output}
    events = [
        {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**base, "choices": [], "usage": usage},
    ]
    asked = {"model": "gpt-5", "messages": [HELLO], "stream": True, "stream_options": {"include_usage": True}}
    return trip(CHAT, asked, sse(*events, done=True))


@pytest.mark.parametrize(
    ("text", "output", "fabricated"),
    [
        ("It is a strip that holds a recor", 0, True),
        ("It is a strip that holds a recording.", 0, False),
        ("It is a strip that holds a recor", 9, False),
    ],
)
def test_an_ending_is_made_up_when_nothing_was_counted_and_a_word_is_cut(
    text: str, output: int, fabricated: bool
) -> None:
    assert ("api-fabricated-finish" in ids(streamed(text, output))) is fabricated


def capped(
    *, reasoning: int | None = None, output: int | None = 50, answer: dict[str, Any] | None = None, **fields: Any
) -> list[str]:
    one = chat([HELLO], answer or said("It holds"), finish="length", **fields)
    assert one.response is not None
    body = orjson.loads(one.response.body)
    details = {"reasoning_tokens": reasoning} if reasoning is not None else {}
    if output is None:
        del body["usage"]
    else:
        body["usage"] = {"prompt_tokens": 9, "completion_tokens": output, "completion_tokens_details": details}
    response = replace(one.response, content=orjson.dumps(body), chunks=())
    return lines(replace(one, response=response), only="api-length")


def test_the_cap_is_reported_with_what_was_spent_and_allowed() -> None:
    assert capped() == [
        (
            "#0 api-length-truncated (api, warning, P): the answer was cut by the output cap after 50 output "
            "tokens | #0 finish length"
        ),
    ]
    assert capped(max_tokens=50) == [
        (
            "#0 api-length-truncated (api, warning, P): the answer was cut by the output cap after 50 output "
            "tokens (the request allowed 50) | #0 finish length"
        ),
    ]
    assert capped(reasoning=48, max_tokens=50) == [
        (
            "#0 api-length-truncated (api, warning, P): the answer was cut by the output cap after 50 output "
            "tokens, all of them reasoning (the request allowed 50) | #0 finish length"
        ),
    ]
    assert "reasoning" not in capped(reasoning=47)[0]
    assert capped(output=None) == [
        "#0 api-length-truncated (api, warning, P): the answer was cut by the output cap | #0 finish length",
    ]
    assert capped(max_tokens=2)[0].startswith("#0 api-length-truncated (api, warning")
    assert capped(max_tokens=1)[0].startswith("#0 api-length-truncated (api, info")


def test_a_call_under_the_cap_is_reported_by_its_name_and_id() -> None:
    two = said(None, ("call_0", "look_up", '{"word":"a"}'), ("call_1", "find", '{"wo'))
    nameless = gemini([HI], [calls()], finish="MAX_TOKENS")

    assert capped(answer=two) == [
        (
            "#0 api-length-truncated-tool-call (api, error, P): the output cap was hit after 50 output tokens "
            "while the call of 'find' was being written: do not run it | #0 finish length, #0 call call_1"
        ),
    ]
    assert lines(nameless, only="api-length") == [
        (
            "#0 api-length-truncated-tool-call (api, error, P): the output cap was hit after 10 output tokens "
            "while the call of 'look_up' was being written: do not run it | #0 finish MAX_TOKENS, #0 call look_up"
        ),
    ]
    full = anthropic([turn_of("hi")], [use()], stop="model_context_window_exceeded")
    assert lines(full, only="api-length") == [
        (
            "#0 api-length-truncated-tool-call (api, error, P): the context window was full after 10 output tokens "
            "(the request allowed 1,000) while the call of 'look_up' was being written: do not run it | #0 "
            "finish model_context_window_exceeded, #0 call toolu_1"
        ),
    ]


def half_streamed(*events: dict[str, Any], done: bool = True) -> RoundTrip:
    """A stream of Anthropic's API with a call in it, and what follows."""
    start = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "model": "claude",
             "usage": {"input_tokens": 5, "output_tokens": 1}}}  # fmt: skip
    block = {"type": "content_block_start", "index": 0, "content_block": use() | {"input": {}}}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"wo'}}
    fields = {
        "model": "claude",
        "max_tokens": 1000,
        "messages": [HELLO],
        "stream": True,
        "tools": [{"name": "look_up"}],
    }
    return trip("https://api.anthropic.com/v1/messages", fields, sse(start, block, delta, *events, names=True))


def test_a_call_that_was_left_open_in_a_whole_stream_was_capped() -> None:
    end = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}}

    assert lines(half_streamed(end, {"type": "message_stop"}), only="api-length") == [
        (
            "#0 api-length-truncated-tool-call (api, error, P): the output cap was hit after 9 output tokens "
            "(the request allowed 1,000) while the call of 'look_up' was being written: do not run it | #0 "
            "finish max_tokens, #0 call toolu_1"
        ),
    ]
    assert lines(half_streamed(), only="api-length") == [], "the stream was cut"
    failed = {"type": "error", "error": {"type": "api_error", "message": "no"}}
    assert lines(half_streamed(failed), only="api-length") == []


def hidden(
    arguments: str, *, usage: tuple[int, int] | None = (100, 50), cap: int | None = None, finish: str | None = None
) -> list[str]:
    fields: dict[str, Any] = {} if cap is None else {"max_completion_tokens": cap}
    one = chat([HELLO], said(None, ("call_1", "look_up", arguments)), usage=usage, finish=finish, **fields)
    return lines(one, only="api-truncated-call")


def test_a_cut_call_under_a_wrong_label_is_reported_with_the_proof() -> None:
    assert hidden('{"wo', cap=50) == [
        (
            "#0 api-truncated-call-mislabelled (api, error, P): the call of 'look_up' was cut, exactly the 50 "
            "output tokens that were allowed, but the API finished with 'tool_calls' | #0 finish tool_calls, "
            "#0 call call_1"
        ),
    ]
    assert hidden('{"wo') == [
        (
            "#0 api-truncated-call-mislabelled (api, error, S): the call of 'look_up' was cut, and its "
            "arguments end in the middle, but the API finished with 'tool_calls' | #0 finish tool_calls, #0 "
            "call call_1"
        ),
    ]
    assert hidden('{"wo', finish="stop")[0].startswith("#0 api-truncated-call-mislabelled (api, error, S)")
    assert hidden('{"wo', finish="a_new_word") != []
    assert hidden('{"wo', finish="length") == []
    assert hidden('{"wo', finish="content_filter") == []
    assert hidden('{"wo', cap=51) == []
    assert hidden('{"wo', cap=49) != []
    assert hidden('{"word":"a"', cap=50) != [], "the count proves it wherever the text ends"
    assert hidden("word", cap=50) == [], "it does not begin like JSON"
    assert hidden('{"word":"a"}', cap=50) == []
    assert hidden('{"word":"a"}{"wo', cap=50) == [], "two calls were written into one"
    assert hidden('{"word":"a"} {"wo', cap=50) == []


@pytest.mark.parametrize(
    "end", ["t", "tr", "tru", "f", "fa", "fal", "fals", "n", "nu", "nul", "-", "1.", "1e", "1E", '"a', '"a\\"']
)
def test_arguments_that_end_inside_a_token_were_cut(end: str) -> None:
    assert hidden('{"word":' + end) != []
    assert hidden('["a",' + end) != []


@pytest.mark.parametrize("end", ["true", "null", "1", '"a"', '"a",', '"{"', "bat"])
def test_arguments_that_end_after_a_token_were_written_so(end: str) -> None:
    assert hidden('{"word":' + end) == []


def test_a_text_is_not_a_call_that_was_cut() -> None:
    assert "api-truncated-call-mislabelled" not in ids(chat([HELLO], said('{"wo'), max_completion_tokens=10))


def test_brackets_inside_strings_do_not_leave_arguments_open() -> None:
    assert hidden('{"word":"{"] }', cap=50) == []
    assert hidden('{"word":"}"', cap=50) != []
    assert hidden('[{"word":1}', cap=50) != []
    assert hidden('{"word":[1}', cap=50) != []


def test_an_ending_that_was_made_up_is_quoted() -> None:
    long = "It is a strip of plastic or of paper, and on it there is a long and careful recor"

    assert lines(streamed(long, 0), only="api-fabricated") == [
        (
            "#0 api-fabricated-finish (api, error, S): the stream says 'stop' with no output tokens counted "
            "although the answer breaks off: 'tic or of paper, and on it there is a long and careful recor' | "
            "#0 finish stop, #0 usage output 0"
        ),
    ]
    assert lines(streamed("x" * 20, 0), only="api-fabricated") == [], "too short to be sure"
    assert lines(streamed("x" * 21, 0), only="api-fabricated") != []
    assert lines(chat([HELLO], said(long), usage=(0, 0)), only="api-fabricated") == [], "no stream"


@pytest.mark.parametrize("last", list("aZ0,;([{\"'-"))
def test_a_text_that_ends_with_such_a_sign_breaks_off(last: str) -> None:
    assert lines(streamed("It is a strip that holds a " + last, 0), only="api-fabricated") != []


@pytest.mark.parametrize("last", list(".!?:)]}`*"))
def test_a_text_that_ends_with_such_a_sign_is_whole(last: str) -> None:
    assert lines(streamed("It is a strip that holds a record" + last, 0), only="api-fabricated") == []


def test_a_whole_call_before_the_one_that_was_being_written_is_not_named() -> None:
    whole = {"type": "content_block_start", "index": 1, "content_block": use("toolu_2", name="find") | {"input": {}}}
    piece = {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a'}}
    end = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}}
    rest = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": 'rd":1}'}}
    stop = {"type": "content_block_stop", "index": 0}
    [line] = lines(half_streamed(rest, stop, whole, piece, end, {"type": "message_stop"}), only="api-length")

    assert "while the call of 'find' was being written" in line
    assert line.endswith("#0 call toolu_2")


def test_an_empty_stream_that_counts_nothing_was_made_up_where_the_api_counts_empty_answers() -> None:
    def response(*texts: str) -> RoundTrip:
        parts = [{"type": "output_text", "text": text} for text in texts]
        output = [{"type": "message", "id": "m", "role": "assistant", "content": [part]} for part in parts]
        usage = {"input_tokens": 5, "output_tokens": 0, "total_tokens": 5}
        done = {"id": "r", "object": "response", "status": "completed", "output": output, "usage": usage}
        end = sse({"type": "response.completed", "response": done}, names=True)
        return trip("https://api.openai.com/v1/responses", {"model": "gpt-5.1", "input": "hi", "stream": True}, end)

    assert "api-fabricated-finish" in ids(response())
    assert "api-fabricated-finish" not in ids(response("A whole text."))
    assert "api-fabricated-finish" not in ids(streamed("", 0)), "chat need not count"


HALF_A_SENTENCE = "It is a strip that holds a recording of"


WHOLE_SENTENCE = "It is a strip that holds a recording."


def at_cap(text: str, cap: int = 50, output: int = 50, **fields: Any) -> list[str]:
    return lines(chat([HELLO], said(text), usage=(100, output), max_tokens=cap, **fields), only=AT_CAP)


def test_a_text_of_exactly_the_allowed_tokens_under_stop_was_cut() -> None:
    assert at_cap(HALF_A_SENTENCE) == [
        "#0 api-truncated-text-mislabelled (api, warning, S): the answer has exactly the 50 output tokens that were "
        f"allowed and ends with {HALF_A_SENTENCE!r}, but the API finished with 'stop' | #0 finish stop, "
        "#0 usage output 50",
    ]
    [thousand] = at_cap(HALF_A_SENTENCE, 1000, 1000)
    assert "exactly the 1,000 output tokens" in thousand


def test_only_the_end_of_a_long_text_is_quoted() -> None:
    [line] = at_cap("x" * 50 + HALF_A_SENTENCE + " \n")

    assert f"ends with {('x' * 50 + HALF_A_SENTENCE)[-40:]!r}" in line


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (HALF_A_SENTENCE, "warning"),
        (WHOLE_SENTENCE, "info"),
        ("cobalt", "info"),
        ("twenty characters ok", "info"),
        ("twenty one characters", "warning"),
        ('{"word": "tape"', "warning"),
        ('[{"word": "tape"},', "warning"),
        ('{"word": "tape"}', "info"),
        ("Run this:\n```sh\nls.", "warning"),
        ("Run this:\n```sh\nls\n```", "info"),
        ("  \n", "warning"),
        ("X marks the place.", "info"),
    ],
)
def test_how_sure_it_is_depends_on_the_end_of_the_text(text: str, severity: str) -> None:
    [line] = at_cap(text)

    assert f"(api, {severity}, S)" in line


def test_thinking_that_took_the_whole_cap_leaves_an_empty_answer() -> None:
    one = chat([HELLO], {"role": "assistant", "content": "", "reasoning_content": "hm"}, usage=(100, 50), max_tokens=50)

    [line] = lines(one, only=AT_CAP)
    assert "that were allowed and is empty, but the API finished with 'stop'" in line
    [empty] = lines(one, only="model-empty-response")
    assert empty.endswith("| because of api-truncated-text-mislabelled")


def test_fewer_tokens_or_the_right_word_are_not_a_wrong_label() -> None:
    assert at_cap(HALF_A_SENTENCE, output=49) == []
    assert at_cap(HALF_A_SENTENCE, output=51) == []
    assert at_cap(HALF_A_SENTENCE, finish="length") == []
    assert at_cap("It", cap=1, output=1) == []
    assert at_cap(HALF_A_SENTENCE, cap=2, output=2) != []
    assert lines(chat([HELLO], said(HALF_A_SENTENCE), max_tokens=50, usage=None), only=AT_CAP) == []
    assert lines(chat([HELLO], said(HALF_A_SENTENCE), usage=(100, 50)), only=AT_CAP) == []
    called = chat([HELLO], said("Let me look it up in the list", CALL), usage=(100, 50), max_tokens=50)
    assert lines(called, only=AT_CAP) == []


def test_a_stop_sequence_at_the_cap_is_a_wrong_label_too() -> None:
    one = anthropic([{"role": "user", "content": "hi"}], [words(HALF_A_SENTENCE)], stop="stop_sequence", max_tokens=10)

    assert only(AT_CAP, one).message.endswith("but the API finished with 'stop_sequence'")


def test_a_cut_stream_at_the_cap_is_only_cut() -> None:
    begun = {"id": "c", "choices": [{"index": 0, "delta": {"content": HALF_A_SENTENCE}}]}
    usage = {"prompt_tokens": 1, "completion_tokens": 10, "total_tokens": 11}
    body = {"model": "m", "messages": [HELLO], "stream": True, "max_tokens": 10}

    assert AT_CAP not in ids(trip(CHAT, body, sse({**begun, "usage": usage})))


def capped_texts() -> list[RoundTrip]:
    """Half a sentence of exactly ten tokens under the word for a whole answer."""
    candidate = {"content": {"role": "model", "parts": [{"text": HALF_A_SENTENCE}]}, "finishReason": "STOP", "index": 0}
    google = {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 10}}
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": HALF_A_SENTENCE}]}]
    whole = {"id": "r", "object": "response", "status": "completed", "output": output, "usage": {
        "input_tokens": 1, "output_tokens": 10, "total_tokens": 11}}  # fmt: skip
    spoken = {"role": "assistant", "content": [{"text": HALF_A_SENTENCE}]}
    converse = {
        "output": {"message": spoken},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 10},
    }
    local = {"message": {"role": "assistant", "content": HALF_A_SENTENCE}, "done": True, "done_reason": "stop",
             "prompt_eval_count": 1, "eval_count": 10}  # fmt: skip
    ask = {"role": "user", "content": "hi"}
    return [
        anthropic([ask], [words(HALF_A_SENTENCE)], max_tokens=10),
        trip(GEMINI, {"contents": [turn("user", {"text": "hi"})], "generationConfig": {"maxOutputTokens": 10}}, google),
        trip(RESPONSES, {"model": "gpt-5", "input": "hi", "max_output_tokens": 10}, whole),
        trip(CONVERSE, {"messages": [{"role": "user", "content": [{"text": "hi"}]}],
                        "inferenceConfig": {"maxTokens": 10}}, converse),
        trip(OLLAMA, {"model": "q", "messages": [ask], "stream": False, "options": {"num_predict": 10}}, local),
    ]  # fmt: skip


@pytest.mark.parametrize("one", capped_texts())
def test_a_text_at_the_cap_is_found_in_every_api(one: RoundTrip) -> None:
    found = only(AT_CAP, one)

    assert (found.layer, found.severity) == ("api", "warning")


def test_arguments_that_end_with_their_bracket_were_not_cut() -> None:
    broken = chat([HELLO], said(None, ("call_1", "look_up", '{"word": tape"}')))
    cut = chat([HELLO], said(None, ("call_1", "look_up", '{"word": "ta')))

    assert "call-args-not-json" in ids(broken)
    assert "api-truncated-call-mislabelled" not in ids(broken)
    assert "api-truncated-call-mislabelled" in ids(cut)


def test_a_cap_that_was_not_reached_is_said() -> None:
    def of(output: int, text: str = "It is a strip.", cap: int = 100, size: int = 9) -> str:
        answer = chat([HELLO], said(text), finish="length", usage=(size, output), max_tokens=cap)
        return only("api-length-truncated", answer).message

    assert of(20) == (
        "the API says that the output cap ended the answer after 20 output tokens (the request allowed 100): "
        "the word is probably wrong"
    )
    for other in (of(50), of(20, "It is a strip of"), of(20, size=1980), of(100)):
        assert other.startswith("the answer was cut by the output cap")
