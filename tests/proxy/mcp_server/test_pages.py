"""Results stay small, and say how to get the rest."""

import json

from turntape.proxy.mcp_server.pages import MOST_CHARACTERS, clipped, given, page, piece


def test_a_page_says_where_the_next_one_begins() -> None:
    first = json.loads(page("items", range(5), str, offset=0, limit=2))
    last = json.loads(page("items", range(5), str, offset=4, limit=2))

    assert first == {"total": 5, "items": ["0", "1"], "next_offset": 2}
    assert last == {"total": 5, "items": ["4"]}


def test_a_page_ends_early_when_it_would_be_too_long() -> None:
    long = "x" * 3_000
    shown = page("items", range(9), lambda _: long, offset=0, limit=9)

    assert len(shown) < MOST_CHARACTERS
    assert json.loads(shown)["next_offset"] == 2


def test_a_page_has_at_least_one_item() -> None:
    assert json.loads(page("items", [1, 2], lambda _: "x" * 9_000, offset=1, limit=5))["items"] == ["x" * 9_000]


def test_a_page_past_the_end_is_empty() -> None:
    assert json.loads(page("items", [1], str, offset=3, limit=5, first={"note": "n"})) == {
        "note": "n",
        "total": 1,
        "items": [],
    }


def test_a_long_text_comes_in_pieces() -> None:
    text = "a" * 250 + "b" * 250

    first = piece(text, offset=0, limit=250)

    assert first == "a" * 250 + "\n[250 of 500 characters; continue with offset=250]"
    assert piece(text, offset=250, limit=250) == "b" * 250
    assert piece(text, offset=900, limit=250) == "[nothing from offset 900 on; the text has 500 characters]"
    assert len(piece("c" * 99_999, offset=0, limit=99_999)) < MOST_CHARACTERS + 100


def test_a_text_is_clipped_to_one_line() -> None:
    assert clipped("a\n b", 9) == "a b"
    assert clipped("abcdef", 4) == "abc…"


def test_what_says_nothing_is_left_out_and_zero_is_kept() -> None:
    assert given(a=None, b=[], c="", d=0, e=False, f=(), g={}) == {"d": 0, "e": False}
