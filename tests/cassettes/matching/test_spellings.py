"""Requests that an API takes as equal have one key; a change that the model can see has another."""

import json
from typing import cast

import pytest

from turntape.cassettes.apis.interface import Spellings
from turntape.cassettes.matching.fingerprints import Fingerprints
from turntape.cassettes.matching.grades import Matching
from turntape.cassettes.matching.spellings import PlainSpelling
from turntape.cassettes.redaction.redactor import Redactor

type Body = dict[str, object]

CHAT, MESSAGES, RESPONSES = "chat/completions", "messages", "responses"
AGENTS, OLLAMA, OLLAMA_GENERATE, COHERE, CONVERSATIONS = (
    "agents/completions",
    "api/chat",
    "api/generate",
    "chat",
    "conversations",
)
GEMINI, CONVERSE = "models/gemini-x:generateContent", "model/x/converse"
INTERACTIONS, DASHSCOPE = "interactions", "services/aigc/text-generation/generation"


def key(path: str, body: Body) -> object:
    found = Fingerprints(Matching(), Redactor.from_config(), frozenset())
    return found.of("POST", path, (), json.dumps(body).encode()).stable


def chat(*messages: Body, **more: object) -> Body:
    return {"model": "m", "messages": list(messages), **more}


USER: Body = {"role": "user", "content": "hi"}
CALL: Body = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1, "b": 2}'}}
OTHER_CALL: Body = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"b":2,"a":1}'}}


CACHED: Body = {"cache_control": {"type": "ephemeral"}}
IMAGE: Body = {"type": "image_url", "image_url": {"url": "u"}}
INPUT_IMAGE: Body = {"type": "input_image", "image_url": "u"}


def picture(block: Body) -> Body:
    return {"role": "user", "content": [block]}


def declared(**more: object) -> Body:
    return {"contents": [], "tools": [{"functionDeclarations": [{"name": "f", **more}]}]}


def schema(word: Body) -> Body:
    """A field may have the name of a keyword."""
    return {"type": "object", "properties": {"type": word}, "required": ["type"]}


TEXT: Body = {"type": "string"}
WORDS: Body = {"anyOf": [{"type": "integer"}, {"type": "null"}, {"type": "string"}]}
OPENAPI: Body = {"type": "OBJECT", "properties": {"type": {"type": "STRING"}}, "required": ["type"]}

CALLED: list[Body] = [{"role": "assistant", "tool_calls": [CALL]}]
CALLED_BY_MISTRAL: list[Body] = [
    {
        "role": "assistant",
        "content": "",
        "prefix": False,
        "tool_calls": [{"id": "c1", "index": 0, "function": {"name": "f", "arguments": {"b": 2, "a": 1}}}],
    }
]
OLLAMA_CALL: Body = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}


def entry(arguments: object) -> Body:
    return {"inputs": [{"type": "function.call", "tool_call_id": "c", "name": "f", "arguments": arguments}]}


def answered(**content: object) -> Body:
    return chat(USER, {"role": "assistant", **content, "tool_calls": [CALL]})


def result(content: object, **more: object) -> Body:
    block: Body = {"type": "tool_result", "tool_use_id": "t", "content": content, **more}
    return chat({"role": "user", "content": [block]})


def items(*given: Body, **more: object) -> Body:
    return {"model": "m", "input": list(given), **more}


def blob(**part: object) -> Body:
    return {"contents": [{"role": "user", "parts": [part]}]}


