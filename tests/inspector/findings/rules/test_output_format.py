"""Answers that should be JSON."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, said
from judged import (
    CONVERSE,
    OLLAMA,
    RESPONSES,
    Said,
    anthropic,
    asked,
    gemini,
    ids,
    judged,
    lines,
    only,
    trip,
    turn,
    words,
)
from round_trips import CHAT, GEMINI, sse

from turntape.cassettes.tape.model import RoundTrip

ASKED: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
NOT_JSON, BROKEN = "model-answer-not-json", "model-answer-breaks-schema"
NOT_ENFORCED = "api-format-not-enforced"
GOOD = '{"city": "Rome", "people": 2800000}'
WRONG = '{"town": "Rome"}'
MODE = {"type": "json_object"}
NAMED = {"type": "json_schema", "json_schema": {"name": "City", "strict": True, "schema": ASKED}}
HI = {"role": "user", "content": "hi"}


def mode(text: str | None, **fields: Any) -> RoundTrip:
    return chat([HELLO], said(text), **{"response_format": MODE, "tools": None, **fields})


def responses(text: str, schema: object) -> RoundTrip:
    form = {"type": "json_schema", "name": "City", "strict": True, "schema": schema} if schema else MODE
    body = {"model": "gpt-5.1", "input": "hi", "text": {"format": form}}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    output = [{"type": "message", "role": "assistant", "id": "m", "status": "completed", "content": content}]
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    answer = {"id": "r", "object": "response", "status": "completed", "model": "gpt-5.1", "output": output}
    return trip(RESPONSES, body, answer | {"usage": usage})


def messages(text: str, schema: object) -> RoundTrip:
    return anthropic([asked("hi")], [words(text)], output_config={"format": {"type": "json_schema", "schema": schema}})


def old_messages(text: str, schema: object) -> RoundTrip:
    return anthropic([asked("hi")], [words(text)], output_format={"type": "json_schema", "schema": schema})


def google(text: str, schema: object, name: str = "responseJsonSchema") -> RoundTrip:
    config = {"responseMimeType": "application/json", **({name: schema} if schema else {})}
    body = {"contents": [turn("user", {"text": "hi"})], "generationConfig": config}
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}
    return trip(GEMINI, body, {"candidates": [candidate], "modelVersion": "gemini-3"})


def google_capitals(text: str, schema: object) -> RoundTrip:
    spelled = json.dumps(schema)
    for name in ("object", "string", "integer"):
        spelled = spelled.replace(f'"type": "{name}"', f'"type": "{name.upper()}"')
    return google(text, json.loads(spelled), "responseSchema")


def vertex(text: str, schema: object) -> RoundTrip:
    config = {"responseFormat": [{"text": {"mimeType": "application/json", "schema": schema}}]}
    body = {"contents": [turn("user", {"text": "hi"})], "generationConfig": config}
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}
    return trip(GEMINI, body, {"candidates": [candidate], "modelVersion": "gemini-3"})


def interactions(text: str, schema: object) -> RoundTrip:
    url = "https://generativelanguage.googleapis.com/v1beta/interactions"
    form = {"type": "text", "mime_type": "application/json", "schema": schema}
    answer = {"id": "i", "status": "completed", "model": "gemini-3", "outputs": [{"type": "text", "text": text}]}
    return trip(url, {"model": "gemini-3", "input": "hi", "response_format": form}, answer)


def converse(text: str, schema: object) -> RoundTrip:
    form = {"type": "json_schema", "structure": {"jsonSchema": {"name": "City", "schema": json.dumps(schema)}}}
    body = {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "outputConfig": {"textFormat": form}}
    message = {"role": "assistant", "content": [{"text": text}]}
    usage = {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}
    return trip(CONVERSE, body, {"output": {"message": message}, "stopReason": "end_turn", "usage": usage})


def invoke(text: str, schema: object) -> RoundTrip:
    url = CONVERSE.replace("/converse", "/invoke")
    one = messages(text, schema)
    assert one.response is not None
    body = json.loads(one.request.body) | {"anthropic_version": "bedrock-2023-05-31"}
    return trip(url, body, json.loads(one.response.body))


def ollama(text: str, schema: object) -> RoundTrip:
    body = {"model": "qwen3", "messages": [HI], "stream": False, "format": schema or "json"}
    message = {"role": "assistant", "content": text}
    return trip(OLLAMA, body, {"model": "qwen3", "message": message, "done": True, "done_reason": "stop"})


def ollama_generate(text: str, schema: object) -> RoundTrip:
    body = {"model": "qwen3", "prompt": "hi", "stream": False, "format": schema or "json"}
    url = "http://127.0.0.1:11434/api/generate"
    return trip(url, body, {"model": "qwen3", "response": text, "done": True, "done_reason": "stop"})


def cohere(text: str, schema: object) -> RoundTrip:
    body = {"model": "command-a", "messages": [HI], "response_format": {"type": "json_object", "json_schema": schema}}
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    answer = {"id": "c", "message": message, "finish_reason": "COMPLETE"}
    return trip("https://api.cohere.com/v2/chat", body, answer)


def cohere_old(text: str, schema: object) -> RoundTrip:
    body = {"model": "command-r", "message": "hi", "response_format": {"type": "json_object", "schema": schema}}
    answer = {"response_id": "c", "text": text, "finish_reason": "COMPLETE"}
    return trip("https://api.cohere.com/v1/chat", body, answer)


def completed(url: str, text: str, **fields: Any) -> RoundTrip:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    answer = {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}
    return trip(url, {"model": "m", "messages": [HI], **fields}, answer)


def mistral(text: str, schema: object) -> RoundTrip:
    form = {"type": "json_schema", "json_schema": {"name": "City", "strict": True, "schema": schema}}
    return completed("https://api.mistral.ai/v1/chat/completions", text, response_format=form)


def mistral_conversation(text: str, schema: object) -> RoundTrip:
    form = {"type": "json_schema", "json_schema": {"name": "City", "strict": True, "schema": schema}}
    body = {"model": "mistral-large", "inputs": "hi", "completion_args": {"response_format": form}}
    said_so = {"type": "message.output", "role": "assistant", "content": text, "id": "m"}
    answer = {"object": "conversation.response", "conversation_id": "c", "outputs": [said_so]}
    return trip("https://api.mistral.ai/v1/conversations", body, answer)


def openai(text: str, schema: object) -> RoundTrip:
    form = {"type": "json_schema", "json_schema": {"name": "City", "strict": True, "schema": schema}}
    return mode(text, response_format=form)


def llamacpp(text: str, schema: object) -> RoundTrip:
    return completed("http://127.0.0.1:8080/v1/chat/completions", text, json_schema=schema)


def together(text: str, schema: object) -> RoundTrip:
    form = {"type": "json_object", "schema": schema}
    return completed("https://api.together.xyz/v1/chat/completions", text, response_format=form)


def guided(text: str, schema: object) -> RoundTrip:
    return completed("http://127.0.0.1:8000/v1/chat/completions", text, guided_json=json.dumps(schema))


def structured(text: str, schema: object) -> RoundTrip:
    return completed("http://127.0.0.1:8000/v1/chat/completions", text, structured_outputs={"json": schema})


def completions(text: str, schema: object) -> RoundTrip:
    choice = {"index": 0, "text": text, "finish_reason": "stop"}
    answer = {"object": "text_completion", "model": "m", "choices": [choice]}
    body = {"model": "m", "prompt": "hi", "guided_json": schema}
    return trip("http://127.0.0.1:8000/v1/completions", body, answer)


def grammar(text: str, schema: object) -> RoundTrip:
    body = {"inputs": "hi", "parameters": {"grammar": {"type": "json", "value": schema}}}
    answer = {"generated_text": text, "details": {"finish_reason": "eos_token", "generated_tokens": 5}}
    return trip("https://api-inference.huggingface.co/models/org/model", body, answer)


def cloudflare(text: str, schema: object) -> RoundTrip:
    url = "https://api.cloudflare.com/client/v4/accounts/a/ai/run/@cf/meta/llama-3.3"
    body = {"messages": [HI], "response_format": {"type": "json_schema", "json_schema": schema}}
    try:
        response = json.loads(text)
    except ValueError:
        response = text
    return trip(url, body, {"success": True, "result": {"response": response}})


EVERY = [
    openai, responses, messages, old_messages, google, google_capitals, vertex, interactions, converse, invoke, ollama,
    ollama_generate, cohere, cohere_old, mistral, mistral_conversation, llamacpp, together, guided, structured,
    completions, grammar, cloudflare,
]  # fmt: skip


@pytest.mark.parametrize("api", EVERY, ids=lambda api: api.__name__)
def test_an_answer_is_held_against_the_schema_in_every_api(api: Any) -> None:
    def formal(text: str) -> list[Said]:
        return [one for one in judged(api(text, ASKED)) if one.id in (NOT_JSON, BROKEN)]

    assert formal(GOOD) == []
    [broken] = formal(WRONG)
    assert (broken.id, broken.layer, broken.severity, broken.tier) == (BROKEN, "model", "error", "P")
    assert broken.message.startswith("the answer breaks the schema that the request asks for (")
    assert '"city" is a required property' in broken.message
    [bare] = formal("Rome is a city.")
    assert (bare.id, bare.layer, bare.severity, bare.tier) == (NOT_JSON, "model", "error", "P")
    assert bare.message == "the request asks for JSON and the answer is not JSON: 'Rome is a city.'"


@pytest.mark.parametrize("api", EVERY, ids=lambda api: api.__name__)
def test_the_api_is_to_blame_for_a_format_that_it_accepts_and_does_not_enforce(api: Any) -> None:
    for text in (WRONG, "Rome is a city."):
        [root] = [one for one in judged(api(text, ASKED)) if one.id == NOT_ENFORCED]
        assert (root.layer, root.severity, root.tier, root.because_of) == ("api", "error", "S", ())
        assert "the request has the API enforce the format of the answer, and its text " in root.message
        assert {one.because_of for one in judged(api(text, ASKED)) if one.id in (NOT_JSON, BROKEN)} == {(NOT_ENFORCED,)}
    assert NOT_ENFORCED not in ids(api(GOOD, ASKED))


@pytest.mark.parametrize("strict", [False, None])
def test_a_schema_that_is_not_strict_is_left_to_the_model(strict: Any) -> None:
    named = {"name": "City", "schema": ASKED} | ({} if strict is None else {"strict": strict})
    at_chat = mode(WRONG, response_format={"type": "json_schema", "json_schema": named})
    format_ = {"format": {"type": "json_schema", **named}}
    at_responses = trip(RESPONSES, {"model": "m", "input": "hi", "text": format_}, answered(WRONG))

    for one in (at_chat, at_responses):
        assert {BROKEN} <= ids(one)
        assert NOT_ENFORCED not in ids(one)


def answered(text: str) -> dict[str, Any]:
    block = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [block]}
    return {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": [item]}


@pytest.mark.parametrize(
    "text", ["so</think>" + GOOD, GOOD + "<|im_end|>", '{"city": "Ro'], ids=["thought", "token", "cap"]
)
def test_what_another_finding_says_of_a_text_is_not_said_of_the_format(text: str) -> None:
    assert NOT_ENFORCED not in ids(mode(text, usage=(100, 50), max_tokens=50))
    assert NOT_JSON in ids(mode(text, usage=(100, 50), max_tokens=50))


@pytest.mark.parametrize("api", [responses, google, ollama, ollama_generate])
def test_json_mode_asks_for_any_json(api: Any) -> None:
    assert ids(api(WRONG, None)) & {NOT_JSON, BROKEN} == set()
    assert NOT_JSON in ids(api("Rome", None))
    assert NOT_JSON in ids(mode("Rome"))
    assert ids(mode(WRONG)) == set()


@pytest.mark.parametrize(
    "fields",
    [
        {"response_format": {"type": "text"}},
        {"response_format": None},
        {"response_format": "auto"},
        {},
        {"structured_outputs": {"choice": ["a"]}},
        {"json_schema": None},
    ],
)
def test_a_request_that_asks_for_no_json_gets_what_it_likes(fields: dict[str, Any]) -> None:
    assert ids(chat([HELLO], said("Rome"), tools=None, **fields)) == set()


def test_a_bare_text_is_the_wish_of_a_media_type() -> None:
    for config in ({"responseMimeType": "text/plain"}, {"responseMimeType": "text/x.enum", "responseSchema": ASKED}):
        body = {"contents": [turn("user", {"text": "hi"})], "generationConfig": config}
        candidate = {"content": {"role": "model", "parts": [{"text": "Rome"}]}, "finishReason": "STOP", "index": 0}
        assert NOT_JSON not in ids(trip(GEMINI, body, {"candidates": [candidate], "modelVersion": "gemini-3"}))


def test_what_is_wrong_is_shown_with_its_places() -> None:
    assert lines(openai('{"city": 1, "people": "2"}', ASKED), only=BROKEN) == [
        "#0 model-answer-breaks-schema (model, warning, P): the answer breaks the schema that the request asks for "
        '(wrong-type): city: 1 is not of type "string"; people: "2" is not of type "integer" | #0 response, '
        f"#0 request /response_format | because of {NOT_ENFORCED}",
    ]
    assert lines(openai('{"city": "Rome", "people": 2, "x": []}', ASKED), only=BROKEN) == [
        "#0 model-answer-breaks-schema (model, error, P): the answer breaks the schema that the request asks for "
        "(extra-argument): Additional properties are not allowed ('x' was unexpected) | #0 response, "
        f"#0 request /response_format | because of {NOT_ENFORCED}",
    ]
    mixed = judged(openai('{"city": 1, "x": 2}', ASKED))
    assert [one.severity for one in mixed] == ["error", "error"], "one of the two cannot be converted"
    long = "Here it is: " + "xyz, " * 24 + "and so on"
    assert lines(mode(long), only=NOT_JSON) == [
        "#0 model-answer-not-json (model, error, P): the request asks for JSON and the answer is not JSON: "
        f"{long[:119] + '…'!r} | #0 response, #0 request /response_format | because of {NOT_ENFORCED}",
    ]


@pytest.mark.parametrize("fence", ["```json\n%s\n```", "```\n%s\n```", "\n```json\n%s\n```\n"])
def test_json_in_a_code_fence_is_not_json_and_can_be_saved(fence: str) -> None:
    assert lines(openai(fence % GOOD, ASKED), only=NOT_JSON) == [
        "#0 model-answer-not-json (model, warning, P): the request asks for JSON and the answer puts it into a code "
        f"fence | #0 response, #0 request /response_format | because of {NOT_ENFORCED}",
    ]
    assert {one.severity for one in judged(openai(fence % GOOD, ASKED))} == {"warning"}
    assert {one.severity for one in judged(openai(fence % "Rome", ASKED))} == {"error"}


@pytest.mark.parametrize(
    "one",
    [
        mode('{"city": "Ro', finish="length"),
        mode("I cannot", finish="content_filter"),
        chat([HELLO], said("Looking", CALL), response_format=MODE),
        chat([HELLO], said(None) | {"refusal": "No."}, response_format=MODE, tools=None),
        mode(""),
        mode(None),
        mode('{"city": ', stop=["\n"]),
        mode("x", status=500, error={"error": {"message": "Rome", "type": "server_error"}}),
        chat([HELLO], said('{"name": "look_up", "arguments": {"word": "tape"}}'), response_format=NAMED),
    ],
)
def test_an_answer_that_another_finding_explains_is_not_judged(one: RoundTrip) -> None:
    assert ids(one) & {NOT_JSON, BROKEN} == set()


def chunked(*texts: str, finish: str | None = "stop", done: bool = True) -> RoundTrip:
    def chunk(**choice: Any) -> dict[str, Any]:
        return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {}, **choice}]}

    chunks = [chunk(delta={"content": text}) for text in texts] + ([chunk(finish_reason=finish)] if finish else [])
    body = {"model": "m", "messages": [HI], "stream": True, "response_format": NAMED}
    return trip(CHAT, body, sse(*chunks, done=done))


def test_a_stream_is_judged_as_a_whole_and_only_when_it_is_whole() -> None:
    assert ids(chunked('{"city":', ' "Rome"}')) & {NOT_JSON, BROKEN} == set()
    assert BROKEN in ids(chunked('{"town":', ' "Rome"}'))
    assert NOT_JSON in ids(chunked('{"city":', ' "Rome"'))
    assert ids(chunked('{"city":', ' "Rome"', finish=None, done=False)) & {NOT_JSON, BROKEN} == set()


def test_a_remark_before_the_json_is_not_part_of_it() -> None:
    blocks = [words("I searched for it."), words(GOOD)]
    form = {"format": {"type": "json_schema", "schema": ASKED}}

    assert ids(anthropic([asked("hi")], blocks, output_config=form)) == set()
    assert ids(anthropic([asked("hi")], [words('{"city": '), words('"Rome"}')], output_config=form)) == set()
    assert ids(anthropic([asked("hi")], [*reversed(blocks)], output_config=form)) == {NOT_JSON, NOT_ENFORCED}


def test_a_result_of_the_apis_tool_after_the_json_is_not_part_of_it() -> None:
    searched = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "x", "text": "page"}]},
    ]
    form = {"format": {"type": "json_schema", "schema": ASKED}}

    assert ids(anthropic([asked("hi")], [words(GOOD), *searched], output_config=form)) == set()


@pytest.mark.parametrize("word", ["stop_sequence", "somehow"])
def test_an_answer_is_judged_under_any_word_for_its_end(word: str) -> None:
    form = {"format": {"type": "json_schema", "schema": ASKED}}

    assert BROKEN in ids(anthropic([asked("hi")], [words(WRONG)], stop=word, output_config=form))
    assert BROKEN not in ids(anthropic([asked("hi")], [words(WRONG)], stop="pause_turn", output_config=form))


def test_a_request_without_messages_has_an_answer_too() -> None:
    assert NOT_JSON in ids(chat([], said("Rome"), response_format=MODE, tools=None))


def test_an_answer_may_begin_in_the_request() -> None:
    begun = {"role": "assistant", "content": '{"city":'}

    assert ids(chat([HELLO, begun], said(' "Rome"}'), response_format=NAMED, tools=None)) == set()
    assert BROKEN in ids(chat([HELLO, begun], said(' 5.5, "x": 1}'), response_format=NAMED, tools=None))
    assert NOT_JSON in ids(chat([HELLO, begun], said(' "Rome'), response_format=NAMED, tools=None))
    pieces = [{"type": "text", "text": '{"ci'}, {"type": "text", "text": 'ty":'}]
    parts = {"role": "assistant", "content": pieces}
    assert ids(chat([HELLO, parts], said(' "Rome"}'), response_format=NAMED, tools=None)) == set()
    assert NOT_JSON in ids(chat([{"role": "user", "content": '{"city":'}], said('"Rome"}'), response_format=MODE))


def test_each_of_several_answers_is_judged() -> None:
    def choice(place: int, text: str, finish: str = "stop") -> dict[str, Any]:
        return {"index": place, "message": {"role": "assistant", "content": text}, "finish_reason": finish}

    def sampled(*choices: dict[str, Any]) -> list[str]:
        answer = {"id": "c", "object": "chat.completion", "model": "m", "choices": list(choices)}
        body = {"model": "m", "messages": [HI], "n": len(choices), "response_format": NAMED}
        return [one.id for one in judged(trip(CHAT, body, answer)) if one.id in (NOT_JSON, BROKEN)]

    assert sampled(choice(0, GOOD), choice(1, GOOD)) == []
    assert sampled(choice(0, GOOD), choice(1, WRONG)) == [BROKEN]
    assert sampled(choice(0, GOOD), choice(1, "Rome")) == [NOT_JSON]
    assert sampled(choice(0, "Rome"), choice(1, '{"ci', "length")) == [NOT_JSON]
    assert sampled(choice(0, GOOD), choice(1, '{"ci', "length")) == []
    refused = choice(1, "") | {"message": {"role": "assistant", "content": "Rome", "refusal": "No."}}
    assert sampled(choice(0, GOOD), refused) == []
    called = choice(1, "Rome", "stop")
    called["message"]["tool_calls"] = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    assert sampled(choice(0, GOOD), called) == []


def test_several_answers_of_a_broken_stream_are_not_judged() -> None:
    def chunk(place: int, finish: str | None) -> dict[str, Any]:
        return {"id": "c", "choices": [{"index": place, "delta": {"content": "Rome"}, "finish_reason": finish}]}

    body = {"model": "m", "messages": [HI], "n": 2, "stream": True, "response_format": NAMED}
    failed = {"error": {"message": "overloaded", "type": "server_error"}}
    assert NOT_JSON in ids(trip(CHAT, body, sse(chunk(0, "stop"), chunk(1, "stop"), done=True)))
    assert NOT_JSON not in ids(trip(CHAT, body, sse(chunk(0, "stop"), chunk(1, None))))
    assert NOT_JSON not in ids(trip(CHAT, body, sse(chunk(0, "stop"), chunk(1, "stop"), failed, done=True)))


def test_text_that_the_cap_cut_is_because_of_the_cap() -> None:
    [line] = lines(mode('{"city": "Ro', usage=(100, 50), max_tokens=50), only=NOT_JSON)

    assert line.endswith("| because of api-truncated-text-mislabelled")
    [alone] = lines(mode('{"city": "Ro', usage=(100, 49), max_tokens=50), only=NOT_JSON)
    assert alone.endswith(f"| because of {NOT_ENFORCED}")


def test_json_with_a_token_that_the_server_left_behind_is_because_of_the_token() -> None:
    [leaked] = lines(mode('{"city": "Rome"}<|im_end|>'), only=NOT_JSON)
    [alone] = lines(mode("The city is Rome.<|im_end|>"), only=NOT_JSON)

    assert leaked.endswith("| because of template-tokens-in-text")
    assert alone.endswith(f"| because of {NOT_ENFORCED}")


def test_an_empty_schema_and_a_broken_one_judge_nothing() -> None:
    assert ids(openai(WRONG, {})) == set()
    assert ids(openai(WRONG, {"type": "nonsense"})) == set()
    assert BROKEN not in ids(gemini([turn("user", {"text": "hi"})], [{"text": WRONG}]))


STOP = "api-stop-ignored"
CONTINUED = "Thought: look.\nObservation: 14 degrees."
AT = "\nObservation:"


def at_converse(text: str) -> RoundTrip:
    answer = {"output": {"message": {"role": "assistant", "content": [{"text": text}]}}, "stopReason": "end_turn"}
    body = {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "inferenceConfig": {"stopSequences": [AT]}}
    return trip(CONVERSE, body, answer)


def at_gemini(text: str) -> RoundTrip:
    body = {"contents": [turn("user", {"text": "hi"})], "generationConfig": {"stopSequences": [AT]}}
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
    return trip(GEMINI, body, {"candidates": [candidate]})


def at_ollama(text: str) -> RoundTrip:
    body = {"model": "m", "messages": [HI], "stream": False, "options": {"stop": [AT]}}
    message = {"role": "assistant", "content": text}
    return trip(OLLAMA, body, {"model": "m", "message": message, "done": True, "done_reason": "stop"})


def at_cohere(text: str) -> RoundTrip:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    body = {"model": "command-a", "messages": [HI], "stop_sequences": [AT]}
    return trip("https://api.cohere.com/v2/chat", body, {"id": "x", "message": message, "finish_reason": "COMPLETE"})


@pytest.mark.parametrize(
    "make",
    [
        lambda text: chat([HELLO], said(text), stop=[AT]),
        lambda text: chat([HELLO], said(text), stop=AT),
        lambda text: anthropic([asked("hi")], [words(text)], stop_sequences=["\n\nHuman:", AT]),
        at_converse,
        at_gemini,
        at_ollama,
        at_cohere,
    ],
    ids=["chat", "chat, one", "anthropic", "converse", "gemini", "ollama", "cohere"],
)
def test_a_text_that_continues_after_a_stop_string_is_the_apis(make: Callable[[str], RoundTrip]) -> None:
    [line] = lines(make(CONTINUED), only=STOP)

    assert line == (
        f"#0 {STOP} (api, warning, P): the request stops at {AT!r}, and the answer continues after it: '14 degrees.' | "
        "#0 request stop, #0 response"
    )
    assert lines(make("Thought: look."), only=STOP) == []
    assert lines(make(f"Thought: look.{AT} \n"), only=STOP) == []


def test_a_stop_string_of_white_space_proves_nothing() -> None:
    assert lines(chat([HELLO], said("a\n\nb"), stop=["\n\n"]), only=STOP) == []


def test_only_the_first_stop_string_is_reported() -> None:
    assert len(lines(chat([HELLO], said("a b c d"), stop=["b", "c"]), only=STOP)) == 1


@pytest.mark.parametrize(
    ("thought", "severity"),
    [
        ("The user wants a city.\n</think>\n\n", "warning"),
        ("<think>The user wants a city.</think>\n", "warning"),
        ("analysisThe user wants a city.assistantfinal", "warning"),
    ],
)
@pytest.mark.parametrize("make", [responses, messages, google])
def test_json_behind_a_thought_that_the_server_left_behind_is_because_of_the_thought(
    make: Callable[[str, object], RoundTrip], thought: str, severity: str
) -> None:
    found = [one for one in judged(make(thought + GOOD, ASKED)) if one.id in (NOT_JSON, "reasoning-in-text")]

    assert [(one.id, one.severity, one.because_of) for one in found] == [
        ("reasoning-in-text", severity, ()),
        (NOT_JSON, "error", ("reasoning-in-text",)),
    ]


def test_prose_behind_a_thought_is_not_because_of_the_thought() -> None:
    found = [one for one in judged(mode("so</think>It is Rome.")) if one.id == NOT_JSON]

    assert [(one.layer, one.because_of) for one in found] == [("model", (NOT_ENFORCED,))]
    assert "reasoning-in-text" not in ids(mode(GOOD))


def test_a_whole_code_fence_was_not_ended_by_a_stop_string() -> None:
    def stopped(text: str) -> RoundTrip:
        return chat([HELLO], said(text), response_format={"type": "json_object"}, stop=["\nObservation:"])

    assert "puts it into a code fence" in only(NOT_JSON, stopped(f"```json\n{GOOD}\n```")).message
    assert NOT_JSON not in ids(stopped("Here it is:"))
    assert NOT_JSON not in ids(stopped(f"```json\n{GOOD[:9]}"))
