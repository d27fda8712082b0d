"""The search near rows finds what a search of everything finds."""

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape.cassettes import Redactor
from turntape.cassettes.redaction.body_search import shaped
from turntape.cassettes.redaction.key_shapes import SHAPES, Shape

KEYS = [
    "sk-ant-api03-abcDEF123456ghiJKL789012",
    "ghp_abcDEF123456ghiJKL789012mnoPQR3456",
    "AKIAQ3EGRYJ7HWFT4ZXC",
    "ya29.abcDEF123456ghiJKL789012",
    "postgres://app:hunter2@db/x",
    "123456789:AAabcDEF123456ghiJKL789012mnoPQR345",
]


def everywhere(body: bytes) -> set[int]:
    """Where secrets begin, by a search of the whole body for one shape after the other."""
    from turntape.cassettes.redaction import body_search

    found: set[int] = set()

    def search(shape: Shape) -> None:
        at = body.find(shape.literal)
        while at >= 0:
            spans: dict[int, tuple[int, int]] = {}
            body_search._match(body, at, (shape,), spans)
            found.update(spans)
            at = body.find(shape.literal, at + 1)

    for shape in SHAPES:
        search(shape)
    return found


def test_all_keys_of_a_text_are_found() -> None:
    text = " and ".join(KEYS).encode()

    assert {text[start:end] for start, (end, _) in shaped(text).items()} >= {key.encode() for key in KEYS[:4]}


def test_a_key_that_begins_within_the_end_of_another_one_is_masked_to_its_end() -> None:
    long, dotted = "eyJrIjoi" + "aZ0/+9" * 12, "dp.st." + "aZ09b." * 9
    clean = Redactor(salt="s").body(f'"{long}-{dotted}"'.encode())

    assert b"aZ09b" not in clean and len(clean) == len(long) + len(dotted) + 3


def test_each_long_word_is_searched_once_and_found_everywhere() -> None:
    event = f'data: {{"id":"chatcmpl-abcDEF123456ghiJKL","key":"{KEYS[0]}","n":%d}}\n\n'
    body = "".join(event % number for number in range(50)).encode()

    assert sorted(shaped(body)) == [at for at in range(len(body)) if body.startswith(KEYS[0].encode(), at)]


@given(
    st.lists(
        st.sampled_from([*KEYS, " ", "\n", "x", "prose with words ", "a" * 50, "=" * 70, "-", "\\n", '"']), max_size=12
    )
)
def test_nothing_is_missed_beside_rows(parts: list[str]) -> None:
    body = "".join(parts).encode()

    assert set(shaped(body)) <= everywhere(body)
    if shaped(body) != {}:
        return
    assert everywhere(body) == set()


@pytest.mark.parametrize("size", [0, 100, 3000, 4096, 5000, 20_000])
@pytest.mark.parametrize("key", KEYS[:3])
def test_a_key_at_either_end_of_encoded_data_is_found_as_before(key: str, size: int) -> None:
    noise = base64.b64encode(random.Random(size).randbytes(size))
    for body in (key.encode() + b" " + noise, noise + b" " + key.encode(), noise + b'"' + key.encode() + b'"' + noise):
        assert body.index(key.encode()) in shaped(body)
