"""Requests that an API must reject, whether or not it did."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import (
    CONVERSE,
    anthropic,
    asked,
    calls,
    gemini,
    given,
    gives,
    ids,
    item_output,
    judged,
    only,
    responses,
    spoke,
    trip,
    turn,
    use,
    words,
)  # fmt: skip

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


def test_a_prefill_that_ends_in_white_space_is_reported_and_another_is_not() -> None:
    assert "client-role-order" in ids(anthropic([ASKED, spoke(words("It is "))], [words("x")]))
    assert "client-role-order" not in ids(anthropic([ASKED, spoke(words("It is"))], [words("x")]))


EMPTY = words("")


def test_an_empty_block_is_the_clients() -> None:
    refused = anthropic([ASKED, spoke(EMPTY, use()), asked(given())], error="text content blocks must be non-empty")

    one = only("client-empty-content", refused)

    assert (one.layer, one.severity) == ("client", "error")


def test_an_empty_block_that_the_api_made_is_the_apis() -> None:
    made = anthropic([ASKED], [EMPTY, use()])
    history = [ASKED, spoke(EMPTY, use()), asked(given())]

    assert "client-empty-content" not in ids(made, anthropic(history, [words("done")], 1))
    assert only("client-empty-content", made, anthropic(history, index=1, error="must be non-empty")).layer == "api"


def test_an_empty_result_is_allowed() -> None:
    assert ids(anthropic([ASKED, spoke(use()), asked(given(text=""))], [words("none")])) == set()


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
        ([tool("look up")], "is not one that the API accepts"),
        ([tool(schema={"type": "object", "properties": {"a": {"type": "array"}}})], "an array without items"),
        ([tool(schema={"type": "string"})], "where an object is wanted"),
        ([tool(f"t{n}") for n in range(129)], "the API takes 128"),
    ],
)
def test_a_definition_that_the_api_rejects_is_reported_before_it_does(tools: list[Any], said_of_it: str) -> None:
    assert said_of_it in only("client-bad-tool-schema", chat([HELLO], said("x"), tools=tools)).message


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        {"type": "object", "properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}]}}},
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
