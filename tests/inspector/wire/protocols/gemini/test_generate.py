"""Gemini generateContent, streamed in both ways and whole."""

import json
from typing import Any

import pytest
from judged import lines
from round_trips import GEMINI, GEMINI_STREAM, exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.gemini.answer import gemini_usage
from turntape.inspector.wire.values import Reading, ToolChoice, ToolResult, Usage

ASK: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


def candidate(*parts: Any, finish: Any = "STOP", **more: Any) -> dict[str, Any]:
    return {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0, **more}


def whole(*candidates: dict[str, Any], **more: Any) -> Reading:
    return read(exchanged(GEMINI, ASK, {"candidates": list(candidates), "modelVersion": "gemini-3-x", **more}))


def verdict(reading: Reading) -> tuple[str | None, str, str, str]:
    assert reading.finish is not None
    assert reading.emission is not None
    return reading.finish.raw, reading.finish.label, reading.finish.effective, reading.emission.emitted


@pytest.mark.parametrize("snake", [False, True])
def test_the_request_is_read_in_both_spellings(snake: bool) -> None:
    names = {
        "systemInstruction": "system_instruction",
        "generationConfig": "generation_config",
        "maxOutputTokens": "max_output_tokens",
        "stopSequences": "stop_sequences",
        "functionDeclarations": "function_declarations",
        "toolConfig": "tool_config",
        "functionCallingConfig": "function_calling_config",
        "allowedFunctionNames": "allowed_function_names",
        "functionCall": "function_call",
        "functionResponse": "function_response",
        "thoughtSignature": "thought_signature",
    }
    body = {
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}, {"inlineData": {"mimeType": "image/png", "data": ""}}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "s"}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "f", "response": {"output": "42"}}},
                {"functionResponse": {"name": "f", "response": {"error": "no"}}},
            ]},
        ],
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}, {"googleSearch": {}}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "generationConfig": {"maxOutputTokens": 7, "stopSequences": ["END"], "temperature": 0},
    }  # fmt: skip
    text = json.dumps(body)
    for camel, other in names.items() if snake else ():
        text = text.replace(f'"{camel}"', f'"{other}"')
    request = read(exchanged(GEMINI, text, {"candidates": []})).request
    assert (request.model, [p.text for p in request.system]) == ("gemini-3", ["be brief"])
    assert [p.pointer for m in request.messages for p in m.parts] == [
        "/contents/0/parts/0",
        "/contents/0/parts/1",
        "/contents/1/parts/0",
        "/contents/2/parts/0",
        "/contents/2/parts/1",
    ]
    assert request.messages[1].parts[0].signature == "s"
    assert [(r.name, r.is_error, r.text) for r in request.results] == [
        ("f", False, "42"),
        ("f", True, '{"error":"no"}'),
    ]
    assert [(t.name, t.server) for t in request.tools] == [("f", False), ("googleSearch", True)]
    assert request.tool_choice == ToolChoice("named", ("f",))
    assert (request.max_output, request.stop, request.parameters) == (7, ("END",), {"temperature": 0})


@pytest.mark.parametrize(
    ("finish", "label"),
    [
        ("STOP", "complete"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "malformed"),
        ("UNEXPECTED_TOOL_CALL", "malformed"),
        ("TOO_MANY_TOOL_CALLS", "limit"),
        ("CONTINUATION", "pause"),
        ("MISSING_THOUGHT_SIGNATURE", "error"),
        ("OTHER", "unknown"),
        ("NEVER_SEEN", "unknown"),
        (1, "complete"),
        (2, "length"),
        (10, "malformed"),
    ],
)
def test_finish_words_and_their_numbers(finish: Any, label: str) -> None:
    assert verdict(whole(candidate({"text": "a"}, finish=finish)))[:2] == (str(finish), label)