EQUAL: list[tuple[str, Body, Body]] = [
    (CHAT, chat(USER), chat(USER, tool_choice="auto")),
    (CHAT, chat(USER), chat(USER, temperature=1.0, top_p=1, n=1, stream=False, stop=None)),
    (CHAT, chat(USER, temperature=0), chat(USER, temperature=0.0)),
    (CHAT, answered(content=None), answered()),
    (CHAT, answered(content=""), answered(content=None)),
    (CHAT, chat(USER), chat({"role": "user", "content": [{"type": "text", "text": "hi"}]})),
    (CHAT, chat({"role": "assistant", "tool_calls": [CALL]}), chat({"role": "assistant", "tool_calls": [OTHER_CALL]})),
    (MESSAGES, chat(USER, system="s"), chat(USER, system=[{"type": "text", "text": "s"}])),
    (MESSAGES, chat(USER), chat({"role": "user", "content": [{"type": "text", "text": "hi"}]})),
    (MESSAGES, chat(USER), chat(USER, tool_choice={"type": "auto"}, thinking={"type": "disabled"})),
    (MESSAGES, result("ok"), result([{"type": "text", "text": "ok"}], is_error=False)),
    (RESPONSES, {"model": "m", "input": "hi"}, items({"type": "message", **USER})),
    (
        RESPONSES,
        {"model": "m", "input": "hi"},
        items({"role": "user", "content": [{"type": "input_text", "text": "hi"}]}),
    ),
    (RESPONSES, items({"type": "reasoning", "id": "r"}), items({"type": "reasoning", "id": "r", "summary": []})),
    (RESPONSES, items(USER), items(USER, store=True, tool_choice="auto", text={"format": {"type": "text"}})),
    (GEMINI, {"contents": [{"parts": [{"text": "a"}]}]}, {"contents": [{"role": "user", "parts": [{"text": "a"}]}]}),
    (GEMINI, blob(inlineData={"mimeType": "t", "data": "d"}), blob(inline_data={"mime_type": "t", "data": "d"})),
    (GEMINI, declared(parameters=OPENAPI), declared(parametersJsonSchema=schema(TEXT))),
    (GEMINI, declared(parameters=OPENAPI), declared(parameters_json_schema=schema(TEXT), response_json_schema=TEXT)),
    (
        GEMINI,
        declared(parameters=schema({"type": "STRING", "nullable": True})),
        declared(parametersJsonSchema=schema({"anyOf": [TEXT, {"type": "null"}], "default": None})),
    ),
    (GEMINI, {"system_instruction": {"parts": [{"text": "s"}]}}, {"systemInstruction": {"parts": [{"text": "s"}]}}),
    (CHAT, chat(*CALLED), chat(*CALLED_BY_MISTRAL)),
    (OLLAMA, chat(USER), chat(USER, stream=True, options={}, format="", tools=[], keep_alive="5m", think=None)),
    (OLLAMA, chat(OLLAMA_CALL), chat({**OLLAMA_CALL, "content": "", "images": [], "thinking": ""})),
    (
        OLLAMA,
        chat(USER, tools=[{"function": {"name": "f"}}]),
        chat(USER, tools=[{"type": "function", "function": {"name": "f", "description": ""}}]),
    ),
    (
        OLLAMA_GENERATE,
        {"model": "m", "prompt": "p"},
        {"model": "m", "prompt": "p", "system": "", "suffix": "", "context": [], "images": None, "raw": False},
    ),
    (COHERE, chat(USER), chat(USER, stream=False, temperature=0.3, p=0.75, k=0, safety_mode="CONTEXTUAL", tools=[])),
    (COHERE, chat(USER), chat({"role": "user", "content": [{"type": "text", "text": "hi"}]}, documents=[])),
    (COHERE, answered(tool_plan=None), answered(tool_plan="", content=[], citations=[])),
    (COHERE, chat(*CALLED), chat({"role": "assistant", "tool_calls": [OTHER_CALL]})),
    (COHERE, {"message": "hi"}, {"message": "hi", "chat_history": [], "force_single_step": False, "connectors": None}),
    (CONVERSATIONS, {"inputs": "hi"}, {"inputs": [{"object": "entry", "type": "message.input", **USER}]}),
    (
        CONVERSATIONS,
        {"inputs": "hi"},
        {"inputs": "hi", "store": True, "stream": False, "completion_args": {"top_p": None}},
    ),
    (CONVERSATIONS, entry('{"a": 1, "b": 2}'), entry({"b": 2, "a": 1})),
    (INTERACTIONS, {"input": "hi"}, {"input": [{"type": "text", "text": "hi"}], "stream": False, "tools": None}),
    (
        INTERACTIONS,
        {"input": [{"role": "user", "content": "hi"}]},
        {"input": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}], "generation_config": {"seed": None}},
    ),
    (
        DASHSCOPE,
        {"input": chat(USER)},
        {"input": chat({"role": "user", "content": [{"text": "hi"}]}), "parameters": {}},
    ),
    (MESSAGES, chat(USER, system="s"), chat(USER, system=[{"type": "text", "text": "s", **CACHED}])),
    (MESSAGES, chat(USER), chat({"role": "user", "content": [{"type": "text", "text": "hi", **CACHED}]})),
    (MESSAGES, result("ok"), result([{"type": "text", "text": "ok", **CACHED}])),
    (CHAT, chat(USER), chat({"role": "user", "content": [{"type": "text", "text": "hi", **CACHED}]})),
    (CHAT, chat(USER), chat(USER, safe_prompt=False)),
    (CHAT, chat(picture(IMAGE)), chat(picture({**IMAGE, "image_url": {"url": "u", "detail": "auto"}}))),
    (RESPONSES, items(picture(INPUT_IMAGE)), items(picture({**INPUT_IMAGE, "detail": "auto"}))),
    (CONVERSE, {"system": [{"text": "s"}]}, {"system": [{"text": "s"}, {"cachePoint": {"type": "default"}}]}),
    (CONVERSE, {"messages": []}, {"messages": [], "toolConfig": {"toolChoice": {"auto": {}}}, "inferenceConfig": {}}),
]


