"""How the API finished an answer."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from conversations import CALL, HELLO, chat, result, said
from judged import (
    CONVERSE,
    OLLAMA,
    RESPONSES,
    anthropic,
    calls,
    gemini,
    ids,
    item_call,
    judged,
    lines,
    only,
    responses,
    trip,
    turn,
    use,
    words,
)
from round_trips import CHAT, GEMINI, MESSAGES, sse

from turntape.cassettes.tape.model import RoundTrip

HALF = ("call_1", "look_up", '{"word":"ta')


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


TOO_LONG = "This model's maximum context length is 131072 tokens. However, your messages resulted in 152204 tokens."


def test_a_full_window_is_known_by_the_label_and_by_the_rejection() -> None:
    rejected = chat([HELLO], status=400, error={"error": {"message": TOO_LONG, "code": "context_length_exceeded"}})
    labelled = anthropic([turn_of("hi")], [words("so")], stop="model_context_window_exceeded")

    assert only("api-context-full", rejected).severity == "error"
    assert only("api-context-full", labelled).layer == "api"


def turn_of(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_too_many_tokens_a_minute_is_not_a_full_window() -> None:
    text = "Too many tokens, please wait before trying again."
    throttled = chat([HELLO], status=429, error={"error": {"message": text, "type": "throttled"}})

    assert "api-context-full" not in ids(throttled)
    assert "api-rate-limited" in ids(throttled)


def test_a_filter_names_the_side_that_it_stopped() -> None:
    assert "the answer" in only("api-content-filter", chat([HELLO], said("x"), finish="content_filter")).message
    assert "the answer" in only("api-content-filter", chat([HELLO], said(""), finish="content_filter")).message


HI = turn("user", {"text": "hi"})
TALK = [{"role": "user", "content": [{"text": "hi"}]}]
SAFE, UNSAFE = {"hate": {"filtered": False}}, {"hate": {"filtered": True, "severity": "high"}}
BLOCKED, PASSED = (
    {"topicPolicy": {"topics": [{"name": "x", "type": "DENY", "action": a}]}} for a in ("BLOCKED", "NONE")
)


def azure(prompt: object, answer: object, *, streamed: bool = False) -> RoundTrip:
    """An answer that a filter of Azure's stopped, with its verdicts on both sides."""
    begins = {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": prompt}]}
    choice = {"index": 0, "finish_reason": "content_filter", "content_filter_results": answer}
    if streamed:
        chunks = {"id": "c", "choices": [], **begins}, {"id": "c", "choices": [{**choice, "delta": {}}]}
        return trip(CHAT, {"model": "gpt-5", "messages": [HELLO], "stream": True}, sse(*chunks))
    return trip(CHAT, {"model": "gpt-5", "messages": [HELLO]}, {"id": "c", "choices": [choice], **begins})


def converse(output: int = 0, **guardrail: object) -> RoundTrip:
    message = {"role": "assistant", "content": [{"text": "Sorry, I cannot help."}]}
    usage = {"inputTokens": 0, "outputTokens": output, "totalTokens": output}
    body = {"output": {"message": message}, "stopReason": "guardrail_intervened", "usage": usage}
    return trip(CONVERSE, {"messages": TALK}, body | ({"trace": {"guardrail": guardrail}} if guardrail else {}))


def invoked(output: int = 0, **guardrail: object) -> RoundTrip:
    body = {
        "type": "message", "role": "assistant", "content": [words("Sorry.")], "stop_reason": "end_turn",
        "usage": {"input_tokens": 0, "output_tokens": output}, "amazon-bedrock-guardrailAction": "INTERVENED",
    }  # fmt: skip
    asked = {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
    }
    given = body | ({"amazon-bedrock-trace": {"guardrail": guardrail}} if guardrail else {})
    return trip(CONVERSE.removesuffix("converse") + "invoke", asked, {**given, "stop_reason": None})


def incomplete(*sources: str, blocked: str = "") -> RoundTrip:
    """An answer of Azure's Responses API, with a verdict for each source."""
    filters = [{"source_type": one, "blocked": one == blocked, "content_filter_results": {}} for one in sources]
    answer = {
        "id": "resp_0", "object": "response", "status": "incomplete", "output": [],
        "incomplete_details": {"reason": "content_filter"}, "content_filters": filters,
    }  # fmt: skip
    return trip(RESPONSES, {"model": "gpt-5.1", "input": "hi"}, answer)


@pytest.mark.parametrize(
    ("one", "side"),
    [
        (gemini([HI], [], finish="SAFETY"), "answer"),
        (gemini([HI], [{"text": "x"}], finish="RECITATION"), "answer"),
        (trip(GEMINI, {"contents": [HI]}, {"promptFeedback": {"blockReason": "SAFETY"}}), "prompt"),
        (trip(GEMINI, {"contents": [HI]}, {"candidates": [], "promptFeedback": {"blockReason": "OTHER"}}), "prompt"),
        (trip(GEMINI, {"contents": [HI]}, {"candidates": [{"finishReason": "SAFETY"}],
              "promptFeedback": {"safetyRatings": []}}), "answer"),
        (azure(SAFE, UNSAFE), "answer"),
        (azure(UNSAFE, SAFE), "prompt"),
        (azure(SAFE, UNSAFE, streamed=True), "answer"),
        (azure(UNSAFE, SAFE, streamed=True), "prompt"),
        (converse(inputAssessment={"g": BLOCKED}), "prompt"),
        (converse(9, inputAssessment={"g": PASSED}, outputAssessments={"g": [BLOCKED]}), "answer"),
        (converse(9, inputAssessment={"g": BLOCKED}, outputAssessments={"g": [BLOCKED]}), "answer"),
        (converse(0), "prompt"),
        (converse(9), "answer"),
        (invoked(0, input={"g": BLOCKED}), "prompt"),
        (invoked(0, input={"g": PASSED}, outputs=[{"g": BLOCKED}]), "answer"),
        (invoked(9), "answer"),
        (incomplete(), "answer"),
        (incomplete("prompt", "completion", blocked="completion"), "answer"),
        (incomplete("prompt", "completion", blocked="prompt"), "prompt"),
        (chat([HELLO], status=400, error={"error": {"message": "Output blocked by content filtering policy"}}),
         "answer"),
        (chat([HELLO], status=400, error={"error": {"message": "Input data may contain inappropriate content.",
                                                    "code": "data_inspection_failed"}}), "prompt"),
        (chat([HELLO], status=403, error={"error": {"message": "Your input was flagged"}}), "prompt"),
    ],
)  # fmt: skip
def test_every_api_says_which_side_its_filter_stopped(one: RoundTrip, side: str) -> None:
    found = only("api-content-filter", one)

    assert found.message.startswith(f"the API's filter stopped the {side} (")
    assert found.layer == "api"


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("MALFORMED_FUNCTION_CALL", "malformed-output"),
        ("TOO_MANY_TOOL_CALLS", "api-server-limit"),
        ("SAFETY", "api-content-filter"),
        ("MAX_TOKENS", "api-length-truncated"),
    ],
)
def test_geminis_words_mean_what_they_mean(finish: str, expected: str) -> None:
    assert ids(gemini([HI], [{"text": "x"}], finish=finish)) == {expected}