def test_stop_beside_a_call_is_the_normal_way_to_ask_for_it() -> None:
    reading = whole(candidate({"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "s"}))
    assert verdict(reading) == ("STOP", "tool_calls", "tool_calls", "calls")
    assert reading.emission is not None
    assert reading.emission.signatures == ("s",)


def test_malformed_wins_over_a_call_beside_it() -> None:
    reading = whole(candidate({"functionCall": {"name": "f"}}, finish="MALFORMED_FUNCTION_CALL", finishMessage="m"))
    assert verdict(reading)[2] == "malformed"
    assert reading.finish is not None
    assert reading.finish.detail == "m"


def test_a_candidate_without_content_is_empty() -> None:
    assert verdict(whole({"finishReason": "UNEXPECTED_TOOL_CALL"}))[2:] == ("malformed", "empty")


def test_a_blocked_prompt_is_a_content_filter() -> None:
    reading = read(exchanged(GEMINI, ASK, {"promptFeedback": {"blockReason": "SAFETY"}}))
    assert verdict(reading)[:3] == ("SAFETY", "content_filter", "content_filter")


def test_thoughts_are_reasoning_and_code_runs_on_the_server() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1+1"}}
    reading = whole(candidate({"text": "hm", "thought": True}, code, {"text": "2"}))
    assert reading.emission is not None
    assert (reading.emission.reasoning, reading.emission.text) == ("hm", "2")
    assert [c.name for c in reading.emission.server_calls] == ["code_execution"]
    assert verdict(reading)[2] == "complete"


@pytest.mark.parametrize("framing", ["sse", "array"])
def test_both_ways_of_streaming_are_put_together(framing: str) -> None:
    chunks = [
        {
            "candidates": [{"content": {"parts": [{"text": "he"}]}, "index": 0}],
            "usageMetadata": {"promptTokenCount": 3},
        },
        {"candidates": [{"content": {"parts": [{"text": "llo"}]}, "index": 0}]},
        {"candidates": [candidate({"functionCall": {"name": "f", "args": {}}}, finish=None)]},
        {"candidates": [{"finishReason": "STOP", "index": 0}], "usageMetadata": {"candidatesTokenCount": 2}},
    ]
    if framing == "sse":
        answer, url = sse(*chunks).replace(b"\n", b"\r\n"), GEMINI_STREAM
    else:
        answer, url = json.dumps(chunks, indent=1).encode(), GEMINI_STREAM.removesuffix("?alt=sse")
    reading = read(exchanged(url, ASK, answer))
    assert reading.emission is not None
    assert (reading.emission.text, len(reading.emission.calls)) == ("hello", 1)
    assert (reading.streamed, reading.request.streamed) == (True, True)
    assert reading.usage == Usage(input=3, output=2)
    assert verdict(reading)[:2] == ("STOP", "tool_calls")


def test_a_stream_without_a_finish_reason_is_cut() -> None:
    reading = read(exchanged(GEMINI_STREAM, ASK, sse({"candidates": [{"content": {"parts": [{"text": "a"}]}}]})))
    assert verdict(reading) == (None, "cut", "cut", "text")


def test_partial_arguments_are_joined_by_their_paths() -> None:
    def part(**call: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"functionCall": call}]}, "index": 0}]}

    body = sse(
        part(name="f", willContinue=True),
        part(partialArgs=[{"jsonPath": "$.city", "stringValue": "New "}], willContinue=True),
        part(partialArgs=[{"jsonPath": "$.city", "stringValue": "York"}, {"jsonPath": "$.n", "numberValue": 2}]),
        {"candidates": [{"finishReason": "STOP", "index": 0}]},
    )
    reading = read(exchanged(GEMINI_STREAM, ASK, body))
    assert reading.emission is not None
    assert [c.arguments for c in reading.emission.calls] == [{"city": "New York", "n": 2}]
    assert reading.emission.emitted == "calls"


def test_usage_adds_thoughts_and_tool_prompts() -> None:
    usage = {
        "promptTokenCount": 10,
        "cachedContentTokenCount": 4,
        "toolUsePromptTokenCount": 1,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 6,
        "totalTokenCount": 22,
    }
    assert whole(candidate({"text": "a"}), usageMetadata=usage).usage == Usage(11, 4, None, 11, 6)


