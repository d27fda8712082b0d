"""What a server took out of a request."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import HELLO, chat, said, user
from judged import (
    MESSAGES,
    OLLAMA,
    at_host,
    ids,
    item_output,
    lines,
    only,
    responses,
    trip,
    with_answer,
)
from round_trips import sse

from turntape.cassettes.tape.model import RoundTrip


def local(size: int, counted: int, **more: Any) -> RoundTrip:
    asked = {"model": "qwen3", "messages": [{"role": "user", "content": "x " * (size // 2)}], "stream": False, **more}
    answer = {"model": "qwen3", "message": {"role": "assistant", "content": "ok"}, "done": True, "done_reason": "stop",
              "prompt_eval_count": counted, "eval_count": 2}  # fmt: skip
    return trip(OLLAMA, asked, answer, upstream="ollama")


@pytest.mark.parametrize(("counted", "lost"), [(2050, True), (20_000, False)])
def test_a_prompt_that_was_cut_in_silence_is_known_by_the_count(counted: int, lost: bool) -> None:
    assert ("api-prompt-truncated-silently" in ids(local(80_000, counted))) is lost


@pytest.mark.parametrize(
    ("then", "now", "window", "lost"),
    [
        (3900, 2050, None, True),
        (3900, 2050, 4096, True),
        (3900, 2050, 8192, False),
        (3900, 2060, None, False),
        (3900, 3902, None, False),
        (900, 514, None, False),
    ],
)
def test_a_count_that_falls_to_half_a_window_is_a_cut_prompt(
    then: int, now: int, window: int | None, lost: bool
) -> None:
    options = {"options": {"num_ctx": window}} if window else {}
    history = [HELLO, said("Hello."), user("And what is a reel?")]
    trips = [local(0, then, messages=[HELLO], **options), local(0, now, messages=history, **options)]
    assert trips[0].response is not None
    first = trips[0].response.body.replace(b'"ok"', b'"Hello."')
    trips = [replace(trips[0], response=replace(trips[0].response, content=first)), replace(trips[1], index=1)]

    assert ("api-prompt-truncated-silently" in ids(*trips)) is lost


def test_pictures_have_counts_of_their_own() -> None:
    messages = [{"role": "user", "content": "x " * 40_000, "images": ["QUJD" * 100]}]

    assert "api-prompt-truncated-silently" not in ids(local(0, 2050, messages=messages))


def test_truncation_that_was_allowed_is_reported_with_a_held_history_too() -> None:
    opened = responses([{"role": "user", "content": "hi"}], [], truncation="auto")
    following = responses([item_output()], [], 1, truncation="auto", previous_response_id="resp_0")
    assert opened.response is not None
    body = opened.response.body.replace(b'"input_tokens": 100', b'"input_tokens": 9000')
    body = body.replace(b'"total_tokens": 110', b'"total_tokens": 9010')
    long = replace(opened, response=replace(opened.response, content=body))

    assert "api-prompt-truncated-silently" in ids(long, following)
    assert "api-prompt-truncated-silently" not in ids(opened, following)


@pytest.mark.parametrize(
    ("reason", "layer"),
    [("prefix_binding_mismatch", "client"), ("model_binding_mismatch", "client"), ("organization_mismatch", "api")],
)
def test_reasoning_that_the_api_took_out_is_reported_with_its_reason(reason: str, layer: str) -> None:
    one = chat([HELLO], said("x"))
    assert one.response is not None
    entry = f'[{{"type":"thinking_dropped","path":"messages.1.content.0","reason":"{reason}"}}]'
    body = one.response.body[:-1] + f',"input_transformations":{entry}}}'.encode()

    assert only("reasoning-removed", replace(one, response=replace(one.response, content=body))).layer == layer


def test_a_prompt_that_was_cut_is_reported_with_the_count_and_the_size() -> None:
    assert lines(local(80_000, 2050), only="api-prompt") == [
        "#0 api-prompt-truncated-silently (api, error, S): the server counted 2,050 input tokens for 80,000 "
        "characters of history: most of it was dropped | #0 usage input 2050, #0 request",
    ]
    assert lines(local(8008, 1000), only="api-prompt") != []
    assert lines(local(8000, 999), only="api-prompt") == []
    assert lines(local(16_000, 2000), only="api-prompt") == []
    assert lines(local(16_000, 1999), only="api-prompt") != []


def test_the_arguments_of_calls_count_as_history_too() -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [
        {"function": {"name": "look_up", "arguments": {"word": "x" * 20_000}}}]}  # fmt: skip
    messages = [{"role": "user", "content": "hi"}, call, {"role": "tool", "content": "x"}]

    assert "api-prompt-truncated-silently" in ids(local(0, 900, messages=messages))


def long_chat(url: str, *, upstream: str | None = None) -> RoundTrip:
    one = chat([user("x " * 10_000)], said("x"), usage=(900, 5))
    return at_host(one, url, upstream)


@pytest.mark.parametrize(
    ("url", "upstream", "reported"),
    [
        ("http://localhost:8080/v1/chat/completions", None, True),
        ("http://127.0.0.1:8080/v1/chat/completions", None, True),
        ("http://[::1]:8080/v1/chat/completions", None, True),
        ("http://127.0.0.1:8080/v1/chat/completions", "openai", False),
        ("https://gpu.example.com/v1/chat/completions", None, False),
        ("https://api.openai.com/v1/chat/completions", "openai", False),
    ],
)
def test_a_small_count_is_doubted_at_a_server_of_ones_own(url: str, upstream: str | None, reported: bool) -> None:
    assert ("api-prompt-truncated-silently" in ids(long_chat(url, upstream=upstream))) is reported


def test_a_server_that_says_that_it_lost_the_prompt_is_believed() -> None:
    asked_for = {"model": "qwen3", "messages": [HELLO], "stream": False}
    lost = trip(OLLAMA, asked_for, {"error": "any messages must be provided: prompt is empty"}, status=400)

    assert "api-prompt-truncated-silently" not in ids(lost)


def truncated(then: int, now: int, **second: Any) -> list[str]:
    def counted(one: RoundTrip, count: int) -> RoundTrip:
        return with_answer(one, usage={"input_tokens": count, "output_tokens": 5, "total_tokens": count + 5})

    ask = {"role": "user", "content": "hi"}
    reply = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "hey"}]}
    one = counted(responses([ask], [reply], truncation="auto"), then)
    items = second.pop("items", [ask, reply, {"role": "user", "content": "and?"}])
    return lines(one, counted(responses(items, [reply], 1, truncation="auto", **second), now), only="api-prompt")


def test_truncation_on_request_is_reported_when_the_count_shrinks_by_a_fifth() -> None:
    assert truncated(9000, 7199) == [
        "#1 api-prompt-truncated-silently (api, error, S): 7,199 input tokens after 9,000 although the history grew: "
        "`truncation: auto` dropped items | #1 usage input 7199, #1 request /truncation",
    ]
    assert truncated(9000, 7200) == []
    assert truncated(0, 10) == []
    assert truncated(9000, 100, items=[{"role": "user", "content": "and?"}]) == []
    assert truncated(9000, 100, items=[{"role": "user", "content": "?"}], previous_response_id="resp_0") != []


@pytest.mark.parametrize("streamed", [False, True])
def test_reasoning_that_was_taken_out_is_reported_with_its_place(streamed: bool) -> None:
    entry = {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"}

    def taken(*entries: dict[str, Any]) -> list[str]:
        if not streamed:
            return lines(with_answer(chat([HELLO], said("x")), input_transformations=entries), only="reasoning-removed")
        fields = {"model": "claude", "max_tokens": 9, "messages": [HELLO], "stream": True}
        start = {"type": "message_start", "message": {"id": "m", "input_transformations": entries}}
        return lines(trip(MESSAGES, fields, sse(start, {"type": "message_stop"}, names=True)), only="reasoning-removed")

    assert taken(entry) == [
        "#0 reasoning-removed (client, warning, P): the API removed 1 reasoning block from the request: "
        "prefix_binding_mismatch messages.1.content.0 | #0 response input_transformations, "
        "#0 request messages.1.content.0",
    ]
    assert taken(entry, entry)[0].split(": ")[1].startswith("the API removed 2 reasoning blocks from the request")
    assert taken({}) == [
        "#0 reasoning-removed (api, warning, P): the API removed 1 reasoning block from the request: "
        "unknown | #0 response input_transformations, #0 request ",
    ]
    assert taken() == []
