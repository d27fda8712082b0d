"""Neutral words have the form of the words that they replace, and show nothing of them."""

import string

import pytest

from turntape.cassettes.redaction.neutral_words import neutral_words

SALT = b"a salt"


def shape(text: str) -> str:
    """What must stay of a text: the case of each letter, digits, and all other signs."""
    return "".join(
        "A" if one.isupper() else "a" if one.islower() else "0" if one.isdigit() else one
        for one in text
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "Please call Anna on 030-12345 at once!",
        "IBAN DE89 3704, or_else (see §7)?",
        "snake_case_name CamelCaseName UPPER",
        'say "no"; {a: [1, 2]}\n\tnext line',
    ],
)
def test_the_case_of_letters_and_all_other_signs_stay(text: str) -> None:
    new = neutral_words(text, SALT)

    plain = str.maketrans("§", "a")
    assert shape(new.translate(str.maketrans("àáâãäåæçèéêëìíîïðñòóôõö", "a" * 23))) == shape(text.translate(plain))
    assert new != text
    words = [word for word in text.split() if sum(map(str.isalpha, word)) > 3]
    assert not set(words) & set(new.split())


@pytest.mark.parametrize("text", ["naïve café", "日本語の文", "gut 🙂 so 🚀", "Ünï ©ode", "\ud800 alone", "Ж и ш"])
def test_each_letter_has_as_many_bytes_as_before(text: str) -> None:
    new = neutral_words(text, SALT)

    def sizes(one: str) -> list[int]:
        return [len(letter.encode("utf-8", "surrogatepass")) for letter in one]

    assert sizes(new) == sizes(text) and new != text


def test_consonants_and_vowels_take_turns_so_that_words_can_be_read() -> None:
    new = neutral_words("x" * 400, SALT)

    assert set(new[::2]) <= set("aeiou") and set(new[1::2]) <= set(string.ascii_lowercase) - set("aeiou")
    assert len(set(new[::2])) == 5 and len(set(new[1::2])) > 8


def test_every_digit_may_come_and_a_letter_repeats_only_behind_many() -> None:
    digits = neutral_words("7" * 3200, SALT)

    assert set(digits) == set(string.digits)
    assert digits[:32] == digits[32:64] and digits[:16] != digits[16:32]


def test_equal_texts_stay_equal_and_a_letter_depends_on_the_whole_text_and_the_salt() -> None:
    one = neutral_words("the same words", SALT)

    assert one == neutral_words("the same words", SALT)
    assert one != neutral_words("the same words", b"another salt")
    other = neutral_words("the same words.", SALT)
    assert not set(one.split()) & set(other.strip(".").split())
    twice = neutral_words("word word word", SALT).split()
    assert len(set(twice)) == 3, "nobody sees which words are equal"


def test_white_space_around_a_text_does_not_count() -> None:
    assert neutral_words("  a few words\n", SALT) == f"  {neutral_words('a few words', SALT)}\n"


@pytest.mark.parametrize("tag", ["think", "thinking", "thought", "reasoning"])
def test_what_is_between_the_tags_of_reasoning_is_a_separate_text(tag: str) -> None:
    inner, after = neutral_words("First this.", SALT), neutral_words("Then that.", SALT)

    assert neutral_words(f"<{tag}>First this.</{tag}>Then that.", SALT) == f"<{tag}>{inner}</{tag}>{after}"
    assert "<other>" not in neutral_words("<other>text</other>", SALT)


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://api.example.com/v1/people?name=anna", "https://api.example.com"),
        ("http://localhost:8080/people", "http://localhost:8080"),
        ("https://example.com", "https://example.com"),
        ("https://example.com?q=secret", "https://example.com"),
        ("https://example.com#secret", "https://example.com"),
        ("https://anna:word@example.com/", "http"),
        ("see https://example.com/people", ""),
        ("https://example.com/a and more", ""),
    ],
)
def test_the_host_of_a_url_stays_and_nothing_else_of_it(url: str, kept: str) -> None:
    new = neutral_words(url, SALT)

    if kept.count(":"):
        assert new.startswith(kept) and (new == url) is (url == kept)
        assert new[len(kept) :].count("/") == url[len(kept) :].count("/")
    else:
        assert "example.com" not in new and "anna" not in new
    assert len(new) == len(url)


def test_a_text_without_words_stays() -> None:
    for text in ("", "  \n", "...!?", "<think></think>", "{[()]}"):
        assert neutral_words(text, SALT) == text
