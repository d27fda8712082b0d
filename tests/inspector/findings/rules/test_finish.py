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


def test_two_calls_are_calls() -> None:
    two = said(None, *((f"c{n}", "look_up", '{"word":"a"}') for n in range(2)))
    mixed = said(None, CALL, HALF)

    assert " beside 2 complete tool calls |" in lines(chat([HELLO], two, finish="stop"), only="api-finish")[0]
    assert lines(chat([HELLO], mixed, finish="content_filter"), only="api-finish") == [], "one of them is not whole"
    nameless = {"id": "c", "model": "gpt-5", "choices": [{"index": 0, "finish_reason": "stop", "message": said(
        None, ("", "look_up", '{"word":"a"}'))}]}  # fmt: skip
    fields = {"model": "gpt-5", "messages": [HELLO]}
    assert lines(trip(CHAT, fields, nameless), only="api-finish")[0].endswith(" #0 call look_up")


def test_an_error_is_not_judged_by_its_finish() -> None:
    failed = chat([HELLO], status=500, error={"error": {"message": "no", "type": "server_error"}})

    assert not {one for one in ids(failed) if one.startswith(("api-finish", "api-length", "api-fabricated"))}


def test_a_filter_that_names_no_reason_and_a_rejection_of_another_kind_differ() -> None:
    other = chat([HELLO], status=400, error={"error": {"message": "Unsupported parameter: 'x'", "type": "x"}})

    assert lines(other, only="api-content") == []
    assert lines(other, only="api-context") == []


MISSING = "api-finish-missing"


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


def test_a_stop_string_that_nobody_asked_for() -> None:
    def of(*, text: str = "A strip.", **more: Any) -> set[str]:
        return ids(
            anthropic([{"role": "user", "content": "hi"}], [words(text)] if text else [], stop="stop_sequence", **more)
        )

    assert "api-finish-label-disagrees" in of()
    assert "api-finish-label-disagrees" not in of(stop_sequences=["\n"])
    assert "api-finish-label-disagrees" not in of(text="")


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
