"""Counts of the input that the request itself contradicts."""

import json
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import anthropic, asked, given, ids, lines, responses, spoke, use, with_answer, words

USAGE = "api-usage-inconsistent"
LONG = "The tape is a strip of brown plastic. " * 60
ROWS = json.dumps([{"city": "Paris", "state": "open", "number": number} for number in range(60)])


@pytest.mark.parametrize(("tokens", "found"), [(60, True), (600, False)])
def test_the_words_of_calls_and_results_are_read_too(tokens: int, *, found: bool) -> None:
    one = chat([HELLO, said(None, CALL), result("call_1", ROWS)], said("It is."), usage=(tokens, 9))
    said_of_it = "60 input tokens are counted for a history of 304 words"

    assert any(said_of_it in line for line in lines(one, only=USAGE)) is found


def test_thoughts_in_a_history_may_be_left_out_by_the_server() -> None:
    def read(text: str) -> set[str]:
        return ids(chat([HELLO, said(text), user("Sure?")], said("Yes."), usage=(30, 9)))

    assert USAGE in read(LONG)
    assert USAGE not in read(f"<think>{LONG}</think>It is a strip.")
    assert USAGE not in read(f"{LONG}\n</think>\n\nIt is a strip.")
    assert USAGE not in read(f"<think>Hm.</think>{LONG}")


def test_results_of_the_apis_own_tools_may_be_held_by_the_api() -> None:
    found = {"type": "program_output", "call_id": "p", "result": LONG}
    usage = {"input_tokens": 30, "output_tokens": 9, "total_tokens": 39}
    one = responses([user("hi"), {"type": "program", "call_id": "p", "code": "1"}, found], [])

    assert USAGE not in ids(with_answer(one, usage=usage))
    assert USAGE in ids(with_answer(responses([user(LONG)], []), usage=usage))


def counted(tokens: int, text: str = LONG, **fields: Any) -> set[str]:
    return ids(chat([user(text)], said("It is."), usage=(tokens, 9), **fields))


def test_far_more_tokens_than_the_request_has_bytes() -> None:
    one = chat([user(LONG)], said("It is."), usage=(40_000, 9))
    [line] = lines(one, only=USAGE)

    assert f"40,000 input tokens are counted for a request of {len(one.request.body):,} bytes" in line
    assert USAGE not in counted(12_000)


@pytest.mark.parametrize(
    "fields",
    [
        {"web_search_options": {}},
        {"plugins": [{"id": "web"}]},
        {"documents": [{"text": "a"}]},
        {"mcp_servers": [{"url": "https://mcp.example.com"}]},
    ],
)
def test_the_api_may_put_more_into_a_prompt(fields: dict[str, Any]) -> None:
    assert USAGE in counted(40_000)
    assert USAGE not in counted(40_000, **fields)


def test_the_rounds_of_a_search_of_the_api_are_read_too() -> None:
    ran = {
        "role": "assistant",
        "content": "It is.",
        "executed_tools": [{"type": "search", "arguments": "{}", "output": "a"}],
    }

    assert USAGE in ids(chat([HELLO], said("It is."), usage=(20_000, 9)))
    assert USAGE not in ids(chat([HELLO], ran, usage=(20_000, 9)))


def test_a_picture_in_a_result_costs_more_tokens_than_its_name_has_bytes() -> None:
    usage = {"input_tokens": 40_000, "output_tokens": 9}
    picture = {"type": "image", "source": {"type": "file", "file_id": "file_1", "media_type": "image/png"}}
    seen = given() | {"content": [picture]}

    assert USAGE in ids(anthropic([asked("hi"), spoke(use()), asked(given())], [words("x")], usage=usage))
    assert USAGE not in ids(anthropic([asked("hi"), spoke(use()), asked(seen)], [words("x")], usage=usage))


def test_what_a_response_continues_is_not_in_the_request() -> None:
    usage = {"input_tokens": 40_000, "output_tokens": 9, "total_tokens": 40_009}
    first, later = responses([HELLO], []), responses([HELLO], [], previous_response_id="resp_0")

    assert USAGE in ids(with_answer(first, usage=usage))
    assert USAGE not in ids(with_answer(later, usage=usage))
