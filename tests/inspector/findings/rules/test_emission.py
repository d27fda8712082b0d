"""What the model emitted."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from chat_streams import ASKED, CALLED, call
from conversations import CALL, HELLO, TOOLS, chat, said, user
from judged import (
    CONVERSE,
    LOOK_UP,
    OLLAMA,
    anthropic,
    asked,
    calls,
    emitted,
    gemini,
    gives,
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
from round_trips import CHAT, sse

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.findings.rules.emission import doubled_piece, lacks_end
from turntape.inspector.wire.resolve_finish import CALL_MARKERS

WRONG = "model-args-break-schema"


@pytest.mark.parametrize(
    ("arguments", "broken"),
    [('{"word": tape}', True), ('{"word":"tape",}', True), ("", False), ('{"word":"tape"}', False)],
)
def test_arguments_are_json(arguments: str, broken: bool) -> None:
    free = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}

    assert ("call-args-not-json" in ids(emitted(arguments=arguments, tools=[free]))) is broken


def test_arguments_that_were_cut_are_not_the_models_fault() -> None:
    assert "call-args-not-json" not in ids(emitted(arguments='{"wo', finish="length"))
    assert "call-args-not-json" not in ids(emitted(arguments='{"wo', usage=(100, 50), max_completion_tokens=50))


SCHEMA = {
    "type": "object",
    "properties": {
        "word": {"type": "string"},
        "count": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["near", "far"]},
    },
    "required": ["word"],
    "additionalProperties": False,
}
STRICT = [{"type": "function", "function": {"name": "look_up", "parameters": SCHEMA}}]


@pytest.mark.parametrize(
    ("arguments", "kind", "severity"),
    [
        ('{"count":1}', "missing-required", "error"),
        ('{"word":["tape"]}', "wrong-type", "error"),
        ('{"word":"tape","mode":"wide"}', "bad-enum", "error"),
        ('{"word":"tape","size":3}', "extra-argument", "error"),
        ('{"word":"tape","count":0}', "minimum", "error"),
        ('{"word":"tape","count":"3"}', "wrong-type", "warning"),
    ],
)
def test_each_way_to_break_a_schema_has_its_name(arguments: str, kind: str, severity: str) -> None:
    one = only(WRONG, emitted(arguments=arguments, tools=STRICT))

    assert kind in one.message
    assert one.severity == severity


def test_arguments_that_keep_to_the_schema_are_fine() -> None:
    assert ids(emitted(arguments='{"word":"tape","mode":"near","count":2}', tools=STRICT)) == set()


def test_a_schema_that_cannot_be_compiled_judges_nothing() -> None:
    broken = {"type": "object", "properties": {"word": {"type": "text"}}}
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": broken}}]

    assert WRONG not in ids(emitted(arguments='{"word":1}', tools=tools))


PROSE = '<tool_call>\n{"name": "look_up", "arguments": {"word": "tape"}}\n</tool_call>'


def test_a_call_in_prose_is_reported_when_the_tool_was_offered() -> None:
    assert only("call-as-text", chat([HELLO], said(PROSE))).tier == "S"
    assert ids(chat([HELLO], said(PROSE), tools=None)) == set()
    assert ids(chat([HELLO], said(PROSE.replace("look_up", "find")))) == set()
    assert ids(chat([HELLO], said(PROSE), tool_choice="none")) == set()


REACT = 'Thought: I look.\nAction: look_up\nAction Input: {"word": "tape"}'


def in_each_protocol(text: str) -> dict[str, RoundTrip]:
    """An answer of this text in each API."""
    offered = {"tools": TOOLS, "messages": [HELLO], "model": "m"}
    config = {"tools": [{"toolSpec": {"name": "look_up", "inputSchema": {"json": LOOK_UP["input_schema"]}}}]}
    converse = {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "toolConfig": config}
    said_so = {"role": "assistant", "content": [{"text": text}]}
    cohere = {"id": "c", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": [words(text)]}}
    spoken = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return {
        "chat": chat([HELLO], said(text)),
        "mistral": trip("https://api.mistral.ai/v1/chat/completions", offered, whole(said(text))),
        "anthropic": anthropic([asked("hi")], [words(text)]),
        "gemini": gemini([turn("user", {"text": "hi"})], [{"text": text}]),
        "responses": responses([{"role": "user", "content": "hi"}], [spoken]),
        "ollama": trip(OLLAMA, offered, {"message": said(text), "done": True, "done_reason": "stop"}),
        "converse": trip(CONVERSE, converse, {"output": {"message": said_so}, "stopReason": "end_turn"}),
        "cohere": trip("https://api.cohere.com/v2/chat", offered, cohere),
    }


def whole(message: dict[str, Any]) -> dict[str, Any]:
    return {"id": "x", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


@pytest.mark.parametrize("api", sorted(in_each_protocol("")))
def test_a_call_in_any_markup_is_reported_in_every_protocol(api: str) -> None:
    one = only("call-as-text", in_each_protocol(REACT)[api])

    assert (one.layer, one.severity) == ("model", "error")
    assert "(of 'look_up'): " in one.message
    assert "call-as-text" not in ids(in_each_protocol("I would look_up the word tape.")[api])


def test_a_call_as_text_beside_a_real_one_is_reported() -> None:
    other = said("I look.\n" + PROSE.replace("tape", "vinyl"), CALL)

    assert "beside 1 real one: " in only("call-as-text", chat([HELLO], other)).message
    assert only("call-as-text", chat([HELLO], said(PROSE, CALL))).severity == "info"
    assert "call-as-text" not in ids(chat([HELLO], other, finish="length"))
    assert "call-as-text" not in ids(chat([HELLO], said('look_up(word="vinyl")', CALL)))


@pytest.mark.parametrize(
    ("answer", "fields", "empty"),
    [
        (said(""), {}, True),
        ({"role": "assistant", "content": "", "reasoning_content": "hm"}, {}, True),
        (said(""), {"max_tokens": 1}, False),
        (said("", CALL), {}, False),
        ({"role": "assistant", "content": "", "refusal": "no"}, {}, False),
    ],
)
def test_an_answer_without_anything_is_reported(answer: dict[str, Any], fields: dict[str, Any], empty: bool) -> None:
    assert ("model-empty-response" in ids(chat([HELLO], answer, **fields))) is empty


def test_one_call_at_a_time_is_one() -> None:
    two = said(None, ("c1", "look_up", '{"word":"a"}'), ("c2", "look_up", '{"word":"b"}'))

    assert only("parallel-calls-when-forbidden", chat([HELLO], two, parallel_tool_calls=False)).layer == "api"
    assert "parallel-calls-when-forbidden" not in ids(chat([HELLO], two))
    assert "parallel-calls-when-forbidden" not in ids(chat([HELLO], said(None, CALL), parallel_tool_calls=False))


def test_the_same_call_twice_in_one_answer_is_a_word() -> None:
    twice = said(None, ("c1", "look_up", '{"word":"a"}'), ("c2", "look_up", '{ "word": "a" }'))

    assert only("model-duplicate-call-in-batch", chat([HELLO], twice)).severity == "info"


def test_a_refusal_is_the_models() -> None:
    refused = chat([HELLO], {"role": "assistant", "content": None, "refusal": "I can't help with that."})

    assert only("model-refusal", refused).message == "the model refused: I can't help with that."
    assert ids(chat([HELLO, said("x"), user("and?")], said("I can't help with that."), tools=TOOLS)) == set()


ASK: dict[str, Any] = {"role": "user", "content": "hi"}


def function(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": "x", "parameters": schema}}


def test_each_call_of_an_answer_is_judged() -> None:
    made = said(None, ("c1", "look_up", '{"word":"a"}'), ("c2", "", "{}"), ("c3", "x", "{}"), ("c4", "y", "{}"))
    wrong = said(None, ("c1", "x", "{}"), ("c2", "look_up", '{"word":'), ("c3", "look_up", '{"word":1}'),
                 ("c4", "look_up", '{"word":2}'))  # fmt: skip

    assert [one.split(" | ")[1] for one in lines(chat([HELLO], made), only="model-unknown")] == [
        "#0 call c2, #0 request /tools",
        "#0 call c3, #0 request /tools",
        "#0 call c4, #0 request /tools",
    ]
    assert [one.split(" | ")[1] for one in lines(chat([HELLO], wrong), only=WRONG)] == [
        "#0 call c3, #0 request /tools/0",
        "#0 call c4, #0 request /tools/0",
    ]


def unfit() -> list[RoundTrip]:
    """Answers with a wrong call, none of which came whole."""
    ask = turn("user", {"text": "hi"})
    other = {"functionCall": {"name": "look_out", "args": {"word": 1}}}
    half = {"index": 0, "id": "c", "function": {"name": "look_out", "arguments": '{"word":1}'}}
    begun = {"id": "c", "model": "gpt-5", "choices": [{"index": 0, "delta": {"tool_calls": [half]}}]}
    fields = {"model": "gpt-5", "messages": [HELLO], "tools": TOOLS, "stream": True}
    return [
        emitted("look_out", '{"word":1}', finish="length"),
        anthropic([asked("hi")], [use(name="look_out")], stop="model_context_window_exceeded"),
        gemini([ask], [other], finish="MALFORMED_FUNCTION_CALL"),
        trip(CHAT, fields, sse(begun)),
        trip(CHAT, fields, sse(begun, {"error": {"message": "no", "type": "server_error"}})),
        trip(
            "https://api.openai.com/v1/responses",
            {"model": "gpt-5.1", "input": "hi", "tools": [{"type": "function", "name": "look_up", "parameters": {}}]},
            {"id": "r", "object": "response", "status": "cancelled", "output": [item_call() | {"name": "look_out"}]},
        ),
    ]


@pytest.mark.parametrize("one", unfit(), ids=["length", "context_full", "malformed", "cut", "error", "cancelled"])
def test_the_calls_of_an_answer_that_did_not_come_whole_are_not_judged(one: RoundTrip) -> None:
    assert not {"model-unknown-tool", WRONG} & ids(one)


def test_arguments_that_are_not_json_are_quoted() -> None:
    assert lines(emitted(arguments='{"word": tape}')) == [
        (
            "#0 call-args-not-json (model, error, P): the arguments of 'look_up' are not valid JSON: "
            "'{\"word\": tape}' | #0 call call_1"
        ),
    ]
    assert lines(emitted(arguments="{" + "x" * 130), only="call-args")[0].count("x") == 118
    assert lines(emitted(arguments=" null "), only="call-args-not") == []
    assert lines(emitted(arguments=""), only=WRONG) != [], "no arguments are an empty object, and the word is missing"


def test_an_object_that_the_api_sends_as_a_string_is_the_apis() -> None:
    def spelled(arguments: object) -> list[str]:
        return lines(anthropic([asked("hi")], [use() | {"input": arguments}]), only="call-args")

    assert spelled('{"word":"tape"}') == [
        (
            "#0 call-args-not-json (api, error, P): the arguments of 'look_up' are a string and not an object: "
            '\'{"word":"tape"}\' | #0 call toolu_1'
        ),
    ]
    assert spelled('{"word":"ta')[0].startswith(
        "#0 call-args-not-json (model, error, P): the arguments of 'look_up' are"
    )
    assert spelled({"word": "tape"}) == []


def test_arguments_that_break_the_schema_are_listed() -> None:
    many = '{"count":0,"mode":"x","a":1}'
    six = [function("look_up", **{name: {"type": "string"} for name in "abcdef"})]

    assert lines(emitted(arguments=many, tools=STRICT)) == [
        (
            "#0 model-args-break-schema (model, error, P): the arguments of 'look_up' break its schema "
            "(minimum, bad-enum, extra-argument, missing-required): count: 0 is less than the minimum of 1; "
            'mode: "x" is not one of "near" or "far"; Additional properties are not allowed (\'a\' was '
            "unexpected) and 1 more | #0 call call_1, #0 request /tools/0"
        ),
    ]
    assert lines(emitted(arguments='{"word":1}', tools=STRICT)) == [
        (
            "#0 model-args-break-schema (model, warning, P): the arguments of 'look_up' break its schema "
            '(wrong-type): word: 1 is not of type "string" | #0 call call_1, #0 request /tools/0'
        ),
    ]
    assert lines(emitted(arguments='{"word":1,"count":0}', tools=STRICT))[0].startswith(f"#0 {WRONG} (model, error")
    [line] = lines(emitted(arguments='{"a":[],"b":[],"c":[],"d":[],"e":[],"f":[]}', tools=six), only=WRONG)
    assert line.count("is not of type") == 3


def test_a_tool_without_a_schema_breaks_nothing() -> None:
    bare = [{"type": "function", "function": {"name": "look_up"}}, *STRICT[1:]]

    assert WRONG not in ids(emitted(tools=bare))


@pytest.mark.parametrize("marker", CALL_MARKERS)
def test_a_marker_of_a_call_in_prose_is_quoted(marker: str) -> None:
    prose = chat([HELLO], said(f"{marker} look_up"))
    [line] = lines(prose, only="call-as-text")

    assert f"(marker {marker!r}): {f'{marker} look_up'!r} | #0 response" in line


def test_a_call_in_prose_is_the_servers_when_its_parser_left_special_tokens() -> None:
    def layer(text: str, url: str) -> str:
        one = chat([HELLO], said(f"{text} look_up"))
        moved = replace(one, request=replace(one.request, url=url), upstream=None)
        return only("call-as-text", moved).layer

    assert layer("<|python_tag|>", "http://localhost:8000/v1/chat/completions") == "api"
    assert layer("<tool_call>", "http://localhost:8000/v1/chat/completions") == "model"
    assert layer("<|python_tag|>", CHAT) == "model"
    fenced = '```json\n{"name": "look_up", "arguments": {}}\n```'
    assert "marker" not in only("call-as-text", chat([HELLO], said(fenced))).message


def empty(finish: str = "stop", output: int | None = 10, **fields: Any) -> list[str]:
    usage = (100, output) if output is not None else None
    return lines(chat([HELLO], said(""), finish=finish, usage=usage, **fields), only="model-empty")


def test_an_empty_answer_is_reported_with_what_was_counted() -> None:
    assert empty() == [
        (
            "#0 model-empty-response (model, warning, P): the answer is empty although it counts 10 output tokens"
            " | #0 response, #0 finish stop"
        ),
    ]
    assert empty(output=0) == [
        (
            "#0 model-empty-response (model, warning, P): the answer is empty and counts 0 output tokens, "
            "so the provider probably caused it | #0 response, #0 finish stop"
        ),
    ]
    assert empty(output=None) == [
        "#0 model-empty-response (model, warning, P): the answer is empty | #0 response, #0 finish stop",
    ]
    thought = chat([HELLO], {"role": "assistant", "content": "", "reasoning_content": "hm"})
    assert lines(thought, only="model-empty") == [
        (
            "#0 model-empty-response (model, warning, P): the answer contains only reasoning | #0 "
            "response, #0 finish stop"
        ),
    ]
    stopped = anthropic([asked("hi")], [], stop="stop_sequence", stop_sequences=["x"])
    assert lines(stopped, only="model-empty") == [
        (
            "#0 model-empty-response (model, info, P): the answer is empty although it counts 10 output tokens"
            ": a stop string of the request ended it | #0 response, #0 finish stop_sequence"
        ),
    ]
    assert lines(anthropic([asked("hi")], [], stop="stop_sequence"), only="model-empty") == [
        (
            "#0 model-empty-response (model, warning, P): the answer is empty although it counts 10 output tokens"
            " | #0 response, #0 finish stop_sequence"
        ),
    ]
    assert empty(max_tokens=2) != []
    assert empty(max_tokens=1) == []


@pytest.mark.parametrize("word", ["queued", "starting", "in_progress", "processing", "requires_action"])
def test_an_answer_that_is_still_to_come_may_be_empty(word: str) -> None:
    assert empty(word) == []
    assert empty("a_new_word") != []


def test_an_empty_answer_that_another_finding_explains_is_not_reported_again() -> None:
    assert empty("tool_calls") == [], "the label disagrees"
    assert empty("length") == []
    assert empty("content_filter") == []


def test_a_refusal_is_quoted_from_wherever_it_is() -> None:
    by_label = anthropic([asked("hi")], [words("I stop here.")], stop="refusal")
    silent = anthropic([asked("hi")], [], stop="refusal")

    assert lines(chat([HELLO], {"role": "assistant", "content": None, "refusal": "No."})) == [
        "#0 model-refusal (model, error, P): the model refused: No. | #0 response, #0 finish stop",
    ]
    assert lines(by_label, only="model-refusal") == [
        "#0 model-refusal (model, error, P): the model refused: I stop here. | #0 response, #0 finish refusal",
    ]
    assert lines(silent, only="model-refusal") == [
        "#0 model-refusal (model, error, P): the model refused | #0 response, #0 finish refusal",
    ]


def test_several_calls_where_one_is_allowed_are_listed() -> None:
    five = said(None, *((f"c{n}", "look_up", f'{{"word":"{n}"}}') for n in range(5)))

    assert lines(chat([HELLO], five, parallel_tool_calls=False)) == [
        (
            "#0 parallel-calls-when-forbidden (api, warning, P): parallel calls were forbidden and the answer has "
            "5 calls | #0 request parallel tool calls false, #0 call c0, #0 call c1, #0 call c2, #0 call c3"
        ),
    ]
    assert lines(chat([HELLO], said(None, CALL), parallel_tool_calls=False)) == []


def test_calls_of_several_choices_are_not_parallel_and_not_twins() -> None:
    one = chat([HELLO], said(None, CALL), parallel_tool_calls=False, n=2)
    assert one.response is not None
    call = {"id": "c9", "type": "function", "function": {"name": "look_up", "arguments": '{"word":"tape"}'}}
    other = {"index": 1, "message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}
    body = orjson.loads(one.response.body)
    body["choices"].append(other)
    two = replace(one, response=replace(one.response, content=orjson.dumps(body), chunks=()))

    assert not {"parallel-calls-when-forbidden", "model-duplicate-call-in-batch"} & ids(two)


def test_a_call_that_comes_twice_is_shown_at_both_places() -> None:
    twice = said(None, ("c1", "look_up", '{"word":"a"}'), ("c2", "look_up", '{ "word": "a" }'))
    same_id = said(None, ("c1", "look_up", '{"word":"a"}'), ("c1", "look_up", '{"word":"a"}'))

    assert lines(chat([HELLO], twice)) == [
        (
            "#0 model-duplicate-call-in-batch (model, info, P): the call of 'look_up' is in one answer twice, "
            "with equal arguments | #0 call c1, #0 call c2"
        ),
    ]
    assert lines(chat([HELLO], same_id), only="model-dup") == []
    assert lines(gemini([turn("user", {"text": "hi"})], [calls(), calls()]), only="model-dup") == [
        (
            "#0 model-duplicate-call-in-batch (model, info, P): the call of 'look_up' is in one answer twice, "
            "with equal arguments | #0 call look_up, #0 call look_up"
        ),
    ]


def collided() -> RoundTrip:
    """Two calls of a stream under one index, whose arguments a client joins."""

    def piece(call_id: str, word: str) -> dict[str, Any]:
        call = {"index": 0, "id": call_id, "function": {"name": "look_up", "arguments": f'{{"word":"{word}"}}'}}
        return {"id": "c", "model": "gpt-5", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}

    end = {"id": "c", "model": "gpt-5", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    fields = {"model": "gpt-5", "messages": [HELLO], "tools": TOOLS, "stream": True}
    return trip(CHAT, fields, sse(piece("c1", "a"), piece("c2", "b"), end, done=True))


def test_arguments_that_were_joined_are_not_the_models_fault() -> None:
    one = collided()

    assert "api-tool-call-index-collision" in ids(one)
    assert "call-args-not-json" not in ids(one)


def test_a_tool_without_a_schema_does_not_hide_the_next_call() -> None:
    tools = [{"type": "function", "function": {"name": "free"}}, *STRICT]
    made = said(None, ("c1", "free", "{}"), ("c2", "look_up", '{"word":1}'))

    assert WRONG in ids(chat([HELLO], made, tools=tools))


def test_a_failed_answer_keeps_no_choice_and_is_not_empty() -> None:
    error = {"error": {"message": "no", "type": "server_error"}}
    failed = ids(chat([HELLO], status=500, error=error, tool_choice="required"))
    page = trip(CHAT, {"model": "gpt-5", "messages": [HELLO]}, "<html>Log in</html>", content_type="text/html")

    assert not {"tool-choice-violated", "model-empty-response"} & failed
    assert "model-empty-response" not in ids(page), "the page is reported for what it is"


@pytest.mark.parametrize(("stop", "finish", "severity"), [(["\n"], "stop", "info"), (None, "stop", "warning")])
def test_an_empty_answer_is_an_info_where_a_stop_string_may_have_ended_it(
    stop: list[str] | None, finish: str, severity: str
) -> None:
    fields: dict[str, Any] = {"stop": stop} if stop else {}

    assert only("model-empty-response", chat([HELLO], said(""), finish=finish, **fields)).severity == severity


def test_an_answer_without_a_choice_is_not_an_empty_one_too() -> None:
    body = {"model": "gpt-5", "messages": [HELLO]}
    answer = {"id": "c", "object": "chat.completion", "model": "gpt-5", "choices": [], "usage": {"prompt_tokens": 1}}

    assert ids(trip(CHAT, body, answer)) & {"api-no-choice", "model-empty-response"} == {"api-no-choice"}


FLOOD = "model-duplicate-call-in-batch"


@pytest.mark.parametrize(
    ("count", "times", "severity"), [(2, "twice", "info"), (3, "3 times", "info"), (5, "5 times", "info"),
                                     (6, "6 times", "warning"), (24, "24 times", "warning")]
)  # fmt: skip
def test_the_same_call_in_one_answer_is_counted(count: int, times: str, severity: str) -> None:
    same = [(f"call_{n}", "look_up", '{"word":"tape"}') for n in range(count)]
    other = ("call_x", "look_up", '{"word":"strip"}')

    [line] = lines(chat([HELLO], said(None, *same, other)), only=FLOOD)
    assert line.startswith(
        f"#0 {FLOOD} (model, {severity}, P): the call of 'look_up' is in one answer {times}, with equal arguments | "
    )
    assert line.count("call call_") == min(count, 4)


@pytest.mark.parametrize(
    ("arguments", "streamed", "layer"),
    [
        ('{"word": "tape"', True, "api"),
        ('{"word": "tape"', False, "model"),
        ('{"word": "tape", }', True, "model"),
        ('word": "tape"', True, "model"),
    ],
)
def test_arguments_whose_end_a_complete_stream_lacks_are_the_apis(arguments: str, streamed: bool, layer: str) -> None:
    body = sse(call(0, "call_1", "look_up", ""), call(0, None, None, arguments), CALLED, done=True)
    pieces = trip(CHAT, {**ASKED, "tools": TOOLS}, body)
    one = only("call-args-not-json", pieces if streamed else emitted(arguments=arguments))

    assert one.layer == layer
    assert ("because the stream lacks their end" in one.message) is (layer == "api")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('word":"tape"}', "lacks their beginning"),
        ('"word":"tape"}', "lacks their beginning"),
        ('71,"whom":{"name":"An{n"},"places":["a","b"]}', "lacks their beginning"),
        ('{"whom":{"name":"Anna "name":"Anna Miller"},"word":"tape"}', 'has a piece of them twice (\'"name":"Anna \')'),
        ('{"word":"tape"}}', None),
        ('{"word":"tape",}', None),
        ("{'word': 'tape'}", None),
        ("word=tape}", None),
        ('look_up({"word":"tape"})', None),
        ('{"word":"a" "a"}', None),
    ],
)
def test_arguments_show_what_the_stream_lost_or_repeated(arguments: str, said: str | None) -> None:
    body = sse(call(0, "call_1", "look_up", ""), call(0, None, None, arguments), CALLED, done=True)
    one = only("call-args-not-json", trip(CHAT, {**ASKED, "tools": TOOLS}, body))

    assert one.layer == ("model" if said is None else "api")
    assert said is None or f"because the stream {said}" in one.message
    alone = only("call-args-not-json", emitted(arguments=arguments))
    assert (alone.layer, "stream" in alone.message) == ("model", False), "without a stream, nothing shows a lost piece"


@pytest.mark.parametrize("text", ['{"a":"' + "x y z " * 15_000 + '"b}', "{" + '"a":1,' * 14_000 + '"b}', '{"' * 40_000])
def test_the_search_for_a_doubled_piece_is_bounded(text: str) -> None:
    assert doubled_piece(text) is None


REASONED = "Okay, the tool answered. I should say it.\n</think>\n\nIt is a strip."


@pytest.mark.parametrize(
    "trip",
    [
        chat([HELLO], {"role": "assistant", "content": None, "reasoning_content": REASONED}),
        chat([HELLO], {"role": "assistant", "content": "", "reasoning": REASONED}),
        anthropic([asked("hi")], [{"type": "thinking", "thinking": REASONED, "signature": "s"}]),
        gemini([turn("user", {"text": "hi"})], [{"text": REASONED, "thought": True}]),
        trip(
            OLLAMA,
            {"model": "qwen3", "messages": [HELLO], "stream": False},
            {"model": "qwen3", "message": {"role": "assistant", "content": "", "thinking": REASONED}, "done": True,
             "done_reason": "stop"},
        ),
        chat([HELLO], {"role": "assistant", "content": None, "reasoning_content": "Hm.assistantfinalIt is a strip."}),
    ],
)  # fmt: skip
def test_an_answer_behind_the_end_of_the_reasoning_is_the_servers_fault(trip: RoundTrip) -> None:
    root = only("api-answer-in-reasoning", trip)

    assert (root.layer, root.severity) == ("api", "warning")
    assert "'It is a strip.'" in root.message
    assert only("model-empty-response", trip).because_of == ("api-answer-in-reasoning",)


@pytest.mark.parametrize(
    ("fields", "said_of_it"),
    [
        ({"chat_template_kwargs": {"enable_thinking": False}}, "the request switches reasoning off"),
        ({"reasoning_effort": "none"}, "the request switches reasoning off"),
        ({"reasoning": {"effort": "none"}}, "the request switches reasoning off"),
        ({"thinking": {"type": "disabled"}}, "the request switches reasoning off"),
        ({"response_format": {"type": "json_object"}}, "the JSON that the request asks for is in the reasoning"),
    ],
)
def test_a_request_that_wants_no_reasoning_proves_it_too(fields: dict[str, Any], said_of_it: str) -> None:
    reasoned = {"role": "assistant", "content": "", "reasoning_content": '{"word": "tape"}'}

    assert said_of_it in only("api-answer-in-reasoning", chat([HELLO], reasoned, **fields)).message
    assert "api-answer-in-reasoning" not in ids(chat([HELLO], reasoned))


def test_a_call_that_is_marked_as_a_thought_is_hidden_from_clients() -> None:
    part = calls() | {"thought": True}
    hidden = gemini([turn("user", {"text": "hi"})], [part])
    ran = gemini([turn("user", {"text": "hi"}), turn("model", part), turn("user", gives())], [{"text": "done"}], 1)

    one = only("api-answer-in-reasoning", hidden)
    assert (one.layer, one.severity, one.tier) == ("api", "warning", "P")
    assert one.message.startswith("the call of 'look_up' is marked as a part of a thought")
    assert only("api-answer-in-reasoning", hidden, ran).severity == "info"
    assert "api-answer-in-reasoning" not in ids(gemini([turn("user", {"text": "hi"})], [calls()]))
    program = {"executableCode": {"language": "PYTHON", "code": "1 + 1"}, "thought": True}
    assert "api-answer-in-reasoning" not in ids(gemini([turn("user", {"text": "hi"})], [program, {"text": "It is 2."}]))


WRITTEN = '<tool_call>\n{"name": "look_up", "arguments": {"word": "tape"}}\n</tool_call>'


@pytest.mark.parametrize(
    ("reasoning", "text", "found"),
    [
        (f"I look it up.\n{WRITTEN}", "", True),
        (f"I could write {WRITTEN}, but I know it already.", "", False),
        (f"I look it up.\n{WRITTEN}", "It is a strip.", False),
        ('Maybe look_up(word="tape")', "", False),
    ],
    ids=["at the end", "more follows", "a text follows", "a line of code"],
)
def test_a_call_that_is_written_in_the_reasoning(reasoning: str, text: str, found: bool) -> None:
    one = chat([HELLO], {"role": "assistant", "content": text, "reasoning_content": reasoning})

    assert ("api-answer-in-reasoning" in ids(one)) is found


@pytest.mark.parametrize(
    ("arguments", "status", "found"),
    [('{"task": "a', "completed", True), ('{"task": "a"}', "completed", False), ('{"task": "a', "incomplete", False),
     ("", "completed", False)],
)  # fmt: skip
def test_arguments_of_a_call_that_the_api_runs_are_json_too(arguments: str, status: str, *, found: bool) -> None:
    spawned = {"id": "m_1", "type": "multi_agent_call", "call_id": "c", "action": "spawn_agent", "status": status,
               "arguments": arguments}  # fmt: skip
    said_of_it = [(one.severity, one.layer) for one in judged(responses([HELLO], [spawned])) if one.id == NOT_JSON]

    assert said_of_it == ([("warning", "model")] if found else [])


NOT_JSON = "call-args-not-json"


def test_arguments_with_a_number_of_thousands_of_digits_are_read_like_any_others() -> None:
    number = "1" * 5_000

    assert lacks_end(f'{{"a": {number}, "b') and not lacks_end(f'{{"a": {number}}}')
    assert doubled_piece(f'{{"a": {number}}}') is None
    assert doubled_piece(f'{{"n": {number}, "city": "city": "Oslo"}}') is not None
