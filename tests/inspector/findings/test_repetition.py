"""Texts that end with the same words many times."""

import time

import pytest

from turntape.inspector.findings.repetition import pieces_twice, repeated_end, repeated_word, said_twice

WAIT = "Wait, I should check that again. "


@pytest.mark.parametrize(
    ("text", "piece", "count"),
    [
        (f"First. {WAIT * 20}", WAIT, 20),
        (f"First. {WAIT * 20}Wait, I sh", None, 20),
        ("a" * 300, "a", 300),
        ("!" * 250, "!", 250),
        ("0, " * 80, None, 80),
    ],
)
def test_a_piece_at_the_end_is_counted(text: str, piece: str | None, count: int) -> None:
    found = repeated_end(text)

    assert found is not None
    assert abs(found[1] - count) <= 1
    assert piece is None or found[0].strip() in (piece + piece)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ha " * 12,
        "-" * 120,
        "=" * 199,
        WAIT * 4,
        f"{WAIT * 20} And then it ended.",
        "| --- " * 40,
    ],
)
def test_other_ends_are_not_a_repetition(text: str) -> None:
    assert repeated_end(text) is None


@pytest.mark.parametrize("piece", ["a", "ab", WAIT.strip()])
@pytest.mark.parametrize("before", ["", "b", "Well, b"])
def test_copies_are_counted_to_the_first_that_differs(piece: str, before: str) -> None:
    for times in range(200, 340):
        found = repeated_end(f"{before}{piece * times}")

        assert found is not None
        assert found[1] == times


def test_a_long_end_is_read_in_large_steps() -> None:
    started = time.process_time()

    assert repeated_end("a" * 5_000_000) == ("a", 5_000_000)
    assert time.process_time() - started < 0.5  # One sign after another it took two seconds.


def test_signs_that_repeat_are_looked_at_once() -> None:
    assert repeated_end("(<" * 1_000_000) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Well. " + "court " * 40 + "So I call it now.", ("court", 40)),
        ("court " * 29, ("court", 29)),
        ("court " * 28 + "So.", None),
        ("null, " * 60, None),
        ("no " * 60, None),
        ("one two " * 60, None),
    ],
)
def test_a_word_many_times_in_a_row(text: str, found: tuple[str, int] | None) -> None:
    assert repeated_word(text) == found


TEXT = "A tape is a long and narrow strip of cloth."


@pytest.mark.parametrize(
    ("text", "half"),
    [
        (TEXT * 2, TEXT),
        (f"{TEXT}\n{TEXT}", TEXT),
        (f"{TEXT}\n\n{TEXT}", TEXT),
        (f" {TEXT} {TEXT} ", TEXT),
        (TEXT, None),
        (f"{TEXT}{TEXT}.", None),
        (f"{TEXT} or {TEXT}", None),
        (TEXT * 4, None),
        ("ab " * 40, None),
        ("one two three", None),
    ],
)
def test_a_text_that_is_said_twice(text: str, half: str | None) -> None:
    assert said_twice(text) == half


@pytest.mark.parametrize("size", [1, 3, 7, 40])
def test_a_text_whose_pieces_come_twice(size: int) -> None:
    pieces = [TEXT[at : at + size] for at in range(0, len(TEXT), size)]

    assert pieces_twice("".join(piece * 2 for piece in pieces))
    assert not pieces_twice("".join(piece * 2 for piece in pieces) + "x")
    assert not pieces_twice("".join(pieces))


@pytest.mark.parametrize("text", ["papa", "-" * 200, "abab" * 30, TEXT * 3, ""])
def test_a_text_whose_pairs_mean_nothing(text: str) -> None:
    assert not pieces_twice(text)
