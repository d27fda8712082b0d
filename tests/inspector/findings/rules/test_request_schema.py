"""Requests that an API must reject, whether or not it did."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from conversations import CALL, HELLO, chat, result, said, user
from dialogues import APIS, asks, says
from judged import (
    CONVERSE,
    anthropic,
    asked,
    calls,
    converse,
    gemini,
    given,
    gives,
    ids,
    item_call,
    item_output,
    judged,
    lines,
    only,
    responses,
    spoke,
    trip,
    turn,
    use,
    words,
)  # fmt: skip

from turntape.cassettes.tape.model import RoundTrip

ASKED = {"role": "user", "content": "what is a tape?"}
HI = turn("user", {"text": "hi"})


@pytest.mark.parametrize(
    ("contents", "fine"),
    [
        ([HI], True),
        ([HI, turn("model", calls()), turn("user", gives())], True),
        ([turn("model", {"text": "hi"}), HI], False),
        ([HI, turn("model", {"text": "hello"})], False),
        ([HI, turn("model", {"text": "let me see"}), turn("model", calls()), turn("user", gives())], False),
    ],
)
def test_gemini_wants_its_roles_in_turn(contents: list[dict[str, Any]], fine: bool) -> None:
    assert ("client-role-order" not in ids(gemini(contents, [{"text": "done"}]))) is fine


def test_roles_that_the_api_took_are_only_an_info() -> None:
    assert only("client-role-order", gemini([HI, turn("model", {"text": "hello"})], [{"text": "x"}])).severity == "info"


@pytest.mark.parametrize("api", sorted(APIS))
def test_a_role_that_the_api_does_not_have(api: str) -> None:
    right = APIS[api]([asks("What is a tape?")], says("A strip of film."), 0)
    body = right.request.body.replace(b'"role":"user"', b'"role":"human"').replace(
        b'"role": "user"', b'"role": "human"'
    )
    wrong = replace(right, request=replace(right.request, content=body))

    assert body != right.request.body
    assert "client-role-order" not in ids(right)
    one = only("client-role-order", wrong)
    assert (one.layer, one.severity) == ("client", "info")
    assert one.message == "a message has the role 'human', which the API does not have"


@pytest.mark.parametrize("role", ["developer", "system", "tool", "function"])
def test_a_role_that_only_some_messages_have_is_known(role: str) -> None:
    right = APIS["chat"]([asks("What is a tape?")], says("A strip of film."), 0)
    body = right.request.body.replace(b'"user"', f'"{role}"'.encode())

    assert body != right.request.body
    assert "client-role-order" not in ids(replace(right, request=replace(right.request, content=body)))


def test_a_prefill_that_ends_in_white_space_is_reported_and_another_is_not() -> None:
    assert "client-role-order" in ids(anthropic([ASKED, spoke(words("It is "))], [words("x")]))
    assert "client-role-order" not in ids(anthropic([ASKED, spoke(words("It is"))], [words("x")]))


def test_a_history_with_calls_needs_its_tools() -> None:
    history = [ASKED, spoke(use()), asked(given())]

    assert "client-tools-missing-for-history" in ids(anthropic(history, [words("x")], tools=()))
    assert "client-tools-missing-for-history" not in ids(anthropic(history, [words("x")]))
    assert "client-tools-missing-for-history" not in ids(anthropic([ASKED], [words("x")], tools=()))


def tool(name: str = "look_up", schema: dict[str, Any] | None = None) -> dict[str, Any]:
    parameters = schema or {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "description": "x", "parameters": parameters}}


@pytest.mark.parametrize(
    ("tools", "said_of_it"),
    [
        ([tool(), tool()], "two tools are called"),
        ([tool("look up")], "the API does not accept the name"),
        ([tool(schema={"type": "object", "properties": {"a": {"type": "array"}}})], "an array without items"),
        ([tool(schema={"type": "string"})], "instead of an object"),
        ([tool(schema={"type": "object", "properties": []})], "a list as its properties, where an object belongs"),
        (
            [tool(schema={"type": "object", "properties": {"a": {"type": "object", "properties": []}}})],
            "a list as its properties, where an object belongs at /properties/a",
        ),
        ([tool(schema={"type": "object", "properties": {"a": {"type": "str"}}})], "the type 'str', which JSON Schema"),
        ([tool(schema={"type": "object", "properties": {}, "required": None})], "other than a list under 'required'"),
        (
            [tool(schema={"type": "object", "properties": {"a": {"type": "string", "required": True}}})],
            "a value other than a list under 'required' at /properties/a",
        ),
        (
            [tool(schema={"properties": {"a": {"$ref": "#/$defs/a"}}})],
            "a reference to '#/$defs/a', which it does not have",
        ),
        ([tool(f"t{n}") for n in range(129)], "accepts at most 128"),
    ],
)
def test_a_definition_that_the_api_rejects_is_reported_before_it_does(tools: list[Any], said_of_it: str) -> None:
    assert said_of_it in only("client-bad-tool-schema", chat([HELLO], said("x"), tools=tools)).message


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        {"type": "object", "properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}]}}},
        {"type": "object", "properties": {"type": {"type": ["string", "null"]}, "required": {"type": "NULL"}}},
        {"type": "OBJECT", "properties": {"a": {"type": "TYPE_UNSPECIFIED"}}, "required": []},
        {"type": "object"},
        {},
    ],
)
def test_a_definition_that_the_api_takes_is_none(schema: dict[str, Any]) -> None:
    assert ids(chat([HELLO], said("x"), tools=[tool(schema=schema)])) == set()


def refused(message: str, param: str | None = None, code: str | None = None, **fields: Any) -> Any:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return chat([HELLO], status=400, error={"error": error}, **fields)


def test_a_parameter_that_the_request_holds_and_the_api_names_is_proven() -> None:
    text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."

    assert only("client-unsupported-param", refused(text, "max_tokens", max_tokens=5)).tier == "P"
    assert only("client-unsupported-param", refused(text, "max_tokens")).tier == "S"


def test_geminis_words_for_an_unknown_parameter_are_understood() -> None:
    message = 'Invalid JSON payload received. Unknown name "seedling": Cannot find field.'
    body = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
    url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:generateContent"

    assert "client-unsupported-param" in ids(trip(url, {"contents": [HI], "seedling": 1}, body, status=400))


GONE = {"message": "Previous response with id 'resp_0' not found.", "type": "invalid_request_error",
        "code": "previous_response_not_found", "param": "previous_response_id"}  # fmt: skip


@pytest.mark.parametrize(("stored", "tier"), [(False, "P"), (None, "S")])
def test_state_that_was_not_to_be_stored_is_gone_by_the_clients_own_wish(stored: bool | None, tier: str) -> None:
    opened = [] if stored is None else [responses([{"role": "user", "content": "hi"}], [], store=stored)]
    following = responses([item_output()], None, 1, error=GONE, previous_response_id="resp_0")

    assert only("client-stale-server-state", *opened, following).tier == tier


@pytest.mark.parametrize(
    ("arguments", "fine"), [('{"word":"tape"}', True), ({"word": "tape"}, False)], ids=["string", "object"]
)
def test_arguments_are_a_string_in_chat(arguments: object, fine: bool) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": arguments}}
    history = [HELLO, {"role": "assistant", "content": None, "tool_calls": [call]}, result("call_1", "x")]

    assert ("client-args-wrong-type" not in ids(chat(history, said("done")))) is fine


def test_a_call_of_an_odd_type_does_not_stop_the_check_of_its_arguments() -> None:
    call = {"id": "call_1", "type": ["function"], "function": {"name": "look_up", "arguments": {"word": "tape"}}}
    history = [HELLO, {"role": "assistant", "content": None, "tool_calls": [call]}, result("call_1", "x")]

    assert "client-args-wrong-type" in ids(chat(history, said("done")))


def test_arguments_are_an_object_at_anthropic() -> None:
    wrong = {**use(), "input": '{"word":"tape"}'}

    assert "client-args-wrong-type" in ids(anthropic([ASKED, spoke(wrong), asked(given())], [words("x")]))
    assert "client-args-wrong-type" not in ids(anthropic([ASKED, spoke(use()), asked(given())], [words("x")]))


def test_the_json_of_a_converse_result_is_an_object() -> None:
    def sent(value: object) -> Any:
        called = {"toolUse": {"toolUseId": "t1", "name": "look_up", "input": {}}}
        answered = {"toolResult": {"toolUseId": "t1", "content": [{"json": value}]}}
        body = {
            "messages": [
                {"role": "user", "content": [{"text": "hi"}]},
                {"role": "assistant", "content": [called]},
                {"role": "user", "content": [answered]},
            ],
            "toolConfig": {"tools": [{"toolSpec": {"name": "look_up", "inputSchema": {"json": {"type": "object"}}}}]},
        }
        answer = {"output": {"message": {"role": "assistant", "content": [{"text": "x"}]}}, "stopReason": "end_turn"}
        return trip(CONVERSE, body, answer)

    assert "client-args-wrong-type" in ids(sent(["a"]))
    assert "client-args-wrong-type" not in ids(sent({"a": 1}))


def test_a_picture_where_none_is_taken_is_what_the_api_says() -> None:
    reported = refused("Invalid content type. image_url is only supported by certain models.")

    assert only("client-media-unsupported", reported).tier == "S"


def test_ids_that_the_client_makes_up_again_are_reported_and_harm_nobody() -> None:
    first, other = said(None, CALL), said(None, ("mine", "look_up", '{"word":"tape"}'))
    renamed = chat([HELLO, other, result("mine", "x")], said("done"), index=1)
    kept = chat([HELLO, first, result("call_1", "x"), user("go")], said("done"), index=1)

    assert only("client-call-id-rewritten", chat([HELLO], first), renamed).severity == "info"
    assert ids(chat([HELLO], first), kept) == set()


def test_a_turn_out_of_order_where_a_result_is_missing_echoes_the_missing_result() -> None:
    opened = gemini([turn("user", {"text": "hi"})], [calls()])
    refused = gemini([turn("user", {"text": "hi"}), turn("model", calls())], [], 1)
    body = b'{"error":{"code":400,"message":"Bad request","status":"INVALID_ARGUMENT"}}'
    assert refused.response is not None
    refused = replace(refused, response=replace(refused.response, status=400, content=body))

    reported = {one.id: one.because_of for one in judged(opened, refused) if one.severity != "info"}

    assert reported["client-missing-tool-result"] == ()
    assert reported["client-role-order"] == ("client-missing-tool-result",)


def test_an_order_of_roles_that_the_api_refuses_is_reported_at_its_place() -> None:
    later = gemini([HI, turn("model", {"text": "hello"})], [{"text": "x"}])

    assert lines(gemini([turn("model", {"text": "hi"}), HI], [{"text": "x"}]), only="client-role") == [
        ("#0 client-role-order (client, info, P): the contents begin with the model's turn | #0 request /contents/0"),
    ]
    assert lines(later, only="client-role") == [
        ("#0 client-role-order (client, info, P): the contents end with the model's turn | #0 request /contents/1"),
    ]
    assert lines(gemini([], [{"text": "x"}]), only="client-role") == []


def test_a_held_history_may_begin_with_anything() -> None:
    held = anthropic([spoke(words("It is "))], [words("x")], thread={"type": "continue", "previous_message_id": "m"})

    assert lines(held, only="client-role") == []
    assert lines(anthropic([spoke(words("It is "))], [words("x")]), only="client-role") != []


def test_a_history_with_calls_and_no_tools_is_reported_at_the_first_call() -> None:
    history = [ASKED, spoke(use()), asked(given()), spoke(use("toolu_2")), asked(given("toolu_2"))]

    assert lines(anthropic(history, [words("x")], tools=()), only="client-tools-m") == [
        (
            "#0 client-tools-missing-for-history (client, info, P): the history holds calls and results and "
            "the request defines no tools | #0 request /messages/1, #0 request /tools"
        ),
    ]
    only_result = anthropic([ASKED, asked(given())], [words("x")], tools=())
    assert lines(only_result, only="client-tools-m") != []
    assert lines(anthropic(history, [words("x")], tools=(), mcp_servers=[{"name": "x"}]), only="client-tools-m") == []
    thread = {"type": "continue", "previous_message_id": "m"}
    assert lines(anthropic(history, [words("x")], tools=(), thread=thread), only="client-tools-m") == []
    assert lines(chat([HELLO, said(None, CALL), result("call_1", "x")], said("x"), tools=None)) == []
    server = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tape"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    own = anthropic([ASKED, spoke(server, found), ASKED], [words("x")], tools=())
    assert lines(own, only="client-tools-m") == []


def schema(fields: object, **more: Any) -> list[str]:
    return lines(chat([HELLO], said("x"), tools=[tool(schema={"type": "object", "properties": fields} | more)]))


def test_a_definition_that_is_rejected_is_reported_with_its_fault_and_its_place() -> None:
    assert lines(chat([HELLO], said("x"), tools=[tool(), tool()])) == [
        (
            "#0 client-bad-tool-schema (client, info, P): two tools are called 'look_up' | "
            "#0 request /tools/0, #0 request /tools"
        ),
    ]
    assert lines(chat([HELLO], said("x"), tools=[tool("look up")])) == [
        (
            "#0 client-bad-tool-schema (client, info, P): the API does not accept the name 'look up' | "
            "#0 request /tools/0, #0 request /tools"
        ),
    ]
    assert lines(chat([HELLO], said("x"), tools=[tool(f"t{n}") for n in range(129)])) == [
        (
            "#0 client-bad-tool-schema (client, info, P): the request offers 129 tools; the API "
            "accepts at most 128 | #0 request /tools"
        ),
    ]
    assert lines(chat([HELLO], said("x"), tools=[tool(f"t{n}") for n in range(128)])) == []
    assert schema({"a": {"type": "array"}}) == [
        (
            "#0 client-bad-tool-schema (client, info, P): the schema of 'look_up' has an array without items "
            "at /properties/a | #0 request /tools/0"
        ),
    ]
    assert schema({"a": {"type": "object", "properties": {"b": {"type": "array"}}}}) == [
        (
            "#0 client-bad-tool-schema (client, info, P): the schema of 'look_up' has an array without items "
            "at /properties/a/properties/b | #0 request /tools/0"
        ),
    ]
    assert schema({"a": {"type": "array", "items": {"type": "array"}}}) == [
        (
            "#0 client-bad-tool-schema (client, info, P): the schema of 'look_up' has an array without items "
            "at /properties/a/items | #0 request /tools/0"
        ),
    ]
    assert schema({"a": "string"}) == [
        (
            "#0 client-bad-tool-schema (client, info, P): the schema of 'look_up' has a property 'a' that is "
            "not a schema | #0 request /tools/0"
        ),
    ]
    assert schema({"a": {"type": "object", "properties": {"b": 5}}}) == [
        (
            "#0 client-bad-tool-schema (client, info, P): the schema of 'look_up' has a property 'b' that is "
            "not a schema at /properties/a | #0 request /tools/0"
        ),
    ]
    assert lines(chat([HELLO], said("x"), tools=[tool(schema={"type": "string"})])) == [
        (
            "#0 client-bad-tool-schema (client, info, P): the schema of 'look_up' has the type 'string' instead "
            "of an object | #0 request /tools/0"
        ),
    ]
    assert schema({"a": True, "b": False}) == []
    assert schema({"a": {"type": "string"}}) == []
    assert schema({"a": {"type": "ARRAY"}}) != []
    assert lines(chat([HELLO], said("x"), tools=[tool(schema={"type": "OBJECT"})])) == []


def test_a_definition_is_reported_once_in_a_thread() -> None:
    bad = [tool("look up"), *(tool(f"t{n}") for n in range(128))]
    first = chat([HELLO], said("x"), tools=bad)
    second = chat([HELLO, said("x"), user("and?")], said("y"), index=1, tools=bad)

    assert [line.split(" ")[0] for line in lines(first, second, only="client-bad")] == ["#0", "#0"]


def test_tools_of_the_api_may_be_there_twice_and_have_any_name() -> None:
    search = {"type": "web_search_20250305", "name": "web search"}

    assert lines(anthropic([ASKED], [words("x")], tools=[search, search]), only="client-bad") == []


def test_a_parameter_that_is_not_taken_is_reported_with_its_place() -> None:
    text = "Unsupported parameter: 'max_tokens' is not supported with this model."
    nested = "Unknown parameter: 'messages[0].colour'."
    again = refused(text, "max_tokens", max_tokens=6)

    assert lines(refused(text, "max_tokens", max_tokens=5), only="client-unsup") == [
        (
            "#0 client-unsupported-param (client, error, P): the API does not accept max_tokens: Unsupported "
            "parameter: 'max_tokens' is not supported with this model. | #0 request /max_tokens, #0 status 400"
        ),
    ]
    assert lines(refused(text, "max_tokens"), only="client-unsup") == [
        (
            "#0 client-unsupported-param (client, error, S): the API does not accept a parameter of the request: "
            "Unsupported parameter: 'max_tokens' is not supported with this model. | #0 request, #0 status 400"
        ),
    ]
    assert lines(refused(nested, "messages[0].colour"), only="client-unsup") == [
        (
            "#0 client-unsupported-param (client, error, P): the API does not accept messages[0].colour: Unknown "
            "parameter: 'messages[0].colour'. | #0 request /messages/0/colour, #0 status 400"
        ),
    ]
    assert (
        lines(refused("Unknown parameter of this model.", "seed", "unknown_parameter", seed=1), only="client-unsup")
        != []
    )
    pair = refused(text, "max_tokens", max_tokens=5), replace(again, index=1)
    assert len(lines(*pair, only="client-unsup")) == 1
    assert lines(refused("Something else."), only="client-unsup") == []


@pytest.mark.parametrize("holder", ["generationConfig", "inferenceConfig"])
def test_a_parameter_inside_the_settings_is_found(holder: str) -> None:
    text = "Unsupported parameter: 'topX' is not supported with this model."
    fields: dict[str, Any] = {holder: {"topX": 1}}

    assert only("client-unsupported-param", refused(text, "topX", **fields)).tier == "P"
    assert only("client-unsupported-param", refused(text, "topX", other={"topX": 1})).tier == "S"


def test_state_that_the_api_does_not_hold_is_named_with_the_cause() -> None:
    def following(**fields: Any) -> Any:
        return responses([item_output()], None, 1, error=GONE, previous_response_id="resp_0", **fields)

    def opened(store: bool) -> Any:
        return responses([{"role": "user", "content": "hi"}], [item_call()], store=store)

    assert lines(opened(False), following(), only="client-stale") == [
        (
            "#1 client-stale-server-state (client, error, P): the request continues resp_0, which was "
            "requested with `store: false`; the API says: Previous response with id 'resp_0' not found. | #1 request "
            "/previous_response_id"
        ),
    ]
    assert lines(following(), only="client-stale") == [
        (
            "#1 client-stale-server-state (client, error, S): the request continues resp_0, which is "
            "not in this recording; the API says: Previous response with id 'resp_0' not found. | #1 request "
            "/previous_response_id"
        ),
    ]
    assert lines(opened(True), following(), only="client-stale")[0].startswith(
        "#1 client-stale-server-state (client, error, S)"
    )


def test_arguments_of_the_wrong_type_are_named_with_the_type() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": {"word": "tape"}}}
    history = [HELLO, {"role": "assistant", "content": None, "tool_calls": [call]}, result("call_1", "x")]
    wrong = use() | {"input": '{"word":"tape"}'}

    assert lines(chat(history, said("done")), only="client-args") == [
        (
            "#0 client-args-wrong-type (client, info, P): the arguments of 'look_up' must be a string | #0 "
            "request /messages/1/tool_calls/0"
        ),
    ]
    assert lines(anthropic([ASKED, spoke(wrong), asked(given())], [words("x")]), only="client-args") == [
        (
            "#0 client-args-wrong-type (client, info, P): the arguments of 'look_up' must be an object | #0 "
            "request /messages/1/content/0"
        ),
    ]
    as_list = use() | {"input": ["tape"]}
    assert lines(anthropic([ASKED, spoke(as_list), asked(given())], [words("x")]), only="client-args") != []
    without = {key: value for key, value in use().items() if key != "input"}
    assert lines(anthropic([ASKED, spoke(without), asked(given())], [words("x")]), only="client-args") != []


def test_arguments_that_the_api_itself_returned_so_are_the_apis_if_it_refuses_them() -> None:
    wrong = use() | {"input": '{"word":"tape"}'}
    made = anthropic([ASKED], [wrong])
    history = [ASKED, spoke(wrong), asked(given())]

    assert lines(made, anthropic(history, [words("x")], 1), only="client-args") == []
    refusal = anthropic(
        history, index=1, error="messages.1.content.0.tool_use.input: Input should be a valid dictionary"
    )
    assert lines(made, refusal, only="client-args") == []
    assert lines(made, refusal, only="request-") == [
        (
            "#1 request-rejected (api, error, P): the API rejected the request: 400 "
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary; the API itself returned the "
            "rejected block in #0 | #1 status 400, #1 request /messages/1/content/0, #0 response"
        ),
    ]


def test_a_search_of_tools_has_arguments_of_its_own_kind() -> None:
    search = {"type": "tool_search_call", "call_id": "ts_1", "name": "tool_search", "arguments": {"query": "x"}}
    other = item_call() | {"arguments": {"word": "x"}}

    assert lines(responses([{"role": "user", "content": "hi"}, search], []), only="client-args") == []
    assert lines(responses([{"role": "user", "content": "hi"}, other, item_output()], []), only="client-args") != []


def test_the_json_of_a_result_is_reported_at_its_place() -> None:
    assert lines(converse([{"json": ["a"]}], "success"), only="client-args") == [
        (
            "#0 client-args-wrong-type (client, info, P): the JSON of a result must be an object | #0 request "
            "/messages/2/content/0"
        ),
    ]
    assert lines(converse([{"json": {"a": 1}}], "success"), only="client-args") == []
    assert lines(converse([{"text": "a"}], "success"), only="client-args") == []


def test_an_id_that_the_client_made_up_again_is_named_with_both() -> None:
    other = said(None, ("mine", "look_up", '{"word":"tape"}'))
    history = [HELLO, other, result("mine", "x")]
    error = {"error": {"message": "Tool call id was mine but must be a-z, A-Z, 0-9, with a length of 9.", "type": "x"}}

    assert lines(chat([HELLO], said(None, CALL)), chat(history, said("done"), index=1), only="client-call-id") == [
        (
            "#1 client-call-id-rewritten (client, info, P): the client sent the call id call_1 back as mine | #0 call "
            "call_1, #1 request /messages/1/tool_calls/0"
        ),
    ]
    assert lines(
        chat([HELLO], said(None, CALL)), chat(history, status=400, error=error, index=1), only="client-call-id"
    ) == (
        [
            (
                "#1 client-call-id-rewritten (client, error, P): the client sent the call id call_1 back as mine; the "
                "API says: Tool call id was mine but must be a-z, A-Z, 0-9, with a length of 9. | #0 call call_1, #1 "
                "request /messages/1/tool_calls/0"
            ),
        ]
    )


def test_a_tool_that_only_the_api_finds_wrong_is_reported_in_its_words() -> None:
    found = ids(refused("Invalid schema for function 'look_up': 'word' is not valid."))

    assert "client-bad-tool-schema" in found


def test_a_parameter_that_is_refused_twice_is_reported_once() -> None:
    said_so = "Unsupported parameter: 'temperature' is not supported with this model."
    other = "Unsupported parameter: 'top_p' is not supported with this model."
    both: dict[str, Any] = {"temperature": 1, "top_p": 1}

    def count(*messages: str) -> int:
        trips = [refused(message, index=n, **both) for n, message in enumerate(messages)]
        return len(lines(*trips, only="client-unsupported-param"))

    assert count(said_so) == 1
    assert count(said_so, said_so) == 1
    assert count(said_so, other) == 2


def cohere_arguments(arguments: object) -> Any:
    call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": arguments}}
    history = [HELLO, {"role": "assistant", "tool_calls": [call]}, result("call_1", "x")]
    message = {"role": "assistant", "content": [{"type": "text", "text": "done"}]}
    body = {"model": "command-a", "messages": history}
    return trip("https://api.cohere.com/v2/chat", body, {"id": "c", "message": message, "finish_reason": "COMPLETE"})


def gemini_arguments(arguments: object) -> Any:
    call = {"function_call": {"name": "look_up", "args": arguments}}
    return gemini([turn("user", {"text": "hi"}), turn("model", call), turn("user", gives())], [{"text": "done"}])


INVOKE = CONVERSE.replace("/converse", "/invoke")


def claude_arguments(arguments: object) -> Any:
    one = anthropic([ASKED, spoke(use() | {"input": arguments}), asked(given())], [words("x")])
    body = orjson.loads(one.request.body) | {"anthropic_version": "bedrock-2023-05-31"}
    return trip(INVOKE, body, orjson.loads(one.response.body if one.response else b""))


def nova_arguments(arguments: object) -> Any:
    called = {"toolUse": {"toolUseId": "t1", "name": "look_up", "input": arguments}}
    answered = {"toolResult": {"toolUseId": "t1", "content": [{"text": "x"}]}}
    history = [("user", {"text": "hi"}), ("assistant", called), ("user", answered)]
    body = {"messages": [{"role": role, "content": [block]} for role, block in history]}
    message = {"role": "assistant", "content": [{"text": "done"}]}
    return trip(INVOKE, body, {"output": {"message": message}, "stopReason": "end_turn"})


def mistral_on_bedrock_arguments(arguments: object) -> Any:
    call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": arguments}}
    history = [HELLO, {"role": "assistant", "content": None, "tool_calls": [call]}, result("call_1", "x")]
    choice = {"index": 0, "message": said("done"), "stop_reason": "stop"}
    return trip(INVOKE, {"messages": history}, {"choices": [choice]})


@pytest.mark.parametrize(
    ("sent", "right", "wrong", "article"),
    [
        (cohere_arguments, '{"word":"tape"}', {"word": "tape"}, "a string"),
        (gemini_arguments, {"word": "tape"}, '{"word":"tape"}', "an object"),
        (claude_arguments, {"word": "tape"}, '{"word":"tape"}', "an object"),
        (nova_arguments, {"word": "tape"}, '{"word":"tape"}', "an object"),
        (mistral_on_bedrock_arguments, '{"word":"tape"}', {"word": "tape"}, "a string"),
    ],
)
def test_the_type_of_arguments_is_known_for_each_shape(sent: Any, right: object, wrong: object, article: str) -> None:
    [line] = lines(sent(wrong), only="client-args")
    assert f"the arguments of 'look_up' must be {article}" in line
    assert lines(sent(right), only="client-args") == []


def test_a_wrong_order_that_stays_in_the_history_is_reported_once() -> None:
    wrong = [turn("model", {"text": "hello"}), HI]
    later = gemini([*wrong, turn("model", {"text": "well"}), HI], [{"text": "x"}], 1)

    assert lines(gemini(wrong, [{"text": "well"}]), later, only="client-role") == [
        "#0 client-role-order (client, info, P): the contents begin with the model's turn | #0 request /contents/0",
    ]


def test_an_open_call_two_messages_before_does_not_explain_a_wrong_order() -> None:
    open_call = [HI, turn("model", calls())]
    rejected = gemini([*open_call, HI, turn("model", {"text": "x"})], [], 1)
    assert rejected.response is not None
    body = b'{"error":{"code":400,"message":"Bad request","status":"INVALID_ARGUMENT"}}'
    rejected = replace(rejected, response=replace(rejected.response, status=400, content=body))

    assert lines(gemini([HI], [calls()]), rejected, only="client-role") == [
        "#1 client-role-order (client, error, P): the contents end with the model's turn | #1 request /contents/3",
    ]


@pytest.mark.parametrize(
    ("named", "place"),
    [("reasoning.effort", "reasoning/effort"), ("messages[0].role", "messages/0/role"), ("tools[0]", "tools/0")],
)
def test_a_path_that_the_api_names_is_the_place_of_the_parameter(named: str, place: str) -> None:
    text = f"Unsupported value: '{named}' does not support 'x' with this model."

    found = lines(refused(text, named, "unsupported_value", reasoning={"effort": "x"}), only="client-unsupported")

    assert found == [
        f"#0 client-unsupported-param (client, error, P): the API does not accept {named}: {text} "
        f"| #0 request /{place}, #0 status 400"
    ]


def test_calls_that_come_back_under_each_others_ids() -> None:
    first, second = ("call_1", "look_up", '{"word":"tape"}'), ("call_2", "look_up", '{"word":"reel"}')
    opened = chat([HELLO], said(None, first, second))

    def back(one: str, two: str) -> list[str]:
        calls_ = said(None, (one, *first[1:]), (two, *second[1:]))
        after = [HELLO, calls_, result("call_1", "a strip"), result("call_2", "a wheel")]
        return lines(opened, chat(after, said("done"), index=1), only="client-call-id")

    [line] = back("call_2", "call_1")
    assert line.startswith(
        "#1 client-call-id-rewritten (client, warning, P): the call call_1 came back under the id call_2 of"
    )
    assert back("call_1", "call_2") == []
    assert all("(client, info, P)" in one for one in back("mine", "yours"))


def test_reasoning_that_came_back_behind_its_call_is_the_clients() -> None:
    thought = {"type": "thinking", "thinking": "Look it up.", "signature": "c2lnbmVk"}
    opened = anthropic([asked("hi")], [thought, use()])
    error = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."

    def refused(*blocks: dict[str, Any]) -> str:
        after = anthropic([asked("hi"), spoke(*blocks), asked(given())], None, 1, error=error)
        return only("request-rejected", opened, after).layer

    assert refused(use(), thought) == "client"
    assert refused(thought, use()) == "api"


@pytest.mark.parametrize("value", [{"ok": True}, "a strip", [{"type": "text", "text": "a strip"}]])
def test_the_content_of_a_result_is_text_or_a_list(value: Any) -> None:
    wrong = isinstance(value, dict)
    trips = [
        chat([HELLO, said(None, CALL), result("call_1", "x") | {"content": value}], said("x")),
        anthropic([asked("hi"), spoke(use()), asked(given() | {"content": value})], [words("x")]),
        responses([HELLO, item_call(), item_output() | {"output": value}], []),
    ]
    for trip_ in trips:
        assert ("client-args-wrong-type" in ids(trip_)) is wrong


@pytest.mark.parametrize(("value", "fine"), [({"result": "a strip"}, True), ("a strip", False), ([], False)])
def test_the_response_of_a_function_is_an_object_at_gemini(value: Any, fine: bool) -> None:
    called = {"functionCall": {"name": "look_up", "args": {"word": "tape"}}}
    contents = [turn("user", {"text": "hi"}), turn("model", called),
                turn("user", {"functionResponse": {"name": "look_up", "response": value}})]  # fmt: skip

    assert ("client-args-wrong-type" not in ids(gemini(contents, [{"text": "x"}]))) is fine


@pytest.mark.parametrize(
    ("fields", "said_", "place"),
    [
        ({"logprobs": True}, "Logprobs are not enabled for this model", "/logprobs"),
        ({"tool_choice": "auto"}, "Thinking mode does not support this tool_choice", "/tool_choice"),
        ({"options": {"effort": "xhigh"}}, "This model does not support effort level 'xhigh'", "/options/effort"),
        ({"stream": True}, "Cannot use tools with stream", ""),
    ],
)
def test_a_parameter_that_the_sentence_of_the_api_names_is_its_place(
    fields: dict[str, Any], said_: str, place: str
) -> None:
    error = {"error": {"message": said_, "type": "invalid_request_error"}}
    one = chat([HELLO], status=400, error=error, **fields)

    [line] = lines(one, only="client-unsupported-param")
    assert f"#0 request {place}".strip() + "," in line


@pytest.mark.parametrize(
    ("role", "kind", "wrong"),
    [
        ("user", "output_text", "a text of the user has the type 'output_text', which is for texts of the model"),
        (
            "assistant",
            "input_text",
            "a text of the assistant has the type 'input_text', which is for texts of the user",
        ),
        ("user", "input_text", None),
        ("assistant", "output_text", None),
        ("system", "input_text", None),
        ("developer", "input_text", None),
    ],
)
def test_the_type_of_a_text_says_whose_it_is(role: str, kind: str, wrong: str | None) -> None:
    message = {"type": "message", "role": role, "content": [{"type": kind, "text": "a tape"}]}
    one = responses([HELLO, message, HELLO], [])

    assert [f.message for f in judged(one) if f.id == "client-args-wrong-type"] == ([wrong] if wrong else [])


def marked(count: int, error: str | None = None) -> RoundTrip:
    """A request of Anthropic with this many cache marks."""
    mark: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
    blocks = [{"type": "text", "text": f"part {n}"} | (mark if n < count else {}) for n in range(6)]
    return anthropic([{"role": "user", "content": blocks}], [words("done")], error=error)


def test_more_cache_marks_than_the_api_allows_are_why_it_rejects_the_request() -> None:
    said_of_it = "A maximum of 4 blocks with cache_control may be provided. Found 5."
    found = lines(marked(5, said_of_it))

    assert found[0] == (
        "#0 client-unsupported-param (client, error, P): the request has 5 cache marks; the API accepts at most 4 | "
        "#0 request /messages/0/content/4"
    )
    assert "because of client-unsupported-param" in found[1]


@pytest.mark.parametrize(("count", "severities"), [(4, []), (5, ["info"])])
def test_cache_marks_that_the_api_took_are_an_info(count: int, severities: list[str]) -> None:
    assert [line.split(", ")[1] for line in lines(marked(count), only="client-unsupported-param")] == severities


@pytest.mark.parametrize("there", [True, False])
def test_a_call_in_the_history_without_its_arguments(there: bool) -> None:
    block = {"type": "tool_use", "id": "toolu_1", "name": "look_up"} | ({"input": {}} if there else {})
    answered = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a strip"}
    history = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [block]},
        {"role": "user", "content": [answered]},
    ]
    called = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "look_up"} | ({"arguments": "{}"} if there else {}),
    }
    spoken = [HELLO, {"role": "assistant", "content": None, "tool_calls": [called]}, result("call_1", "a strip")]

    for one in (anthropic(history, [words("done")]), chat(spoken, said("done"))):
        assert ("client-args-wrong-type" in ids(one)) is not there


def test_a_custom_call_has_an_input_and_no_arguments() -> None:
    custom = {"type": "custom_tool_call", "call_id": "call_1", "name": "look_up", "input": "tape"}
    given_back = {"type": "custom_tool_call_output", "call_id": "call_1", "output": "a strip"}

    assert "client-args-wrong-type" not in ids(responses([HELLO, custom, given_back], []))


SCREEN: dict[str, Any] = {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="}
LISTED = {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}


@pytest.mark.parametrize(
    ("kind", "output", "fine"),
    [
        ("computer", SCREEN, True),
        ("shell", [LISTED], True),
        ("shell", "a", False),
        ("local_shell", "a", True),
    ],
)
def test_an_output_has_the_type_of_its_item(kind: str, output: object, fine: bool) -> None:
    call = {"id": "x_1", "type": f"{kind}_call", "call_id": "c", "status": "completed", "action": {"commands": ["ls"]}}
    history = [user("hi"), call, {"type": f"{kind}_call_output", "call_id": "c", "output": output}]

    assert ("client-args-wrong-type" not in ids(responses(history, [], tools=[{"type": kind}]))) is fine
