"""Citations of places that the text of an answer does not have."""

import pytest

from turntape.inspector.wire.citations import beyond_text


def cited(text: object, start: object, end: object, *, inside: bool = False, key: str = "text") -> list[str]:
    place = {"start_index": start, "end_index": end, "url": "https://example.com"}
    annotation = {"type": "url_citation", "url_citation": place} if inside else {"type": "url_citation", **place}
    return list(beyond_text({"output": [{"content": [{key: text, "annotations": [annotation]}]}]}))


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("key", ["text", "content"])
def test_a_place_behind_the_end_is_named(inside: bool, key: str) -> None:
    assert cited("A strip.", 4, 90, inside=inside, key=key) == [
        "a citation is of the characters 4 to 90 of a text of 8 characters"
    ]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("A strip.", 0, 8), ("Z\u00fcrich", 0, 7), ("\U0001f600", 0, 4), (None, 4, 90), ("A", None, 9), ("A", "4", "9"),
        ("A", -1, 0),
    ],
)  # fmt: skip
def test_a_place_in_characters_or_bytes_of_the_text_is_silent(text: object, start: object, end: object) -> None:
    assert cited(text, start, end) == []


def test_a_text_without_citations_is_silent() -> None:
    assert list(beyond_text({"text": "A strip.", "annotations": None})) == []
    assert list(beyond_text([])) == []