@pytest.mark.parametrize(("path", "one", "other"), EQUAL)
def test_another_spelling_is_equal(path: str, one: Body, other: Body) -> None:
    assert key(path, one) == key(path, other)


DIFFERENT: list[tuple[str, Body, Body]] = [
    (GEMINI, declared(parameters=OPENAPI), declared(parametersJsonSchema=schema({"type": "integer"}))),
    (GEMINI, declared(parameters=schema(WORDS)), declared(parameters=schema({"type": "integer", "nullable": True}))),
    (GEMINI, declared(parameters=schema({"enum": ["STRING"]})), declared(parameters=schema({"enum": ["string"]}))),
    (GEMINI, declared(parameters=schema({**TEXT, "default": None})), declared(parameters=schema(TEXT))),
    (GEMINI, blob(functionCall={"args": {"mime_type": 1}}), blob(functionCall={"args": {"mimeType": 1}})),
    (CHAT, chat(USER), chat(USER, tool_choice="required")),
    (AGENTS, chat(USER), chat(USER, temperature=1)),
    (OLLAMA, chat(USER), chat(USER, stream=False)),
    (OLLAMA, chat(USER), chat(USER, think=False)),
    (OLLAMA, chat(USER), chat(USER, format="json")),
    (OLLAMA, chat(USER), chat(USER, options={"temperature": 1})),
    (OLLAMA, chat(OLLAMA_CALL), chat({**OLLAMA_CALL, "thinking": "t"})),
    (OLLAMA_GENERATE, {"prompt": "p"}, {"prompt": "p", "raw": True}),
    (COHERE, chat(USER), chat(USER, temperature=1)),
    (COHERE, chat(USER), chat(USER, p=1)),
    (COHERE, chat(USER), chat(USER, tool_choice="NONE")),
    (COHERE, chat(USER), chat(USER, citation_options={"mode": "OFF"})),
    (COHERE, {"message": "hi"}, {"message": "hi", "preamble": ""}),
    (COHERE, answered(tool_plan="a"), answered()),
    (CONVERSATIONS, {"inputs": "hi"}, {"inputs": "hi", "store": False}),
    (CONVERSATIONS, {"inputs": "hi"}, {"inputs": "hi", "completion_args": {"temperature": 1}}),
    (CONVERSATIONS, {"inputs": "hi"}, {"inputs": [{**USER, "prefix": True}]}),
    (CONVERSATIONS, entry({"a": 1}), entry({"a": 2})),
    (CHAT, chat(USER), chat(USER, temperature=0)),
    (CHAT, chat(USER), chat(USER, stream=True)),
    (CHAT, answered(content="a"), answered()),
    (
        CHAT,
        chat(USER),
        chat({"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "text", "text": ""}]}),
    ),
    (MESSAGES, chat(USER, system="s"), chat(USER, system="t")),
    (MESSAGES, chat(USER, system="s"), chat(USER, system=[{"type": "text", "text": "t", **CACHED}])),
    (MESSAGES, chat(USER), chat({"role": "user", "content": [{"type": "text", "text": "hi", "citations": [{}]}]})),
    (CHAT, chat(picture(IMAGE)), chat(picture({**IMAGE, "image_url": {"url": "u", "detail": "low"}}))),
    (MESSAGES, result("ok"), result("ok", is_error=True)),
    (MESSAGES, chat(USER), chat(USER, tool_choice={"type": "any"})),
    (MESSAGES, chat(USER), chat(USER, tool_choice={"type": "auto", "disable_parallel_tool_use": True})),
    (RESPONSES, items(USER), items(USER, store=False)),
    (RESPONSES, {"model": "m", "input": "hi"}, items({"role": "developer", "content": "hi"})),
    (RESPONSES, items({"type": "reasoning"}), items({"type": "reasoning", "summary": [{"text": "t"}]})),
    (GEMINI, {"contents": [{"parts": [{"text": "a"}]}]}, {"contents": [{"role": "model", "parts": [{"text": "a"}]}]}),
    (INTERACTIONS, {"input": "hi"}, {"input": "hi", "background": True}),
    (DASHSCOPE, {"input": chat(USER)}, {"input": chat(USER), "parameters": {"temperature": 0}}),
]


@pytest.mark.parametrize(("path", "one", "other"), DIFFERENT)
def test_what_the_model_can_see_is_not_equal(path: str, one: Body, other: Body) -> None:
    assert key(path, one) != key(path, other)


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        (CHAT, "/tools/*/function"),
        (CHAT, "/tools/*/function/parameters/properties/a"),
        (CHAT, "/functions/*"),
        (CHAT, "/response_format/json_schema/schema"),
        (MESSAGES, "/tools/*"),
        (MESSAGES, "/output_config/format/schema"),
        ("model/anthropic.x/invoke", "/tools/*"),
        (RESPONSES, "/tools/*"),
        (RESPONSES, "/text/format/schema"),
        (GEMINI, "/tools/*/functionDeclarations/*"),
        (GEMINI, "/generationConfig/responseSchema"),
        (GEMINI, "/generation_config/response_json_schema/properties/a"),
        (INTERACTIONS, "/tools/*"),
        (CONVERSE, "/toolConfig/tools/*/toolSpec"),
        (OLLAMA, "/tools/*/function"),
        (OLLAMA, "/format/properties/a"),
        (COHERE, "/tools/*/parameter_definitions/a"),
        (CONVERSATIONS, "/tools/*/function"),
        (DASHSCOPE, "/parameters/tools/*/function"),
    ],
)
def test_a_docstring_is_equal_however_far_it_is_indented(path: str, pointer: str) -> None:
    def described(text: str) -> object:
        return key(path, held(pointer, {"description": text}))

    plain = "Adds.\n\nArgs:\n    a: one"
    as_in_the_source = [
        "Adds.\n\n        Args:\n            a: one\n        ",
        "\n    Adds.\n    \n    Args:\n        a: one",
    ]
    assert {described(text) for text in as_in_the_source} == {described(plain)}
    others = [
        "Adds.\n\nArgs:\na: one",
        "Adds.\n\n    Args:\n        a: two",
        "Adds.\nArgs:\n    a: one",
        "Adds. Args: a: one",
    ]
    assert described(plain) not in {described(text) for text in others}


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        (CHAT, "/tools/*/function/parameters"),
        (CHAT, "/response_format/json_schema/schema"),
        (RESPONSES, "/text/format/schema/properties/inner"),
        (MESSAGES, "/tools/*/input_schema/$defs/City"),
        (GEMINI, "/tools/*/functionDeclarations/*/parametersJsonSchema"),
        (CONVERSE, "/toolConfig/tools/*/toolSpec/inputSchema/json"),
        (OLLAMA, "/format"),
        (COHERE, "/tools/*/function/parameters"),
    ],
)
def test_a_title_that_repeats_the_name_of_a_field_may_be_left_out(path: str, pointer: str) -> None:
    def titled(**more: object) -> object:
        return key(path, held(pointer, {"type": "object", "properties": {"city_name": {"type": "string", **more}}}))

    assert titled(title="City Name") == titled()
    assert titled(title="Name of the city") != titled()
    assert key(path, held(pointer, {"type": "object", "title": "City"})) != key(path, held(pointer, {"type": "object"}))