def test_usage_says_which_tokens_are_pictures_and_which_are_sound() -> None:
    details = [
        {"modality": "TEXT", "tokenCount": 12},
        {"modality": "IMAGE", "tokenCount": 258},
        {"modality": "AUDIO", "tokenCount": 64},
        {"modality": "VIDEO", "tokenCount": "many"},
    ]
    counts = {"promptTokenCount": 334, "candidatesTokenCount": 1, "totalTokenCount": 335}
    found = whole(candidate({"text": "a"}), usageMetadata={**counts, "promptTokensDetails": details}).usage
    assert found is not None
    assert (found.input_audio, found.input_media) == (64, 322)
    text_alone = whole(candidate({"text": "a"}), usageMetadata={**counts, "promptTokensDetails": details[:1]}).usage
    assert text_alone is not None
    assert text_alone.input_media == 0


def test_an_output_of_nothing_is_zero_when_the_total_says_so() -> None:
    usage = {"promptTokenCount": 10, "totalTokenCount": 10}
    assert whole(candidate(), usageMetadata=usage).usage == Usage(input=10, output=0)


def test_errors_in_an_array_are_errors() -> None:
    error = {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}
    reading = read(exchanged(GEMINI_STREAM, ASK, [error], status=429))
    assert reading.error is not None
    assert (reading.error.message, reading.error.type, reading.error.status) == ("slow", "RESOURCE_EXHAUSTED", 429)


def test_code_assist_wraps_the_request_and_the_answer() -> None:
    url = "https://cloudcode-pa.googleapis.com/v1internal:streamGenerateContent?alt=sse"
    ask = {"model": "gemini-3", "project": "p", "request": {**ASK, "tools": [{"googleSearch": {}}]}}
    reading = read(exchanged(url, ask, sse({"response": {"candidates": [candidate({"text": "a"})]}})))
    assert reading.emission is not None
    assert (reading.protocol, reading.request.model, reading.emission.text) == ("gemini-generate", "gemini-3", "a")
    assert reading.request.messages[0].parts[0].pointer == "/request/contents/0/parts/0"
    assert reading.request.tools[0].pointer == "/request/tools/0/googleSearch"


@pytest.mark.parametrize(("verb", "kind"), [("countTokens", "count_tokens"), ("batchEmbedContents", "embeddings")])
def test_the_endpoints_beside_it_have_other_kinds(verb: str, kind: str) -> None:
    reading = read(exchanged(GEMINI.replace("generateContent", verb), ASK, {"totalTokens": 3}))
    assert (reading.kind, reading.emission) == (kind, None)


def test_thoughts_among_the_candidates_are_not_counted_twice() -> None:
    """The total says whether they are among them."""
    inside = gemini_usage(
        {"promptTokenCount": 8, "candidatesTokenCount": 79, "thoughtsTokenCount": 71, "totalTokenCount": 87}
    )
    beside = gemini_usage(
        {"promptTokenCount": 8, "candidatesTokenCount": 8, "thoughtsTokenCount": 71, "totalTokenCount": 87}
    )

    assert inside == beside == Usage(8, None, None, 79, 71)


def test_the_transcription_of_audio_is_the_text_of_the_answer() -> None:
    audio = {"inlineData": {"mimeType": "audio/pcm", "data": "AAAA"}}
    chunks = [
        {"candidates": [{"content": {"parts": [{**audio, "audioTranscription": {"text": "Good "}}]}, "index": 0}]},
        {"candidates": [candidate({**audio, "audioTranscription": {"text": "day", "finished": True}})]},
    ]
    reading = read(exchanged(GEMINI_STREAM, ASK, sse(*chunks)))
    assert reading.emission is not None and reading.emission.text == "Good day"


RAN = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "4"}}
FAILED = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}}
SEARCHED = {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"text": "found"}}}


@pytest.mark.parametrize(
    ("part", "result"),
    [
        (RAN, ToolResult(None, None, False, "4", server=True)),
        (FAILED, ToolResult(None, None, True, "no", server=True, program_failed=True)),
        ({"code_execution_result": {"outcome": 1, "output": "4"}}, ToolResult(None, None, False, "4", server=True)),
        (SEARCHED, ToolResult("t1", "GOOGLE_SEARCH_WEB", False, "found", server=True)),
    ],
)
def test_what_the_apis_own_tools_gave_is_a_result_that_the_client_does_not_give(
    part: dict[str, Any], result: ToolResult
) -> None:
    reading = whole(candidate(part, {"text": "So."}))
    assert reading.emission is not None and reading.emission.server_results == (result,)

    echo = {"contents": [*ASK["contents"], {"role": "model", "parts": [part]}]}
    assert read(exchanged(GEMINI, echo, {})).request.results == ()