def test_a_pause_is_not_a_fault_of_the_api() -> None:
    one = only("api-pause", anthropic([turn_of("hi")], [words("x")], stop="pause_turn"))

    assert (one.layer, one.severity) == ("api", "info")


@pytest.mark.parametrize(
    ("answer", "finish", "severity"),
    [
        (said(None, CALL), "stop", "warning"),
        (said("x"), "tool_calls", "warning"),
        (said(None, CALL), "content_filter", "warning"),
        (said(None, CALL), "tool_calls", None),
        (said("x"), "stop", None),
    ],
)
def test_word_and_content_fit_together(answer: dict[str, Any], finish: str, severity: str | None) -> None:
    reported = [one for one in judged(chat([HELLO], answer, finish=finish)) if one.id == "api-finish-label-disagrees"]

    assert [one.severity for one in reported] == ([severity] if severity else [])


def test_a_forced_tool_under_stop_is_known_behaviour() -> None:
    choice = {"type": "function", "function": {"name": "look_up"}}
    forced = chat([HELLO], said(None, CALL), finish="stop", tool_choice=choice)

    assert only("api-finish-label-disagrees", forced).severity == "info"


def test_apis_without_a_word_for_calls_are_right_as_they_are() -> None:
    assert ids(gemini([HI], [calls()])) == set()
    assert ids(responses([turn_of("hi")], [item_call()])) == set()
    assert ids(anthropic([turn_of("hi")], [use()])) == set()


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


