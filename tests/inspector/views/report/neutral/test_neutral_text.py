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


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example?q=plan",
        "https://api.example#plan",
        "https://plan@api.example/v1",
        "https://plan:more@api.example",
        "ftp plan://more",
        "//plan/more",
    ],
)
def test_nothing_of_an_address_stays_but_its_scheme_and_host(url: str) -> None:
    neutral = NeutralText().url(url)

    assert "plan" not in neutral and "more" not in neutral and len(neutral) == len(url)
    assert neutral.startswith("https://") == url.startswith("https://")
    assert ("api.example" in neutral) == ("api.example" in url)


@pytest.mark.parametrize("url", ["https://plan more/v1", "https://plän.example/v1"])
def test_a_host_that_is_none_is_a_text(url: str) -> None:
    assert "pl" not in NeutralText().url(url).partition("://")[2].partition("/")[0]


@pytest.mark.parametrize(
    ("number", "other"),
    [
        *((7, 7), (-999, -999), (0.25, 0.25), (999.0, 999.0), (1e300, 1e300)),
        *((4711, 1111), (12345.5, 11111.1), (52.520008, 11.111111), (-0.1276, 1.1111), (1.23456e-07, 1.11111)),
    ],
)
def test_a_number_of_many_digits_is_another_one(number: float, other: float) -> None:
    assert NeutralText().number(number) == other


def test_a_number_that_is_none_stays() -> None:
    """Python's JSON reads `Infinity`."""
    assert NeutralText().number(float("inf")) == float("inf")
