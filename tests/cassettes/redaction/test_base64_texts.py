"""A secret in a text that is written in base64 is masked, and other data stays as it is."""

import base64
import random

import pytest

from turntape.cassettes import Redactor

REDACTOR = Redactor(salt="s")
KEY = b"sk-ant-api03-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"
PLAIN = b"aB3dE5fG7hJ9kL1mN3pQ5rS7"


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        (b"", KEY, b""),
        (b"notes\n\tthe key is ", KEY, b"\r\n and more"),
        ("über alles: ".encode(), KEY, b"!"),
        (b'{"api_key":"', PLAIN, b'"}'),
        (b"MY_API_KEY=", PLAIN, b" x?>~"),
    ],
)
@pytest.mark.parametrize("shift", [b"", b".", b".."])
@pytest.mark.parametrize("padding", [True, False])
def test_a_secret_in_an_encoded_text_is_masked(
    encode: type[bytes], before: bytes, secret: bytes, after: bytes, shift: bytes, padding: bool
) -> None:
    encoded = encode(shift + before + secret + after)
    body = b'{"content":"' + (encoded if padding else encoded.rstrip(b"=")) + b'"}'

    clean = REDACTOR.body(body)

    assert len(clean) == len(body) and b"REDACTED-" in clean
    assert clean.startswith(body[:12]) and clean.endswith(b'"}')
    for cut in range(4):  # whatever the letters that were masked are read as
        left = clean[12:-2].translate(None, b"-*")[cut:]
        text = base64.b64decode(left[: len(left) // 4 * 4].translate(bytes.maketrans(b"_", b"/")), validate=False)
        assert secret[4:12] not in text and secret[-10:-2] not in text
    assert REDACTOR.body(clean) == clean


def test_the_text_around_the_secret_can_still_be_read() -> None:
    clean = REDACTOR.body(base64.b64encode(b"first line, then " + KEY + b", then the last line"))

    head, _, rest = clean.partition(b"REDACTED")
    assert base64.b64decode(head) == b"first line, then "[: len(head) // 4 * 3]
    assert base64.b64decode(rest[rest.rindex(b"*") + 1 :]).endswith(b"the last line")


@pytest.mark.parametrize("size", [30, 600, 6000])
def test_data_that_is_not_text_stays_whatever_comes_after_its_first_bytes(size: int) -> None:
    for seed in range(20):
        data = random.Random(seed).randbytes(size)
        body = b'{"signature":"' + base64.b64encode(data + KEY) + b'"}'

        assert REDACTOR.body(body) == body


def test_words_and_paths_are_not_encoded_texts() -> None:
    for text in (b"/usr/lib/python3/dist-packages/pkg/resources", b"A" * 100, b"supercalifragilisticexpialidocious"):
        assert REDACTOR.body(text) == text


@pytest.mark.parametrize("text", [f"$env:KEY='{KEY.decode()}'; python agent.py", f"x $env:KEY='{KEY.decode()}'"])
def test_an_encoded_command_of_powershell_is_searched(text: str) -> None:
    body = b"powershell -EncodedCommand " + base64.b64encode(text.encode("utf-16-le"))

    clean = REDACTOR.body(body)

    assert len(clean) == len(body) and b"REDACTED-" in clean
    assert base64.b64encode(KEY[8:40].decode().encode("utf-16-le"))[4:-8] not in clean
    assert REDACTOR.body(clean) == clean


def test_each_of_many_encoded_texts_is_searched() -> None:
    texts = [b"KEY=" + KEY, b"nothing to see in this one", KEY + b" it is", b"MY_API_KEY=" + PLAIN]

    clean = REDACTOR.body(b'","'.join(base64.b64encode(text) for text in texts)).split(b'","')

    assert [b"REDACTED-" in one for one in clean] == [True, False, True, True]