def test_a_full_window_is_reported_with_the_largest_pieces() -> None:
    sizes = [turn_of("x" * size) for size in (10, 4000, 30, 200)]
    error = {"error": {"message": TOO_LONG, "code": "context_length_exceeded"}}

    assert lines(chat(sizes, status=400, error=error), only="api-context") == [
        (
            "#0 api-context-full (api, error, P): the context window is full: This model's maximum context "
            "length is 131072 tokens. However, your messages resulted in 152204 tokens; the largest pieces "
            "are /messages/1/content (4,000 characters), /messages/3/content (200 characters), "
            "/messages/2/content (30 characters) | #0 finish, #0 request /messages/1/content, #0 request "
            "/messages/3/content, #0 request /messages/2/content"
        ),
    ]
    assert lines(anthropic(sizes, [words("so")], stop="model_context_window_exceeded"), only="api-context") == [
        (
            "#0 api-context-full (api, error, P): the context window is full; 100 input tokens; the largest "
            "pieces are /messages/1/content (4,000 characters), /messages/3/content (200 characters), "
            "/messages/2/content (30 characters) | #0 finish model_context_window_exceeded, #0 request "
            "/messages/1/content, #0 request /messages/3/content, #0 request /messages/2/content"
        ),
    ]
    assert lines(chat([], status=400, error=error), only="api-context") == [
        (
            "#0 api-context-full (api, error, P): the context window is full: This model's maximum context "
            "length is 131072 tokens. However, your messages resulted in 152204 tokens; the largest pieces "
            "are unknown | #0 finish"
        ),
    ]


def test_a_full_window_after_a_huge_result_is_because_of_it_and_reported_once() -> None:
    call = use()
    huge = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x" * 60_000}
    history = [turn_of("hi"), {"role": "assistant", "content": [call]}, {"role": "user", "content": [huge]}]
    full = anthropic(history, [words("so")], 1, stop="model_context_window_exceeded")
    longer = [*history, {"role": "assistant", "content": [words("so")]}, turn_of("and?")]
    again = anthropic(longer, [words("well")], 2, stop="model_context_window_exceeded")
    [line] = lines(anthropic([turn_of("hi")], [call]), full, again, only="api-context-full")

    assert line.startswith("#1 ")
    assert line.endswith("| because of client-huge-tool-result")


def test_a_filter_is_reported_with_its_side_and_its_reason() -> None:
    blocked = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    error = {"error": {"message": blocked, "code": "content_filter"}}

    assert lines(chat([HELLO], said("x"), finish="content_filter"), only="api-content") == [
        (
            "#0 api-content-filter (api, error, P): the API's filter stopped the answer (content_filter) | #0 "
            "finish content_filter"
        ),
    ]
    assert lines(chat([HELLO], status=400, error=error), only="api-content") == [
        (
            "#0 api-content-filter (api, error, P): the API's filter stopped the prompt (error: The response "
            "was filtered due to the prompt triggering Azure OpenAI's content management policy.) | #0 finish"
        ),
    ]
    assert lines(gemini([HI], [], finish="SAFETY"), only="api-content") == [
        "#0 api-content-filter (api, error, P): the API's filter stopped the answer (SAFETY) | #0 finish SAFETY",
    ]


def test_output_that_the_api_could_not_parse_is_reported_with_its_word() -> None:
    def unparsed(finish: str, **fields: Any) -> list[str]:
        one = gemini([HI], [{"text": "x"}], finish=finish)
        if "tools" in fields:
            body = orjson.loads(one.request.body)
            del body["tools"]
            one = replace(one, request=replace(one.request, content=orjson.dumps(body)))
        return lines(one, only="malformed-output")

    assert unparsed("MALFORMED_FUNCTION_CALL") == [
        (
            "#0 malformed-output (model, error, P): the model emitted what the API cannot parse "
            "(MALFORMED_FUNCTION_CALL) | #0 finish MALFORMED_FUNCTION_CALL"
        ),
    ]
    assert unparsed("UNEXPECTED_TOOL_CALL") == [
        (
            "#0 malformed-output (model, error, P): the model emitted a call of a tool that was not offered "
            "(UNEXPECTED_TOOL_CALL) | #0 finish UNEXPECTED_TOOL_CALL"
        ),
    ]
    assert unparsed("UNEXPECTED_TOOL_CALL", tools=None) == [
        (
            "#0 malformed-output (client, error, P): the model emitted a call of a tool that was not offered "
            "(UNEXPECTED_TOOL_CALL); the request offers no tools | #0 finish UNEXPECTED_TOOL_CALL"
        ),
    ]
    assert unparsed("MALFORMED_FUNCTION_CALL", tools=None) == unparsed("MALFORMED_FUNCTION_CALL")
    candidate = {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "no such field"}
    explained = trip(GEMINI, {"contents": [HI]}, {"candidates": [candidate]})
    assert lines(explained, only="malformed-output") == [
        (
            "#0 malformed-output (model, error, P): the model emitted what the API cannot parse "
            "(MALFORMED_FUNCTION_CALL: no such field) | #0 finish MALFORMED_FUNCTION_CALL"
        ),
    ]


