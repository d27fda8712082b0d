"""The shape of a text."""

from turntape.inspector.ledger.shape import AROUND, FEATURES, NO_TEXT, USUAL, shape_of, tokens_of


def test_words_letters_digits_signs_breaks_and_other_bytes_are_counted() -> None:
    found = dict(zip(FEATURES, shape_of("two words, 42\n  é".encode()), strict=True))

    assert found == {
        "answer": 0,
        "reasoning": 0,
        "content": 1,
        "words": 2,
        "letters": 8,
        "digits": 2,
        "signs": 1,
        "breaks": 1,
        "other bytes": 2,
    }


def test_a_content_without_text_has_what_is_around_it() -> None:
    assert shape_of(b"") == NO_TEXT
    assert tokens_of(NO_TEXT, USUAL) == USUAL[AROUND - 1]
