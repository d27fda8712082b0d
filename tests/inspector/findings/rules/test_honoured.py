"""Demands of requests that answers do not honour, in the fields of each API."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from conversations import HELLO
from judged import CONVERSE, OLLAMA, RESPONSES, ids, only, trip
from round_trips import CHAT, GEMINI, MESSAGES, sse

from turntape.cassettes.tape.model import RoundTrip

COHERE, MISTRAL = "https://api.cohere.com/v2/chat", "https://api.mistral.ai/v1/chat/completions"
COMPLETIONS = "https://api.openai.com/v1/completions"
CONTENTS = [{"role": "user", "parts": [{"text": "hi"}]}]
TEXT = "A strip."


def chat(url: str, fields: dict[str, Any], tokens: int, said: dict[str, Any], count: int = 1) -> RoundTrip:
    message = {"role": "assistant", "content": TEXT, **said}
    choices = [{"index": n, "message": message, "finish_reason": "stop"} for n in range(count)]
    usage = {"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": 9 + tokens}
    body = {"id": "c", "object": "chat.completion", "model": "m", "choices": choices, "usage": usage}
    return trip(url, {"model": "m", "messages": [HELLO], **fields}, body)


def anthropic(fields: dict[str, Any], tokens: int, *blocks: dict[str, Any]) -> RoundTrip:
    body = {
        "id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn",
        "content": [*blocks, {"type": "text", "text": TEXT}], "usage": {"input_tokens": 9, "output_tokens": tokens},
    }  # fmt: skip
    return trip(MESSAGES, {"model": "claude", "max_tokens": 60, "messages": [HELLO], **fields}, body)


def gemini(
    config: dict[str, Any], tokens: int, count: int = 1, *, thinks: bool = False, logprobs: bool = False
) -> RoundTrip:
    parts = [*([{"text": "Hm.", "thought": True}] if thinks else []), {"text": TEXT}]
    candidates = [{"content": {"parts": parts}, "finishReason": "STOP", "index": n} for n in range(count)]
    candidates[0] |= {"logprobsResult": {}} if logprobs else {}
    usage = {"promptTokenCount": 9, "candidatesTokenCount": tokens, "totalTokenCount": 9 + tokens}
    body = {"candidates": candidates, "usageMetadata": usage, "modelVersion": "gemini-3"}
    return trip(GEMINI, {"contents": CONTENTS, "generationConfig": config}, body)


def ollama(fields: dict[str, Any], tokens: int, **said: Any) -> RoundTrip:
    body = {
        "model": "m", "message": {"role": "assistant", "content": TEXT, **said}, "done": True, "done_reason": "stop",
        "prompt_eval_count": 9, "eval_count": tokens,
    }  # fmt: skip
    return trip(OLLAMA, {"model": "m", "stream": False, "messages": [HELLO], **fields}, body)


def converse(fields: dict[str, Any], tokens: int, *blocks: dict[str, Any]) -> RoundTrip:
    body = {
        "output": {"message": {"role": "assistant", "content": [*blocks, {"text": TEXT}]}}, "stopReason": "end_turn",
        "usage": {"inputTokens": 9, "outputTokens": tokens, "totalTokens": 9 + tokens},
    }  # fmt: skip
    return trip(CONVERSE, {"messages": [{"role": "user", "content": [{"text": "hi"}]}], **fields}, body)


def cohere(fields: dict[str, Any], tokens: int, **more: Any) -> RoundTrip:
    said = {"role": "assistant", "content": [{"type": "text", "text": TEXT}]}
    usage = {"tokens": {"input_tokens": 9, "output_tokens": tokens}}
    body = {"id": "c", "message": said, "finish_reason": "COMPLETE", "usage": usage, **more}
    return trip(COHERE, {"model": "command", "messages": [HELLO], **fields}, body)


def responses(fields: dict[str, Any], tokens: int, **more: Any) -> RoundTrip:
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": TEXT}]}]
    usage = {"input_tokens": 9, "output_tokens": tokens, "total_tokens": 9 + tokens}
    body = {"id": "r", "object": "response", "status": "completed", "model": "m", "output": output, "usage": usage}
    return trip(RESPONSES, {"model": "m", "input": "hi", **fields}, body | more)


CAPPED: dict[str, Callable[[int, int], RoundTrip]] = {
    "chat": lambda cap, tokens: chat(CHAT, {"max_completion_tokens": cap}, tokens, {}),
    "mistral": lambda cap, tokens: chat(MISTRAL, {"max_tokens": cap}, tokens, {}),
    "anthropic": lambda cap, tokens: anthropic({"max_tokens": cap}, tokens),
    "gemini": lambda cap, tokens: gemini({"maxOutputTokens": cap}, tokens),
    "ollama": lambda cap, tokens: ollama({"options": {"num_predict": cap}}, tokens),
    "converse": lambda cap, tokens: converse({"inferenceConfig": {"maxTokens": cap}}, tokens),
    "cohere": lambda cap, tokens: cohere({"max_tokens": cap}, tokens),
    "responses": lambda cap, tokens: responses({"max_output_tokens": cap}, tokens),
}


@pytest.mark.parametrize("api", sorted(CAPPED))
def test_an_answer_longer_than_its_cap(api: str) -> None:
    one = only("api-cap-ignored", CAPPED[api](60, 740))

    assert (one.layer, one.severity, one.tier) == ("api", "warning", "P")
    assert one.message == "the request allows 60 output tokens, and the answer has 740 output tokens"


@pytest.mark.parametrize("api", sorted(CAPPED))
@pytest.mark.parametrize(("cap", "tokens"), [(60, 59), (60, 60), (60, 70), (1, 30), (1000, 1100)])
def test_an_answer_within_its_cap_or_a_little_over_it(api: str, cap: int, tokens: int) -> None:
    assert "api-cap-ignored" not in ids(CAPPED[api](cap, tokens))


def test_the_slack_of_a_cap_ends() -> None:
    assert "api-cap-ignored" in ids(CAPPED["chat"](1000, 1105))
    assert "api-cap-ignored" not in ids(CAPPED["chat"](1000, 1104))


@pytest.mark.parametrize("api", sorted(CAPPED))
def test_a_small_cap_may_have_been_raised_to_the_least_that_an_api_accepts(api: str) -> None:
    assert only("api-cap-ignored", CAPPED[api](7, 14)).severity == "info"
    assert only("api-cap-ignored", CAPPED[api](7, 20)).severity == "info"
    assert only("api-cap-ignored", CAPPED[api](7, 21)).severity == "warning"
    assert only("api-cap-ignored", CAPPED[api](20, 34)).severity == "warning"


def test_a_cap_counts_for_each_of_several_answers() -> None:
    fields = {"max_tokens": 60, "n": 3}

    assert "api-cap-ignored" not in ids(chat(CHAT, fields, 180, {}, count=3))
    assert "for each of 3 answers" in only("api-cap-ignored", chat(CHAT, fields, 740, {}, count=3)).message


def test_words_count_where_the_api_counts_nothing() -> None:
    def uncounted(words: int) -> RoundTrip:
        message = {"role": "assistant", "content": "word " * words}
        body = {"id": "c", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        return trip(CHAT, {"model": "m", "messages": [HELLO], "max_tokens": 60}, body)

    assert "the answer has 300 words" in only("api-cap-ignored", uncounted(300)).message
    assert "api-cap-ignored" not in ids(uncounted(120))


def completion(fields: dict[str, Any], count: int, **more: Any) -> RoundTrip:
    choices = [{"index": n, "text": TEXT, "finish_reason": "stop", **more} for n in range(count)]
    return trip(COMPLETIONS, {"model": "m", "prompt": "hi", **fields}, {"id": "c", "model": "m", "choices": choices})


SEVERAL: dict[str, Callable[[int, int], RoundTrip]] = {
    "chat": lambda asked, came: chat(CHAT, {"n": asked}, 9, {}, count=came),
    "mistral": lambda asked, came: chat(MISTRAL, {"n": asked}, 9, {}, count=came),
    "gemini": lambda asked, came: gemini({"candidateCount": asked}, 9, count=came),
    "gemini_snake": lambda asked, came: trip(
        GEMINI, {"contents": CONTENTS, "generation_config": {"candidate_count": asked}},
        json.loads(gemini({}, 9, count=came).response.body),  # pyright: ignore[reportOptionalMemberAccess]
    ),
    "completions": lambda asked, came: completion({"n": asked}, came),
}  # fmt: skip


@pytest.mark.parametrize("api", sorted(SEVERAL))
@pytest.mark.parametrize("came", [1, 2])
def test_fewer_answers_than_the_request_asks_for(api: str, came: int) -> None:
    one = only("api-answers-missing", SEVERAL[api](3, came))

    assert (one.layer, one.severity) == ("api", "warning")
    assert one.message == f"the request asks for 3 answers and {came} came"


@pytest.mark.parametrize("api", sorted(SEVERAL))
@pytest.mark.parametrize("count", [1, 3])
def test_as_many_answers_as_were_requested(api: str, count: int) -> None:
    assert "api-answers-missing" not in ids(SEVERAL[api](count, count))


@pytest.mark.parametrize("api", sorted(SEVERAL))
@pytest.mark.parametrize("asked", [1, 2])
def test_more_answers_than_the_request_asks_for(api: str, asked: int) -> None:
    one = only("api-answers-extra", SEVERAL[api](asked, 3))

    assert (one.layer, one.severity) == ("api", "warning")
    assert one.message == f"the request asks for {asked} answer{'s' if asked > 1 else ''} and 3 came"


@pytest.mark.parametrize("api", sorted(SEVERAL))
@pytest.mark.parametrize("count", [1, 3])
def test_no_answer_more_than_was_requested(api: str, count: int) -> None:
    assert "api-answers-extra" not in ids(SEVERAL[api](count, count))
    assert "api-answers-extra" not in ids(SEVERAL[api](3, 1))


def test_each_text_of_a_list_gets_its_answers() -> None:
    both = {"prompt": ["hi", "ho"]}

    assert "api-answers-extra" not in ids(completion(both, 2)) | ids(completion({**both, "n": 2}, 4))
    assert "api-answers-extra" in ids(completion(both, 3))
    assert only("api-answers-missing", completion({**both, "n": 2}, 2)).message.endswith(
        "asks for 4 answers and 2 came"
    )
    assert "api-answers-extra" in ids(completion({"prompt": [17, 4, 99]}, 3))


PROBABLE: dict[str, Callable[[bool, bool], RoundTrip]] = {
    "chat": lambda asked, came: chat(CHAT, {"logprobs": asked}, 9, {"logprobs": {"content": []} if came else None}),
    "ollama": lambda asked, came: ollama({"logprobs": asked}, 9, **({"logprobs": [{}]} if came else {})),
    "gemini": lambda asked, came: gemini({"responseLogprobs": asked}, 9, logprobs=came),
    "cohere": lambda asked, came: cohere({"logprobs": asked}, 9, **({"logprobs": [{}]} if came else {})),
    "completions": lambda asked, came: completion({"logprobs": 3 if asked else 0}, 1, logprobs={} if came else None),
}


@pytest.mark.parametrize("api", sorted(PROBABLE))
def test_probabilities_that_did_not_come(api: str) -> None:
    one = only("api-logprobs-missing", PROBABLE[api](True, False))

    assert (one.layer, one.severity) == ("api", "warning")
    assert "api-logprobs-missing" not in ids(PROBABLE[api](True, True))
    assert "api-logprobs-missing" not in ids(PROBABLE[api](False, False))


def test_probabilities_in_a_stream() -> None:
    def streamed(logprobs: object) -> RoundTrip:
        choice = {"index": 0, "delta": {"content": TEXT}, "finish_reason": "stop", "logprobs": logprobs}
        body = sse({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}, done=True)
        return trip(CHAT, {"model": "m", "messages": [HELLO], "stream": True, "logprobs": True}, body)

    assert "api-logprobs-missing" in ids(streamed(None))
    assert "api-logprobs-missing" not in ids(streamed({"content": tokens("A", " strip.")}))


def tokens(*texts: str, key: str = "logprob", **more: Any) -> list[dict[str, Any]]:
    return [{"token": text, key: -0.1, **more} for text in texts]


SPOKEN: dict[str, Callable[[list[str]], RoundTrip]] = {
    "chat": lambda texts: chat(CHAT, {"logprobs": True}, 9, {"logprobs": {"content": tokens(*texts)}}),
    "ollama": lambda texts: ollama({"logprobs": True}, 9, logprobs=tokens(*texts, top_logprobs=tokens("An", "One"))),
    "gemini": lambda texts: trip(
        GEMINI, {"contents": CONTENTS, "generationConfig": {"responseLogprobs": True}},
        {"candidates": [{
            "content": {"parts": [{"text": TEXT}]}, "finishReason": "STOP",
            "logprobsResult": {"chosenCandidates": tokens(*texts, key="logProbability")},
         }]},
    ),
    "responses": lambda texts: responses({}, 9, output=[{"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": TEXT, "annotations": [], "logprobs": tokens(*texts)}]}]),
}  # fmt: skip


@pytest.mark.parametrize("api", sorted(SPOKEN))
@pytest.mark.parametrize(
    ("texts", "fits"),
    [
        (["A", " strip."], True),
        (["<think>", "Hm", "</think>", "\n", "A", " strip.", "<|im_end|>"], True),
        (["A", " str"], False),
        (["A", " reel", "."], False),
        (["token_id:32", "token_id:9"], True),
    ],
)
def test_probabilities_of_another_text(api: str, texts: list[str], fits: bool) -> None:
    assert ("api-logprobs-missing" not in ids(SPOKEN[api](texts))) is fits


def test_the_bytes_of_a_token_count_where_the_api_gives_them() -> None:
    def said(*pieces: bytes) -> RoundTrip:
        spelled = [{"token": repr(one), "logprob": -0.1, "bytes": list(one)} for one in pieces]
        return chat(CHAT, {"logprobs": True}, 9, {"content": "Z\u00fcri", "logprobs": {"content": spelled}})

    assert "api-logprobs-missing" not in ids(said(b"Z", b"\xc3", b"\xbc", b"ri"))
    message = only("api-logprobs-missing", said(b"Z", b"\xc3", b"\xbc")).message
    assert message == "the logprobs are of other tokens than the text: 'Z\u00fc' and not 'Z\u00fcri'"


THOUGHT = {"reasoning_content": "The user asks."}
QUIET: dict[str, tuple[RoundTrip, RoundTrip, str]] = {
    **{
        f"chat {name}": (chat(CHAT, fields, 9, THOUGHT), chat(CHAT, fields, 9, {}), shown)
        for name, fields, shown in (
            ("enable_thinking", {"enable_thinking": False}, "enable_thinking: false"),
            ("template", {"chat_template_kwargs": {"enable_thinking": False}}, "enable_thinking: false"),
            ("template, short", {"chat_template_kwargs": {"thinking": False}}, "thinking: false"),
            ("effort", {"reasoning": {"effort": "none"}}, "effort: none"),
            ("enabled", {"reasoning": {"enabled": False}}, "enabled: false"),
            ("reasoning_effort", {"reasoning_effort": "none"}, "reasoning_effort: none"),
            ("think", {"think": False}, "think: false"),
            ("thinking", {"thinking": {"type": "disabled"}}, "type: disabled"),
        )
    },
    "ollama": (ollama({"think": False}, 9, thinking="Hm."), ollama({"think": False}, 9), "think: false"),
    "ollama, in the text": (
        ollama({"think": False}, 9, content="<think>The user</think>A strip."),
        ollama({"think": False}, 9, content="A"),
        "think: false",
    ),
    "anthropic": (
        anthropic({"thinking": {"type": "disabled"}}, 9, {"type": "thinking", "thinking": "Hm.", "signature": "s"}),
        anthropic({"thinking": {"type": "disabled"}}, 9), "type: disabled",
    ),
    "gemini": (
        gemini({"thinkingConfig": {"thinkingBudget": 0}}, 9, thinks=True),
        gemini({"thinkingConfig": {"thinkingBudget": 0}}, 9), "thinkingBudget: 0",
    ),
    "converse": (
        converse({"additionalModelRequestFields": {"thinking": {"type": "disabled"}}}, 9,
                 {"reasoningContent": {"reasoningText": {"text": "Hm."}}}),
        converse({"additionalModelRequestFields": {"thinking": {"type": "disabled"}}}, 9), "type: disabled",
    ),
    "responses": (
        responses({"reasoning": {"effort": "none"}}, 90, usage={
            "input_tokens": 9, "output_tokens": 90, "total_tokens": 99,
            "output_tokens_details": {"reasoning_tokens": 64},
        }),
        responses({"reasoning": {"effort": "none"}}, 9), "effort: none",
    ),
}  # fmt: skip


@pytest.mark.parametrize("api", sorted(QUIET))
def test_reasoning_that_the_request_turned_off(api: str) -> None:
    fires, spared, shown = QUIET[api]
    one = only("api-reasoning-unwanted", fires)

    assert (one.layer, one.severity) == ("api", "warning")
    assert f"turns reasoning off ({shown})" in one.message
    assert "api-reasoning-unwanted" not in ids(spared)


@pytest.mark.parametrize(
    "fields", [{"think": True}, {"think": 0}, {"reasoning": {"effort": "low"}}, {"thinking": {"type": "enabled"}}, {}]
)
def test_reasoning_that_the_request_allows(fields: dict[str, Any]) -> None:
    assert "api-reasoning-unwanted" not in ids(chat(CHAT, fields, 9, THOUGHT))


@pytest.mark.parametrize(
    ("fields", "back", "what"),
    [
        (
            {"max_output_tokens": 4000},
            {"max_output_tokens": 1024},
            "4000 and the answer repeats it as 1024",
        ),
        ({"temperature": 0.2}, {"temperature": 1.0}, "temperature 0.2 and the answer repeats it as 1.0"),
        ({"metadata": {"run": "7"}}, {"metadata": {}}, "metadata {'run': '7'} and the answer repeats it as {}"),
        ({"metadata": {"run": "7"}}, {"metadata": None}, "metadata {'run': '7'} and the answer repeats it as None"),
        ({"previous_response_id": "resp_1"}, {"previous_response_id": None}, "previous_response_id 'resp_1'"),
        ({"parallel_tool_calls": True}, {"parallel_tool_calls": False}, "parallel_tool_calls true"),
        ({"top_p": 0.5}, {"top_p": 1}, "top_p 0.5 and the answer repeats it as 1"),
        ({"reasoning": {"effort": "high"}}, {"reasoning": {"effort": "low"}}, "reasoning.effort 'high' and"),
        ({"text": {"format": {"type": "json_object"}}}, {"text": {"format": {"type": "text"}}}, "text.format.type"),
        ({"tool_choice": {"type": "function", "name": "a"}}, {"tool_choice": "auto"}, "tool_choice {'type'"),
        ({"tool_choice": "required"}, {"tool_choice": "auto"}, "tool_choice 'required' and"),
    ],
)
def test_a_parameter_that_the_answer_repeats_otherwise(fields: dict[str, Any], back: dict[str, Any], what: str) -> None:
    one = only("api-parameter-changed", responses(fields, 9, **back))

    assert (one.layer, one.severity) == ("api", "warning")
    assert what in one.message
    assert "api-parameter-changed" not in ids(responses(fields, 9, **fields))
    assert "api-parameter-changed" not in ids(responses(fields, 9))
    assert "api-parameter-changed" not in ids(responses({}, 9, **back))


def test_a_number_that_comes_back_as_nothing_is_a_matter_of_form() -> None:
    assert "api-parameter-changed" not in ids(responses({"temperature": 0.2}, 9, temperature=None))


def test_the_last_event_of_a_stream_repeats_the_parameters() -> None:
    body = json.loads(responses({}, 9, temperature=1.0).response.body)  # pyright: ignore[reportOptionalMemberAccess]
    event = {"type": "response.completed", "response": body}
    asked = {"model": "m", "input": "hi", "stream": True, "temperature": 0.2}

    assert "temperature 0.2" in only("api-parameter-changed", trip(RESPONSES, asked, sse(event, names=True))).message


def test_the_answer_shows_that_the_tools_did_not_arrive() -> None:
    tools = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in ("look_up", "add")]

    assert only("api-parameter-changed", responses({"tools": tools}, 9, tools=[])).message == (
        "the request offers 2 tools and the answer repeats none: the model did not get them"
    )
    assert only("api-parameter-changed", responses({"tools": tools}, 9, tools=tools[:1])).message == (
        "the request offers 2 tools and the answer repeats no 'add': the model did not get it"
    )
    more = [{**tool, "strict": True} for tool in tools]
    assert "api-parameter-changed" not in ids(responses({"tools": tools}, 9, tools=more))
    assert "api-parameter-changed" not in ids(responses({"tools": tools}, 9))
    assert "api-parameter-changed" not in ids(responses({}, 9, tools=[]))


@pytest.mark.parametrize(
    ("asked", "back"),
    [
        ({"tool_choice": "auto"}, {"tool_choice": "none"}),
        ({"tool_choice": {"type": "function"}}, {"tool_choice": {"type": "function", "name": "a"}}),
        ({"reasoning": {"summary": "auto"}}, {"reasoning": {"effort": "medium", "summary": "detailed"}}),
    ],
)
def test_what_the_request_leaves_to_the_api_may_come_back_otherwise(asked: Any, back: Any) -> None:
    assert "api-parameter-changed" not in ids(responses(asked, 9, **back))


def test_the_answer_shows_other_instructions() -> None:
    one = only("api-parameter-changed", responses({"instructions": "Be brief."}, 9, instructions="Be kind."))

    assert one.message == "the request says instructions 'Be brief.' and the answer repeats it as 'Be kind.'"
    assert "api-parameter-changed" not in ids(responses({"instructions": "Be brief."}, 9, instructions="Be brief."))