def test_a_malformed_tool_use_of_converse_is_the_models() -> None:
    body = {"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "malformed_tool_use",
            "usage": {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}}  # fmt: skip

    found = only("malformed-output", trip(CONVERSE, {"messages": TALK}, body))
    assert (found.layer, found.message) == ("model", "the model emitted what the API cannot parse (malformed_tool_use)")


BROKEN = "Failed to parse tool call arguments as JSON: missing closing quote"


def failed(message: str, history: list[dict[str, Any]], status: int = 500, **error: object) -> RoundTrip:
    return chat(history, status=status, error={"error": {"message": message, **error}})


def test_an_error_about_what_the_model_emitted_is_the_models() -> None:
    refused = failed("Failed to call a function.", [HELLO], 400, code="tool_use_failed")
    assert lines(refused, only="malformed-output") == [
        (
            "#0 malformed-output (model, error, P): the API refused what the model emitted: 400 Failed to call a "
            "function. | #0 status 400"
        ),
    ]
    assert lines(failed(BROKEN, [HELLO]), only="malformed-output") != []
    reported = ids(failed(BROKEN, [HELLO]))
    assert not reported & {"api-overloaded", "request-rejected"}


def test_an_error_about_a_call_that_the_client_sends_back_broken_is_the_clients() -> None:
    history = [HELLO, said(None, HALF), result("call_1", "x")]

    reported = judged(failed(BROKEN, history))
    assert "malformed-output" not in {one.id for one in reported}
    assert ("request-rejected", "client") in {(one.id, one.layer) for one in reported}


