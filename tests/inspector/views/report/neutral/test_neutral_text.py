"""Neutral text of equal length."""

import pytest

from turntape.inspector.views.report.neutral.neutral_text import NeutralText


@pytest.mark.parametrize(
    "text", ["", "one word", "def f(x):\n    return x + 10\n", "日本語 é ü", "a" * 500, "  two  spaces ", "😀 \ud83d"]
)
def test_the_length_and_the_white_space_stay(text: str) -> None:
    neutral = NeutralText().text(text)

    assert len(neutral) == len(text)
    assert [one.isspace() for one in neutral] == [one.isspace() for one in text]


def test_equal_texts_stay_equal_and_texts_that_begin_alike_still_begin_alike() -> None:
    texts = NeutralText()
    one, two = texts.text("the same words, then this"), texts.text("the same words, then that")

    assert one == texts.text("the same words, then this")
    assert one[:20] == two[:20] and one != two


def test_a_word_is_another_one_at_each_place_and_in_each_report() -> None:
    texts = NeutralText()
    words = texts.text("telephone telephone telephone").split()

    assert len(set(words)) == 3 and "telephone" not in words
    assert texts.text("telephone") != NeutralText().text("telephone")


@pytest.mark.parametrize("name", ["look_up", "gpt-5", "claude-3.5:latest", "toolu_01abc"])
def test_a_name_stays(name: str) -> None:
    assert NeutralText().name(name) == name


@pytest.mark.parametrize("name", ["a whole sentence", "src/secret/file.py", "", "x" * 100])
def test_what_is_not_shaped_like_a_name_is_a_text(name: str) -> None:
    assert NeutralText().name(name) != name or not name


def test_an_address_keeps_its_host() -> None:
    neutral = NeutralText().url("https://api.example/files/plan?q=more")

    assert neutral.startswith("https://api.example/") and len(neutral) == len("https://api.example/files/plan?q=more")
    assert "plan" not in neutral and "more" not in neutral


@pytest.mark.parametrize(("number", "other"), [(7, 7), (-999, -999), (4711, 1111), (12345.5, 11111)])
def test_a_long_number_is_another_one(number: float, other: float) -> None:
    assert NeutralText().number(number) == other
