"""The shape of a text."""

import tracemalloc

import pytest

from turntape.inspector.ledger import shape as shape_module
from turntape.inspector.ledger.shape import (
    AROUND,
    FEATURES,
    NO_TEXT,
    USUAL,
    begins_message,
    of_call,
    shape_of,
    tokens_of,
)


def test_words_letters_digits_signs_spaces_and_other_bytes_are_counted() -> None:
    found = dict(zip(FEATURES, shape_of("Two beautiful words, 42; 7?!\n\n  é".encode()), strict=True))

    assert found == {
        "answer": 0,
        "reasoning before calls": 0,
        "reasoning before text": 0,
        "message": 0,
        "content": 1,
        "call": 0,
        "call sent back": 0,
        "words": 3,
        "letters": 17,
        "letters of long words": 3,
        "capitals": 1,
        "digits": 3,
        "numbers": 2,
        "signs": 4,
        "groups of signs": 3,
        "spaces": 8,
        "line ends": 1,
        "indents": 1,
        "other bytes": 2,
    }


def test_a_content_without_text_has_what_is_around_it() -> None:
    assert shape_of(b"") == NO_TEXT
    assert tokens_of(NO_TEXT, USUAL) == USUAL[AROUND - 1]


def test_a_call_has_the_form_of_a_call_around_it() -> None:
    assert tokens_of(of_call(NO_TEXT), USUAL) == tokens_of(NO_TEXT, USUAL) + USUAL[FEATURES.index("call")]


def test_the_first_content_of_a_message_has_what_is_around_the_message_too() -> None:
    assert tokens_of(begins_message(NO_TEXT), USUAL) == USUAL[AROUND - 1] + USUAL[FEATURES.index("message")]


@pytest.mark.parametrize("block", [1, 2, 5, 19])
def test_a_large_text_has_the_counts_of_its_parts(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    text = "Two  beautifullyLongWords, 42;   7?!\n\n\n  é é  AAAAAAAAAAAAAAAAAAAAAA ...".encode()
    whole = shape_of(text)

    monkeypatch.setattr(shape_module, "_BLOCK", block)

    assert shape_of(text) == whole


def test_counting_a_large_text_takes_little_more_than_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape_module, "_BLOCK", 1000)
    text = b"a b " * 20_000
    tracemalloc.start()
    shape_of(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 3 * len(text)