def test_a_field_that_is_called_title_counts() -> None:
    def fields(*names: str) -> object:
        schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        return key(CHAT, held("/tools/*/function/parameters", schema))

    assert fields("title", "a") != fields("a")


def test_the_indentation_of_what_is_not_a_description_counts() -> None:
    for pointer in ("/tools/*/function/name", "/messages/*/description", "/messages/*/content"):
        assert key(CHAT, held(pointer, "a\n    b")) != key(CHAT, held(pointer, "a\nb"))


def held(pointer: str, value: object) -> Body:
    """A request that has this value at a pointer; `*` is the only place of a list."""
    found = value
    for step in reversed(pointer.split("/")[1:]):
        found = [found] if step == "*" else {step: found}
    return cast(Body, found)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("/systemInstruction", "/system_instruction"),
        ("/generationConfig/topK", "/generation_config/top_k"),
        ("/generationConfig/routingConfig/autoMode", "/generation_config/routing_config/auto_mode"),
        (
            "/generationConfig/speechConfig/multiSpeakerVoiceConfig/speakerVoiceConfigs/*/voiceConfig",
            "/generation_config/speech_config/multi_speaker_voice_config/speaker_voice_configs/*/voice_config",
        ),
        ("/contents/*/parts/*/functionCall/willContinue", "/contents/*/parts/*/function_call/will_continue"),
        ("/contents/*/parts/*/videoMetadata/startOffset", "/contents/*/parts/*/video_metadata/start_offset"),
        ("/tools/*/retrieval/vertexRagStore/ragCorpora", "/tools/*/retrieval/vertex_rag_store/rag_corpora"),
        ("/tools/*/functionDeclarations/*/parameters", "/tools/*/function_declarations/*/parameters_json_schema"),
        (
            "/toolConfig/functionCallingConfig/streamFunctionCallArguments",
            "/tool_config/function_calling_config/stream_function_call_arguments",
        ),
        ("/outputDimensionality", "/output_dimensionality"),
    ],
)
def test_both_names_of_a_field_of_gemini_are_equal(first: str, second: str) -> None:
    assert key(GEMINI, held(first, ["x"])) == key(GEMINI, held(second, ["x"]))
    assert key(GEMINI, held(first, ["x"])) != key(GEMINI, held(second, ["y"]))


