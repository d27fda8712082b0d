"""Arguments that came as another type than the API's, and arguments that lost characters."""

import json
from dataclasses import replace
from typing import Any

import pytest
from aws_frames import frame
from conversations import CALL, HELLO, chat, said
from judged import (
    CONVERSE,
    OLLAMA,
    anthropic,
    asked,
    emitted,
    gemini,
    ids,
    judged,
    lines,
    responses,
    trip,
    turn,
    use,
)
from round_trips import CHAT

from turntape.cassettes.tape.model import RoundTrip

TYPE = "api-arguments-wrong-type"
LOST = "api-replacement-characters"
WORD = {"word": "tape"}
TEXT = '{"word":"tape"}'
COHERE = "https://api.cohere.com/v2/chat"


def at_chat(arguments: object) -> RoundTrip:
    message = said(None, CALL)
    message["tool_calls"][0]["function"]["arguments"] = arguments
    return chat([HELLO], message)


def at_cohere(arguments: object) -> RoundTrip:
    message = {"role": "assistant", "tool_calls": said(None, CALL)["tool_calls"]}
    message["tool_calls"][0]["function"]["arguments"] = arguments
    return trip(
        COHERE, {"model": "x", "messages": [HELLO]}, {"id": "x", "message": message, "finish_reason": "TOOL_CALL"}
    )


def at_ollama(arguments: object) -> RoundTrip:
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "look_up", "arguments": arguments}}],
    }
    asked_ = {"model": "m", "messages": [HELLO], "stream": False}
    return trip(OLLAMA, asked_, {"model": "m", "message": message, "done": True, "done_reason": "stop"})


def at_responses(arguments: object) -> RoundTrip:
    item = {"type": "function_call", "call_id": "call_1", "name": "look_up", "arguments": arguments}
    return responses([HELLO], [item | {"status": "completed"}])


@pytest.mark.parametrize("make", [at_chat, at_cohere, at_responses])
def test_an_object_in_the_place_of_a_string(make: Any) -> None:
    [line] = lines(make(WORD), only=TYPE)

    assert line.startswith(
        f"#0 {TYPE} (api, warning, P): the arguments of 'look_up' are an object, where the API has a string | #0 call "
    )
    assert lines(make(TEXT), only=TYPE) == []


@pytest.mark.parametrize("make", [at_chat, at_cohere, at_responses])
def test_json_that_was_written_as_a_json_text(make: Any) -> None:
    one = make(json.dumps(TEXT))

    assert "are JSON that was written as a JSON text once more" in lines(one, only=TYPE)[0]
    assert lines(one, only="model-args-break-schema") == []
    assert lines(make(json.dumps("tape")), only=TYPE) == []


def test_a_string_in_the_place_of_an_object() -> None:
    assert "are a string, where the API has an object" in lines(at_ollama(TEXT), only=TYPE)[0]
    assert lines(at_ollama(WORD), only=TYPE) == []
    block = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": TEXT}
    found = {one.partition(" (")[0] for one in lines(anthropic([asked("hi")], [block])) if "arguments" in one}
    assert found == {"#0 call-args-not-json"}, "one finding for one fault"


def test_a_list_is_an_object() -> None:
    assert lines(at_chat([WORD]), only=TYPE) != []


def test_the_calls_that_the_client_left_are_an_echo() -> None:
    trips = [chat([HELLO], said(None, CALL)), at_chat(WORD)]

    assert lines(*trips, only=TYPE) != []


BROKEN = "t\ufffd\ufffdpe"


def at_converse(word: str) -> RoundTrip:
    call = {"toolUse": {"toolUseId": "tooluse_1", "name": "look_up", "input": {"word": word}}}
    answer = {"output": {"message": {"role": "assistant", "content": [call]}}, "stopReason": "tool_use"}
    return trip(CONVERSE, {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}, answer)


@pytest.mark.parametrize(
    "make",
    [
        lambda word: at_chat(f'{{"word":"{word}"}}'),
        lambda word: at_responses(f'{{"word":"{word}"}}'),
        lambda word: at_ollama({"word": word}),
        lambda word: anthropic([asked("hi")], [use(word=word)]),
        lambda word: gemini(
            [turn("user", {"text": "hi"})], [{"functionCall": {"name": "look_up", "args": {"word": word}}}]
        ),
        at_converse,
    ],
    ids=["chat", "responses", "ollama", "anthropic", "gemini", "converse"],
)
def test_characters_that_were_lost_on_the_way(make: Any) -> None:
    [line] = lines(make(BROKEN), only=LOST)

    assert line.startswith(
        f"#0 {LOST} (api, warning, S): the arguments of 'look_up' hold the replacement character U+FFFD: "
    )
    assert lines(make("tape"), only=LOST) == []


def test_an_escaped_character_counts_too() -> None:
    assert lines(at_chat('{"word":"t\\ufffdpe"}'), only=LOST) != []


def test_a_request_with_the_character_may_be_repeated() -> None:
    for text in (BROKEN, "t\\uFFFDpe"):
        one = chat([{"role": "user", "content": text}], said(None, ("call_1", "look_up", f'{{"word":"{BROKEN}"}}')))
        assert lines(one, only=LOST) == []


TWICE = "call-args-repeat-key"


@pytest.mark.parametrize("make", [at_chat, at_cohere, at_responses])
def test_a_key_that_the_arguments_have_twice(make: Any) -> None:
    text = '{"order": 1, "more": {"word": "tape", "word": "strip"}}'

    [line] = lines(make(text), only=TWICE)
    assert line.startswith(
        f"#0 {TWICE} (model, warning, P): the arguments of 'look_up' have the key 'word' twice, with different values: "
    )