def test_an_error_inside_a_stream_about_what_the_model_emitted_follows_from_the_error() -> None:
    begun = {"id": "c", "model": "gpt-5", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
    error = {"error": {"message": "Tool call validation failed", "code": "tool_use_failed", "status_code": 400}}
    one = trip(CHAT, {"model": "gpt-5", "messages": [HELLO], "stream": True}, sse(begun, error))

    assert only("malformed-output", one).because_of == ("api-error-in-200-stream",)


def test_a_pause_and_a_limit_are_reported_with_their_words() -> None:
    limited = gemini([HI], [{"text": "x"}], finish="TOO_MANY_TOOL_CALLS")

    assert lines(anthropic([turn_of("hi")], [words("x")], stop="pause_turn"), only="api-pause") == [
        (
            "#0 api-pause (api, info, P): the API paused the turn (pause_turn); send the answer back unchanged | #0 "
            "finish pause_turn"
        ),
    ]
    assert lines(limited, only="api-server-limit") == [
        (
            "#0 api-server-limit (api, warning, P): a limit of the API ended the turn (TOO_MANY_TOOL_CALLS) | "
            "#0 finish TOO_MANY_TOOL_CALLS"
        ),
    ]


def test_a_word_that_contradicts_the_content_is_reported_beside_the_calls() -> None:
    several = said(None, *((f"c{n}", "look_up", '{"word":"a"}') for n in range(4)))

    assert lines(chat([HELLO], said("x"), finish="tool_calls"), only="api-finish") == [
        (
            "#0 api-finish-label-disagrees (api, warning, P): the API finished with 'tool_calls' and sent no "
            "tool call | #0 finish tool_calls"
        ),
    ]
    assert lines(chat([HELLO], said(None, CALL), finish="stop"), only="api-finish") == [
        (
            "#0 api-finish-label-disagrees (api, warning, P): the API finished with 'stop' beside 1 complete "
            "tool call | #0 finish stop, #0 call call_1"
        ),
    ]
    assert lines(chat([HELLO], several, finish="a_new_word"), only="api-finish") == [
        (
            "#0 api-finish-label-disagrees (api, warning, P): the API finished with 'a_new_word' beside 4 "
            "complete tool calls | #0 finish a_new_word, #0 call c0, #0 call c1, #0 call c2"
        ),
    ]
    assert lines(chat([HELLO], said(None, CALL), finish="content_filter"), only="api-finish") == [
        (
            "#0 api-finish-label-disagrees (api, warning, P): the API finished with 'content_filter' beside "
            "complete tool calls: do not run them | #0 finish content_filter, #0 call call_1"
        ),
    ]
    assert lines(chat([HELLO], said(None, HALF), finish="content_filter"), only="api-finish") == []
    without = lines(chat([HELLO], said("x"), finish="tool_calls", tools=None), only="api-finish")
    assert without == lines(chat([HELLO], said("x"), finish="tool_calls"), only="api-finish")
    for choice in ("required", {"type": "function", "function": {"name": "look_up"}}):
        forced = lines(chat([HELLO], said(None, CALL), finish="stop", tool_choice=choice), only="api-finish")
        assert forced[0].startswith("#0 api-finish-label-disagrees (api, info, P)")
        assert "1 complete tool call; that is known behaviour when the request forces the tool |" in forced[0]
    free = lines(chat([HELLO], said(None, CALL), finish="stop", tool_choice="auto"), only="api-finish")
    assert free[0].startswith("#0 api-finish-label-disagrees (api, warning, P)")


def test_an_answer_without_a_finish_word_says_so() -> None:
    one = chat([HELLO], said(None, CALL))
    assert one.response is not None
    body = one.response.body.replace(b'"finish_reason":"tool_calls"', b'"finish_reason":null')
    without = replace(one, response=replace(one.response, content=body, chunks=()))

    assert lines(without, only="api-finish") == [
        (
            "#0 api-finish-label-disagrees (api, warning, P): the API sent no finish reason beside 1 complete "
            "tool call | #0 finish, #0 call call_1"
        ),
    ]


def test_a_tool_of_the_api_explains_a_word_for_calls() -> None:
    block = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}

    assert lines(anthropic([turn_of("hi")], [block], stop="tool_use"), only="api-finish") == []


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


def test_two_calls_are_calls() -> None:
    two = said(None, *((f"c{n}", "look_up", '{"word":"a"}') for n in range(2)))
    mixed = said(None, CALL, HALF)

    assert " beside 2 complete tool calls |" in lines(chat([HELLO], two, finish="stop"), only="api-finish")[0]
    assert lines(chat([HELLO], mixed, finish="content_filter"), only="api-finish") == [], "one of them is not whole"
    nameless = {"id": "c", "model": "gpt-5", "choices": [{"index": 0, "finish_reason": "stop", "message": said(
        None, ("", "look_up", '{"word":"a"}'))}]}  # fmt: skip
    fields = {"model": "gpt-5", "messages": [HELLO]}
    assert lines(trip(CHAT, fields, nameless), only="api-finish")[0].endswith(" #0 call look_up")


def test_a_whole_call_before_the_one_that_was_being_written_is_not_named() -> None:
    whole = {"type": "content_block_start", "index": 1, "content_block": use("toolu_2", name="find") | {"input": {}}}
    piece = {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a'}}
    end = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}}
    rest = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": 'rd":1}'}}
    stop = {"type": "content_block_stop", "index": 0}
    [line] = lines(half_streamed(rest, stop, whole, piece, end, {"type": "message_stop"}), only="api-length")

    assert "while the call of 'find' was being written" in line
    assert line.endswith("#0 call toolu_2")


def test_an_error_is_not_judged_by_its_finish() -> None:
    failed = chat([HELLO], status=500, error={"error": {"message": "no", "type": "server_error"}})

    assert not {one for one in ids(failed) if one.startswith(("api-finish", "api-length", "api-fabricated"))}


def test_a_filter_that_names_no_reason_and_a_rejection_of_another_kind_differ() -> None:
    other = chat([HELLO], status=400, error={"error": {"message": "Unsupported parameter: 'x'", "type": "x"}})

    assert lines(other, only="api-content") == []
    assert lines(other, only="api-context") == []


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


MISSING, AT_CAP = "api-finish-missing", "api-truncated-text-mislabelled"
HALF_A_SENTENCE = "It is a strip that holds a recording of"
WHOLE_SENTENCE = "It is a strip that holds a recording."


