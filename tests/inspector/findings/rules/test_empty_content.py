"""Messages, blocks and system prompts that hold nothing."""

from typing import Any

import pytest
from conversations import HELLO, chat, said, user
from dialogues import APIS, asks, says
from judged import (
    anthropic,
    asked,
    calls,
    converse,
    gemini,
    given,
    ids,
    judged,
    lines,
    only,
    responses,
    spoke,
    trip,
    turn,
    use,
    words,
)
from round_trips import CHAT, GEMINI

ASKED = {"role": "user", "content": "what is a tape?"}
EMPTY = words("")
NOTHING = "client-empty-content"


def test_an_empty_block_is_the_clients() -> None:
    refused = anthropic([ASKED, spoke(EMPTY, use()), asked(given())], error="text content blocks must be non-empty")

    one = only("client-empty-content", refused)

    assert (one.layer, one.severity) == ("client", "error")


def test_an_empty_block_that_the_api_made_is_the_apis() -> None:
    made = anthropic([ASKED], [EMPTY, use()])
    history = [ASKED, spoke(EMPTY, use()), asked(given())]

    assert "client-empty-content" not in ids(made, anthropic(history, [words("done")], 1))
    assert only("request-rejected", made, anthropic(history, index=1, error="must be non-empty")).layer == "api"


def test_an_empty_result_is_allowed() -> None:
    assert ids(anthropic([ASKED, spoke(use()), asked(given(text=""))], [words("none")])) == set()


def test_empty_pieces_are_reported_with_what_they_are() -> None:
    hollow = {"role": "user", "content": []}

    assert lines(anthropic([ASKED, spoke(words(" ")), ASKED], [words("x")]), only="client-empty") == [
        (
            "#0 client-empty-content (client, info, P): the request holds an empty text block | #0 request "
            "/messages/1/content/0"
        ),
    ]
    assert lines(anthropic([ASKED, hollow, ASKED], [words("x")]), only="client-empty") == [
        (
            "#0 client-empty-content (client, info, P): the request holds a message without content | #0 "
            "request /messages/1"
        ),
    ]
    assert lines(anthropic([ASKED, spoke()], [words("x")]), only="client-empty") == [], "a prefill may be empty"
    assert lines(anthropic([ASKED, spoke(), ASKED], [words("x")]), only="client-empty") != []
    assert lines(anthropic([ASKED, hollow], [words("x")]), only="client-empty") != []
    assert lines(chat([HELLO, said(""), user("and?")], said("x")), only="client-empty") == [], "this API takes them"


def test_an_error_result_of_converse_must_say_something() -> None:
    assert lines(converse([]), only="client-empty") == [
        (
            "#0 client-empty-content (client, info, P): the request holds an error result without content | #0 "
            "request /messages/2/content/0"
        ),
    ]
    assert lines(converse([{"text": "no"}]), only="client-empty") == []
    assert lines(converse([], "success"), only="client-empty") == []


def test_an_empty_block_that_the_api_made_is_reported_with_its_origin() -> None:
    made = anthropic([ASKED], [EMPTY, use()])
    refused = anthropic([ASKED, spoke(EMPTY, use()), asked(given())], index=1, error="must be non-empty")

    assert lines(made, refused) == [
        (
            "#1 request-rejected (api, error, P): the API rejected the request: 400 must be non-empty; the API itself "
            "returned the rejected block in #0 | #1 status 400, #1 request /messages/1/content/0, #0 response"
        ),
    ]


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ({"role": "assistant", "content": "Yes.", "tool_calls": []}, "a message with an empty list of calls"),
        ({"role": "assistant", "content": None}, "a message without content"),
        ({"role": "user", "content": None, "name": "ann"}, "a message without content"),
        ({"role": "assistant", "content": "Yes.", "tool_calls": None}, None),
        ({"role": "assistant", "content": None, "refusal": "No."}, None),
        ({"role": "assistant", "content": None, "audio": {"id": "a_1"}}, None),
        ({"role": "assistant", "content": ""}, None),
    ],
)
def test_a_message_that_says_nothing_is_named_in_chat(message: dict[str, Any], what: str | None) -> None:
    one = chat([HELLO, message, user("go on")], said("x"))

    assert [f.message for f in judged(one) if f.id == NOTHING] == ([f"the request holds {what}"] if what else [])


def test_a_message_that_says_nothing_and_that_the_api_made_is_not_the_clients() -> None:
    empty = {"role": "assistant", "content": None}

    assert NOTHING not in ids(chat([HELLO], empty), chat([HELLO, empty, user("go on")], said("x"), index=1))