@pytest.mark.parametrize(
    "text", ['{"word": 1, "word": 1}', '{"word": {"word": 1}}', '[{"word": 1}, {"word": 2}]', "{: :"]
)
def test_a_key_that_is_there_once_in_each_object_or_says_the_same(text: str) -> None:
    assert lines(at_chat(text), only=TWICE) == []


def test_what_arrived_of_a_cut_call_is_text_in_every_api() -> None:
    block = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": '{"word":"ta'}
    assert lines(anthropic([asked("hi")], [block], stop="max_tokens"), only=TYPE) == []


@pytest.mark.parametrize(("text", "found"), [('{"word": "tape", "word": "strip"}', True), ('{"word": "tape"}', False)])
def test_a_key_that_arrives_twice_in_a_stream_of_bedrock(text: str, found: bool) -> None:
    block = {"contentBlockIndex": 0}
    frames = [
        frame("messageStart", {"role": "assistant"}),
        frame("contentBlockStart", {**block, "start": {"toolUse": {"toolUseId": "t1", "name": "look_up"}}}),
        frame("contentBlockDelta", {**block, "delta": {"toolUse": {"input": text}}}),
        frame("contentBlockStop", block),
        frame("messageStop", {"stopReason": "tool_use"}),
    ]
    one = at_converse("tape")
    assert one.response is not None
    headers = (("content-type", "application/vnd.amazon.eventstream"),)
    answer = replace(one.response, headers=headers, content=b"".join(frames))

    assert bool(lines(replace(one, response=answer), only=TWICE)) == found


@pytest.mark.parametrize(("required", "found"), [(["word"], True), ([], False)])
def test_arguments_that_are_null_were_lost_where_the_tool_needs_some(required: list[str], *, found: bool) -> None:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": required}
    tool = {"type": "function", "function": {"name": "look_up", "parameters": schema}}
    call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": None}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    blamed = {one.id: (one.layer, one.because_of) for one in judged(chat([HELLO], answer, tools=[tool]))}

    if not found:
        assert "api-arguments-wrong-type" not in blamed
        return
    assert blamed["api-arguments-wrong-type"] == ("api", ())
    assert blamed["model-args-break-schema"] == ("model", ("api-arguments-wrong-type",))
    assert "api-arguments-wrong-type" not in ids(emitted(arguments="", tools=[tool]))


@pytest.mark.parametrize(("output", "reasoning", "found"), [(90, 0, True), (90, 60, False), (24, 0, False)])
def test_empty_arguments_were_lost_where_tokens_are_counted_for_them(
    output: int, reasoning: int, *, found: bool
) -> None:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    usage = {
        "prompt_tokens": 50,
        "completion_tokens": output,
        "total_tokens": 50 + output,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    for required in (["word"], []):
        function = {"name": "look_up", "parameters": {**schema, "required": required}}
        one = emitted(arguments="", tools=[{"type": "function", "function": function}])
        body = json.loads(one.response.body) if one.response is not None else {}
        blamed = {said.id: said for said in judged(trip(CHAT, json.loads(one.request.body), {**body, "usage": usage}))}

        assert ("api-arguments-wrong-type" in blamed) is (found and bool(required))
        if required:
            because = ("api-arguments-wrong-type",) if found else ()
            assert blamed["model-args-break-schema"].because_of == because


def bare(tokens: int, *, required: bool = True, reasoning: int = 0) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """A call whose arguments are an empty object, in an answer that counts so many tokens."""
    usage = {
        "prompt_tokens": 50,
        "completion_tokens": tokens,
        "total_tokens": 50 + tokens,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"] if required else []}
    tool = {"type": "function", "function": {"name": "look_up", "parameters": schema}}
    one = emitted(arguments="{}", tools=[tool])
    body = json.loads(one.response.body) if one.response is not None else {}
    found = judged(trip(CHAT, json.loads(one.request.body), {**body, "usage": usage}))
    return [(f.id, f.layer, f.tier, f.because_of) for f in found if f.severity != "info"]


def test_an_empty_object_was_arguments_where_more_tokens_are_counted_than_it_can_hold() -> None:
    assert bare(200) == [(TYPE, "api", "S", ()), ("model-args-break-schema", "model", "P", (TYPE,))]


@pytest.mark.parametrize(("tokens", "reasoning"), [(14, 0), (60, 0), (200, 190)])
def test_an_empty_object_is_the_models_where_no_more_tokens_are_counted(tokens: int, reasoning: int) -> None:
    assert bare(tokens, reasoning=reasoning) == [("model-args-break-schema", "model", "P", ())]


def test_an_empty_object_for_a_tool_that_needs_nothing_is_right() -> None:
    assert bare(200, required=False) == []


def test_an_empty_object_of_anthropic_was_arguments_too() -> None:
    call = {**use(), "input": {}}
    lost = anthropic([asked("hi")], [call], usage={"output_tokens": 300})

    [found] = [one for one in judged(lost) if one.id == TYPE]

    assert (found.layer, found.tier) == ("api", "S")
    assert TYPE not in ids(anthropic([asked("hi")], [call], usage={"output_tokens": 40}))


@pytest.mark.parametrize(("tokens", "tier"), [(60, "S"), (400, "P")])
def test_few_tokens_beside_empty_arguments_prove_less(tokens: int, tier: str) -> None:
    one = emitted(arguments="")
    body = json.loads(one.response.body) if one.response is not None else {}
    usage = {"prompt_tokens": 50, "completion_tokens": tokens, "completion_tokens_details": {"reasoning_tokens": 0}}
    found = judged(trip(CHAT, json.loads(one.request.body), {**body, "usage": usage}))

    assert [said.tier for said in found if said.id == TYPE] == [tier]