def worded(word: str | None, text: str = "x") -> RoundTrip:
    """A chat answer with this finish word, also none."""
    one = chat([HELLO], said(text))
    assert one.response is not None
    body = orjson.loads(one.response.body)
    body["choices"][0]["finish_reason"] = word
    return replace(one, response=replace(one.response, content=orjson.dumps(body)))


def moved(one: RoundTrip, url: str, upstream: str | None = None) -> RoundTrip:
    return replace(one, request=replace(one.request, url=url), upstream=upstream)


def wordless() -> list[RoundTrip]:
    """Complete answers without a finish word, one of each API that has such words."""
    ask = {"role": "user", "content": "hi"}
    base = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-5"}
    streamed_chat = sse({**base, "choices": [{"index": 0, "delta": {"content": "It is."}}]}, done=True)
    start = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "model": "claude-x"}}
    text = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "It is."}}
    streamed_message = sse(
        start, text, {"type": "content_block_stop", "index": 0}, {"type": "message_stop"}, names=True
    )
    message = {"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": [words("It is.")]}
    spoken = {"role": "assistant", "content": [{"text": "It is."}]}
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is."}]}]
    cohere = {"role": "assistant", "content": [{"type": "text", "text": "It is."}]}
    candidate = {"content": {"role": "model", "parts": [{"text": "It is."}]}, "index": 0}
    mistral = {"id": "c", "object": "chat.completion", "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "It is."}, "finish_reason": None}]}  # fmt: skip
    claude = {"model": "claude-x", "max_tokens": 10, "messages": [ask]}
    converse = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    invoke = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-x/invoke"
    return [
        worded(None),
        trip(CHAT, {"model": "gpt-5", "messages": [ask], "stream": True}, streamed_chat),
        trip("https://api.mistral.ai/v1/chat/completions", {"model": "m", "messages": [ask]}, mistral),
        trip(MESSAGES, claude, message | {"stop_reason": None}),
        trip(MESSAGES, claude | {"stream": True}, streamed_message),
        trip(invoke, {"anthropic_version": "bedrock-2023-05-31", **claude}, message | {"stop_reason": None}),
        trip(RESPONSES, {"model": "gpt-5", "input": "hi"}, {"id": "r", "object": "response", "output": output}),
        trip(GEMINI, {"contents": [turn("user", {"text": "hi"})]}, {"candidates": [candidate]}),
        trip(CONVERSE, converse, {"output": {"message": spoken}, "usage": {"inputTokens": 1, "outputTokens": 2}}),
        trip("https://api.cohere.com/v2/chat", {"model": "command-a", "messages": [ask]}, {"message": cohere}),
        trip(OLLAMA, {"model": "qwen3", "messages": [ask], "stream": False},
             {"model": "qwen3", "message": {"role": "assistant", "content": "It is."}, "done": True}),
    ]  # fmt: skip


@pytest.mark.parametrize("one", wordless())
def test_a_complete_answer_without_a_finish_word_is_reported_in_every_api(one: RoundTrip) -> None:
    how = "info" if ":11434/" in one.request.url else "warning"

    assert lines(one, only=MISSING) == [
        f"#0 api-finish-missing (api, {how}, P): the answer is complete and the API sent no finish reason | "
        "#0 finish, #0 response",
    ]


def test_an_empty_finish_word_is_none() -> None:
    [line] = lines(worded(""), only=MISSING)

    assert line.endswith("| #0 finish, #0 response")


def test_what_has_a_word_or_is_not_whole_misses_none() -> None:
    assert MISSING not in ids(worded("stop"))
    assert MISSING not in ids(worded("whatever")), "an unknown word is a word"
    assert MISSING not in ids(worded(None, "")), "that nothing came is another finding"
    cut = sse({"id": "c", "choices": [{"index": 0, "delta": {"content": "It"}}]})
    assert MISSING not in ids(trip(CHAT, {"model": "m", "messages": [HELLO], "stream": True}, cut))
    assert MISSING not in ids(chat([HELLO], status=500, error={"error": {"message": "no", "type": "server_error"}}))


def test_an_api_without_finish_words_misses_none() -> None:
    url = "https://api.cloudflare.com/client/v4/accounts/a/ai/run/@cf/meta/llama-3.3"
    answer = {"success": True, "result": {"response": "It is."}}

    assert MISSING not in ids(trip(url, {"messages": [{"role": "user", "content": "hi"}]}, answer))
    written = {"object": "text_completion", "model": "m", "choices": [{"index": 0, "text": "It is."}]}
    assert MISSING not in ids(trip("http://localhost:8000/v1/completions", {"model": "m", "prompt": "hi"}, written))


def test_a_compaction_has_no_finish_word() -> None:
    output = [{"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}]
    answer = {"id": "r", "object": "response.compaction", "output": output}

    assert MISSING not in ids(trip(f"{RESPONSES}/compact", {"model": "gpt-5", "input": "hi"}, answer))


def test_calls_without_a_finish_word_are_reported_once() -> None:
    one = chat([HELLO], said(None, CALL))
    assert one.response is not None
    bare = replace(one, response=replace(one.response, content=one.response.body.replace(b'"tool_calls"}', b"null}")))

    assert MISSING not in ids(bare)
    assert only("api-finish-label-disagrees", bare).message.startswith("the API sent no finish reason beside")


def test_a_provider_that_never_sends_a_word_makes_it_an_info() -> None:
    url = "https://acme.snowflakecomputing.com/api/v2/cortex/v1/chat/completions"

    assert only(MISSING, moved(worded(None), url, "snowflake")).severity == "info"


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


UNKNOWN = "api-finish-unknown"


def aborted(word: str) -> list[RoundTrip]:
    """Complete answers that end with this word, one of each API that has finish words."""
    ask = {"role": "user", "content": "hi"}
    spoken = {"output": {"message": {"role": "assistant", "content": [{"text": "It is."}]}}}
    answer = {"role": "assistant", "content": "It is."}
    chatted = {"id": "c", "object": "chat.completion", "model": "m", "choices": [
        {"index": 0, "message": answer, "finish_reason": word}]}  # fmt: skip
    cohere = {"role": "assistant", "content": [{"type": "text", "text": "It is."}]}
    piece = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-5"}
    choice = {"index": 0, "delta": {"content": "It is."}, "finish_reason": word}
    return [
        worded(word),
        trip(CHAT, {"model": "m", "messages": [ask], "stream": True}, sse({**piece, "choices": [choice]}, done=True)),
        trip("https://api.mistral.ai/v1/chat/completions", {"model": "m", "messages": [ask]}, chatted),
        anthropic([ask], [words("It is.")], stop=word),
        gemini([turn("user", {"text": "hi"})], [{"text": "It is."}], finish=word),
        trip(CONVERSE, {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}, spoken | {"stopReason": word}),
        trip("https://api.cohere.com/v2/chat", {"model": "command-a", "messages": [ask]},
             {"message": cohere, "finish_reason": word}),
        trip(OLLAMA, {"model": "qwen3", "messages": [ask], "stream": False},
             {"model": "qwen3", "message": answer, "done": True, "done_reason": word}),
    ]  # fmt: skip


@pytest.mark.parametrize(("word", "one"), [(word, one) for word in ("abort", "gone") for one in aborted(word)])
def test_a_finish_word_that_the_api_does_not_have_is_reported_in_every_api(word: str, one: RoundTrip) -> None:
    assert lines(one, only=UNKNOWN) == [
        f"#0 api-finish-unknown (api, warning, S): the API finished with '{word}', which is none of its finish words | "
        f"#0 finish {word}"
    ]


def test_an_answer_that_is_still_to_come_is_made_in_the_background() -> None:
    url, ask = "https://api.openai.com/v1/responses", {"model": "gpt-5", "input": "hi"}
    begun = {"id": "resp_1", "object": "response", "status": "in_progress", "output": [], "usage": None}

    assert only(UNKNOWN, trip(url, ask, begun | {"background": False})).message == (
        "the API ended its answer with 'in_progress', although it says that it is not made in the background"
    )
    assert UNKNOWN not in ids(trip(url, ask | {"background": True}, begun | {"background": True}))
    assert UNKNOWN not in ids(trip(url, ask, begun))


def test_a_word_with_which_the_server_gave_up_is_not_a_whole_answer() -> None:
    answer = {"model": "qwen3", "message": {"role": "assistant", "content": "It is"}, "done": True}
    ask = {"model": "qwen3", "messages": [{"role": "user", "content": "hi"}], "stream": False}

    assert only(UNKNOWN, trip(OLLAMA, ask, answer | {"done_reason": "unload"})).severity == "warning"
    assert UNKNOWN not in ids(trip(OLLAMA, ask, answer | {"done_reason": "stop"}))


def test_a_word_of_the_api_in_any_spelling_is_known() -> None:
    assert UNKNOWN not in ids(worded("stop"))
    assert only(UNKNOWN, worded("STOP")).severity == "info"
    assert UNKNOWN not in ids(worded(None))
    assert UNKNOWN not in ids(anthropic([{"role": "user", "content": "hi"}], [words("x")], stop="end_turn"))
    unspecified = gemini([turn("user", {"text": "hi"})], [{"text": "x"}], finish="FINISH_REASON_UNSPECIFIED")
    assert UNKNOWN not in ids(unspecified)


def test_arguments_that_end_with_their_bracket_were_not_cut() -> None:
    broken = chat([HELLO], said(None, ("call_1", "look_up", '{"word": tape"}')))
    cut = chat([HELLO], said(None, ("call_1", "look_up", '{"word": "ta')))

    assert "call-args-not-json" in ids(broken)
    assert "api-truncated-call-mislabelled" not in ids(broken)
    assert "api-truncated-call-mislabelled" in ids(cut)


def test_a_stop_string_that_nobody_asked_for() -> None:
    def of(*, text: str = "A strip.", **more: Any) -> set[str]:
        return ids(
            anthropic([{"role": "user", "content": "hi"}], [words(text)] if text else [], stop="stop_sequence", **more)
        )

    assert "api-finish-label-disagrees" in of()
    assert "api-finish-label-disagrees" not in of(stop_sequences=["\n"])
    assert "api-finish-label-disagrees" not in of(text="")


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


def several(*words: str | None) -> list[str]:
    chunks = [
        {"id": "c1", "object": "chat.completion.chunk", "model": "gpt-5",
         "choices": [{"index": place, "delta": delta, "finish_reason": word}]}
        for place, last in enumerate(words) for delta, word in (({"content": "It is."}, None), ({}, last))
    ]  # fmt: skip
    asked = {"model": "gpt-5", "messages": [HELLO], "stream": True, "n": len(words)}
    return lines(trip(CHAT, asked, sse(*chunks, done=True)), only=MISSING)


def test_each_of_several_choices_has_a_finish_word() -> None:
    [line] = several(None, "stop")

    assert line.startswith(
        f"#0 {MISSING} (api, warning, P): choice 0 of 2 (from 0) has no finish reason, and the stream ended | "
    )
    assert "choices 0 and 2 of 3 (from 0) have" in several(None, "stop", None)[0]
    assert several("stop", "length") == []


@pytest.mark.parametrize(("asked", "whose"), [("hi", ("api-finish-unknown", "api")), (None, None)])
def test_an_answer_that_only_loads_the_model(asked: str | None, whose: tuple[str, str] | None) -> None:
    answer = {"model": "qwen3", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "load"}
    messages = [{"role": "user", "content": asked}] if asked else []
    found = judged(trip(OLLAMA, {"model": "qwen3", "messages": messages, "stream": False}, answer))

    assert [(one.id, one.layer) for one in found if one.severity != "info"] == ([] if whose is None else [whose])


def test_an_answer_that_is_incomplete_for_no_reason() -> None:
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is."}]}
    one = responses([HELLO], [text])

    def ended(status: str, **more: object) -> list[str]:
        assert one.response is not None
        body = orjson.loads(one.response.body) | {"status": status, **more}
        return lines(replace(one, response=replace(one.response, content=orjson.dumps(body))), only=UNKNOWN)

    assert ended("incomplete", incomplete_details=None) == [
        f"#0 {UNKNOWN} (api, warning, S): the API stopped the answer with 'incomplete' and says no reason | "
        "#0 finish incomplete"
    ]
    assert ended("incomplete", incomplete_details={"reason": "max_output_tokens"}) == []
    assert ended("completed") == []


def test_pieces_that_cannot_fill_a_window_are_not_named() -> None:
    """The recorder put a mark in the place of a long text."""
    error = {"error": {"message": TOO_LONG, "code": "context_length_exceeded"}}

    [short] = lines(chat([turn_of("<LONG_TEXT>")] * 3, status=400, error=error), only="api-context")

    assert "the largest pieces" not in short
    assert short.endswith("152204 tokens | #0 finish")