def test_a_result_names_the_media_that_it_brings() -> None:
    response = {"name": "shoot", "response": {"output": "done"}, "parts": [{"inlineData": {"mimeType": "image/png"}}]}
    asked = {"contents": [{"role": "user", "parts": [{"functionResponse": response}]}]}
    (result,) = read(exchanged(GEMINI, asked, {})).request.results
    assert result.text == "done\n[image/png]"


def test_an_unknown_part_is_kept_and_counts_as_content() -> None:
    reading = whole(candidate({"someday": {"x": 1}}))
    assert reading.emission is not None
    assert [(part.kind, part.text) for part in reading.emission.content] == [("other", "[someday]")]
    assert reading.emission.emitted == "text" and reading.problems == ()
    assert verdict(whole(candidate({})))[3] == "empty"


def test_a_continuation_token_names_the_answer_that_a_request_continues() -> None:
    first = whole(candidate({"text": "a"}, finish="CONTINUATION", continuationToken="dG9r"), responseId="r1")
    assert (first.continuation, first.answer_ids) == ("dG9r", ("r1", "dG9r"))
    assert verdict(first)[1] == "pause"

    then = read(exchanged(GEMINI, {**ASK, "continuationToken": "dG9r"}, {})).request
    assert (then.continuation, then.previous_id, then.continues) == ("dG9r", None, "dG9r")


@pytest.mark.parametrize(("word", "text"), [("OTHER", False), ("IMAGE_OTHER", False), ("OTHER", True)])
def test_a_word_for_another_reason_says_that_the_api_stopped_an_answer(word: str, text: bool) -> None:
    content = {"role": "model", "parts": [{"text": "It is"}]} if text else {"role": "model"}
    asked = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    one = exchanged(GEMINI, asked, {"candidates": [{"content": content, "finishReason": word}]})

    assert lines(one, only="api-finish-unknown") == (
        []
        if text
        else [
            f"#0 api-finish-unknown (api, warning, S): the API stopped the answer with {word!r} and says no reason | "
            f"#0 finish {word}"
        ]
    )
    assert lines(one, only="model-empty-response") == []


def test_a_word_for_a_failure_is_an_error() -> None:
    asked = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    candidate = {"content": {"role": "model"}, "finishReason": "MISSING_THOUGHT_SIGNATURE"}
    error = read(exchanged(GEMINI, asked, {"candidates": [candidate]})).error

    assert error is not None
    assert (error.message, error.type, error.in_stream) == (
        "The generation ended with 'MISSING_THOUGHT_SIGNATURE'.",
        "MISSING_THOUGHT_SIGNATURE",
        False,
    )


def test_tokens_are_counted_by_what_they_hold() -> None:
    def of(**kinds: int) -> list[dict[str, object]]:
        return [{"modality": kind, "tokenCount": count} for kind, count in kinds.items()]

    usage = {
        "promptTokenCount": 100,
        "promptTokensDetails": of(TEXT=10, IMAGE=20, VIDEO=30, AUDIO=40),
        "cachedContentTokenCount": 60,
        "cacheTokensDetails": of(TEXT=5, VIDEO=25, AUDIO=30),
        "candidatesTokenCount": 70,
        "candidatesTokensDetails": of(TEXT=10, IMAGE=60),
        "totalTokenCount": 170,
    }
    found = gemini_usage(usage)

    assert (found.input_image, found.input_video, found.input_audio) == (20, 30, 40)
    assert (found.cached_image, found.cached_video, found.cached_audio) == (0, 25, 30)
    assert (found.output_image, found.output_video, found.output_audio) == (60, 0, 0)
    assert gemini_usage({"promptTokenCount": 100}).cached_audio is None