@pytest.mark.parametrize("api", ["chat", "responses", "gemini", "ollama", "cohere", "mistral"])
def test_a_message_of_the_user_without_a_word_is_an_info(api: str) -> None:
    if api not in APIS:
        return
    blank = APIS[api]([asks("hi"), says("Yes?"), asks("  ")], says("x"), 0)
    found = [(one.severity, one.message) for one in judged(blank) if one.id == NOTHING]

    assert found == [("info", "the request holds a message of the user without a word")]
    assert NOTHING not in ids(APIS[api]([asks("hi"), says("Yes?"), asks("go")], says("x"), 0))


def test_a_message_of_the_user_that_is_an_empty_text_is_an_info() -> None:
    for blank in (chat([HELLO, said("Yes?"), user("")], said("x")), responses([user("hi"), user("")], [])):
        found = [(one.severity, one.message) for one in judged(blank) if one.id == NOTHING]

        assert found == [("info", "the request holds a message of the user without a word")]


@pytest.mark.parametrize(("prompt", "empty"), [("", True), (" \n", True), ("Be brief.", False)])
def test_an_empty_system_prompt_is_an_info(prompt: str, empty: bool) -> None:
    one = chat([{"role": "system", "content": prompt}, HELLO], said("x"))
    found = [(f.severity, f.message) for f in judged(one) if f.id == NOTHING]

    assert found == ([("info", "the request holds an empty system prompt")] if empty else [])
    assert NOTHING not in ids(gemini([turn("user", {"text": "hi"})], [{"text": "x"}]))


REFUSED = {"error": {"message": "no messages", "type": "invalid_request_error"}}
BARE = [
    (CHAT, {"model": "gpt-5", "messages": []}, "messages"),
    (GEMINI, {"contents": []}, "contents"),
    ("https://api.anthropic.com/v1/messages", {"model": "claude-4", "max_tokens": 9, "messages": []}, "messages"),
    ("https://api.openai.com/v1/responses", {"model": "gpt-5", "input": []}, "input"),
    ("http://127.0.0.1:11434/api/chat", {"model": "qwen3", "messages": [], "stream": False}, "messages"),
]


@pytest.mark.parametrize(("url", "body", "field"), BARE, ids=[field + str(n) for n, (_, _, field) in enumerate(BARE)])
def test_a_request_without_any_message_is_the_clients(url: str, body: dict[str, Any], field: str) -> None:
    [line] = lines(trip(url, body, REFUSED, status=400), only=NOTHING)

    assert line == f"#0 {NOTHING} (client, error, P): the request has no message | #0 request /{field}"
    assert NOTHING not in ids(trip(url, {**body, field: [HELLO]}, REFUSED, status=400))


@pytest.mark.parametrize("held", ["previous_response_id", "conversation", "prompt"])
def test_a_request_without_a_message_may_continue_what_the_api_holds(held: str) -> None:
    body = {"model": "gpt-5", "input": [], held: "resp_1"}

    assert NOTHING not in ids(trip("https://api.openai.com/v1/responses", body, REFUSED, status=400))


def test_a_request_without_a_message_loads_a_model_of_ollama() -> None:
    loaded = {"model": "qwen3", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "load"}
    body = {"model": "qwen3", "messages": [], "stream": False}

    assert NOTHING not in ids(trip("http://127.0.0.1:11434/api/chat", body, loaded))


@pytest.mark.parametrize("content", ["", [], None])
def test_an_error_result_of_claude_must_say_something(content: object) -> None:
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": content, "is_error": True}
    history = [ASKED, spoke(use()), asked({**given(), **result, "tool_use_id": given()["tool_use_id"]})]
    said_so = "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true"

    assert "an error result without content" in only(NOTHING, anthropic(history, error=said_so)).message
    fine = [ASKED, spoke(use()), asked({**given(), "content": content, "is_error": False})]
    assert NOTHING not in ids(anthropic(fine, error="overloaded"))


def test_a_message_of_gemini_without_parts_says_nothing() -> None:
    hollow = gemini([turn("user", {"text": "hi"}), turn("model", {"text": "x"}), turn("user")], [{"text": "y"}])

    assert only(NOTHING, hollow).message == "the request holds a message without content"
    assert NOTHING not in ids(gemini([turn("user", {"text": "hi"}), turn("model", calls())], [{"text": "y"}]))