@pytest.mark.parametrize(
    "pointer",
    [
        "/contents/*/parts/*/functionCall/args",
        "/contents/*/parts/*/functionResponse/response/deep",
        "/tools/*/functionDeclarations/*/parameters/properties",
        "/tools/*/functionDeclarations/*/parametersJsonSchema/properties",
        "/generationConfig/responseSchema/properties",
        "/generationConfig/responseFormat/*/text/schema/properties",
        "/instances/*",
    ],
)
def test_a_name_of_the_user_is_written_in_one_way(pointer: str) -> None:
    assert key(GEMINI, held(pointer, {"my_name": "x"})) != key(GEMINI, held(pointer, {"myName": "x"}))


def test_the_first_key_is_of_the_body_as_it_was_sent() -> None:
    prints = Fingerprints(Matching(), Redactor.from_config(), frozenset())
    bodies = (json.dumps(one).encode() for one in (chat(USER), chat(USER, tool_choice="auto")))
    one, other = (prints.of("POST", CHAT, (), body) for body in bodies)
    assert one.exact != other.exact
    assert one.stable == other.stable


def test_an_api_without_spellings_keeps_every_value() -> None:
    body: Body = {"a": None, "b": [{"type": "text", "text": "t"}]}
    PlainSpelling(Spellings()).write(body)
    assert body == {"a": None, "b": [{"type": "text", "text": "t"}]}


def test_a_part_is_read_before_what_holds_it() -> None:
    body: Body = {"options": {"a": None}, "text": [{"type": "text", "text": "t", "x": None}]}
    PlainSpelling(Spellings({"/options": ({},), "/options/*": (None,), "/text/*/x": (None,)}, texts=("/text",))).write(
        body
    )
    assert body == {"text": "t"}


def test_arguments_that_are_not_json_stay() -> None:
    body: Body = {"a": '{"b": '}
    PlainSpelling(Spellings(json=("/a",))).write(body)
    assert body == {"a": '{"b": '}
