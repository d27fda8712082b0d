"""A secret in a text of UTF-16 or UTF-32 is masked there, and data that only has zero bytes stays as it is."""

import random

import pytest

from turntape.cassettes import Redactor

REDACTOR = Redactor(salt="s")
KEY = "sk-ant-api03-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
TEXTS = [
    f'{{"content":"{KEY}"}}',
    KEY,
    f"Grüße: OPENAI_API_KEY={KEY}\r\nHOME=/root",
    'password = "aB3dE5fG7hJ9kL1mN3pQ5rS7" # of the database',
    f"{KEY} ü a",
    f"ü{KEY}",
]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("before", [b"", b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n', b"\0\1x"])
@pytest.mark.parametrize("after", [b"", b"\r\n--b--"])
def test_a_secret_is_masked_and_the_rest_can_be_read(encoding: str, text: str, before: bytes, after: bytes) -> None:
    body = before + text.encode(encoding) + after

    clean = REDACTOR.body(body)

    assert len(clean) == len(body) and clean.startswith(before) and clean.endswith(after)
    said = clean[len(before) : len(clean) - len(after)].decode(encoding)
    assert said == REDACTOR.body(text.encode()).decode() and "REDACTED" in said


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_text_without_a_secret_stays(encoding: str) -> None:
    body = "The monkeys of the keyboard wrote api_key = os.environ['KEY'] into it.".encode(encoding)

    assert REDACTOR.body(body) == body


@pytest.mark.parametrize("size", [64, 4096])
def test_data_with_zero_bytes_stays(size: int) -> None:
    for seed in range(50):
        data = bytes(random.Random(seed).choices(range(256), [600, *[1] * 255], k=size))
        assert REDACTOR.body(data) == data
    assert REDACTOR.body(bytes(1 << 16)) == bytes(1 << 16)
