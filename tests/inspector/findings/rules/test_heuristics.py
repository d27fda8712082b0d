"""Heuristics: off unless asked for, and never above a warning."""

from typing import Any

import pytest
from conversations import HELLO, chat, result, said, user
from judged import anthropic, asked, given, ids, judged, only, spoke, use, words

ASKED = {"role": "user", "content": "what is a tape?"}


def circle(*results: str) -> list[Any]:
    """Two calls in turn, again and again."""
    history: list[dict[str, Any]] = [HELLO]
    trips: list[Any] = []
    for n, text in enumerate(results):
        call = said(None, (f"c{n}", "look_up", f'{{"word":"{"ab"[n % 2]}"}}'))
        trips.append(chat(history, call, index=n))
        history = [*history, call, result(f"c{n}", text)]
    return trips


def test_a_circle_of_calls_with_equal_results_is_hinted_at() -> None:
    assert "model-ping-pong" in ids(*circle(*"xyxyxyxy"), hints=True)
    assert "model-ping-pong" not in ids(*circle(*"xyxyxyxy"))
    assert "model-ping-pong" not in ids(*circle(*"abcdefgh"), hints=True)


def failed(answer: str) -> list[Any]:
    error = asked(given(text="no such word", is_error=True))
    return [anthropic([ASKED], [use()]), anthropic([ASKED, spoke(use()), error], [words(answer)], 1)]


def test_a_failure_that_the_answer_passes_over_is_hinted_at() -> None:
    assert "model-ignored-tool-error" in ids(*failed("A tape is a strip."), hints=True)
    assert "model-ignored-tool-error" not in ids(*failed("The look-up failed, so I do not know."), hints=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm sorry, but I can't help with that.", "model-refused-in-text"),
        ("<think>so</think> It is a strip.", "model-reasoning-leak"),
        ("I see. Now, let me look up the word tape.", "model-promised-no-action"),
        ("It is a strip that holds a recording.", None),
        ("Sorry for the wait: it is a strip.", None),
    ],
)
def test_words_hint_at_what_no_field_says(text: str, expected: str | None) -> None:
    assert ids(chat([HELLO], said(text)), hints=True) == ({expected} if expected else set())


def test_a_stop_string_that_ends_json_is_hinted_at() -> None:
    assert "model-truncated-by-own-stop" in ids(chat([HELLO], said('{"a": 1'), stop=["}"]), hints=True)
    assert "model-truncated-by-own-stop" not in ids(chat([HELLO], said('{"a": 1}'), stop=["\n\n"]), hints=True)


def repeated(error: str) -> list[Any]:
    history = [ASKED, spoke(use()), asked(given(text=error, is_error=True))]
    return [anthropic([ASKED], [use()]), anthropic(history, [use("toolu_2")], 1)]


def test_an_error_that_says_nothing_brings_the_same_call_again() -> None:
    assert "client-opaque-tool-error" in ids(*repeated("invalid"), hints=True)
    reported = "look_up: the field word must be in the singular and in lower case; got 'tape'"
    assert "client-opaque-tool-error" not in ids(*repeated(reported), hints=True)


def test_a_thread_that_ends_without_a_word_is_hinted_at() -> None:
    history = [HELLO, said("x"), user("and?")]
    left_open = chat(history, said(None, ("c1", "look_up", '{"word":"tape"}')), index=1)

    assert only("client-stopped-silently", chat([HELLO], said("x")), left_open, hints=True).severity == "info"
    assert ids(chat([HELLO], said("x")), chat(history, said("y"), index=1), hints=True) == set()


def test_no_hint_is_more_severe_than_a_warning() -> None:
    reported = judged(*circle(*"xyxyxyxy"), hints=True)

    assert {one.severity for one in reported if one.tier == "H"} <= {"info", "warning"}
