"""Bodies of uploads, part by part."""

import pytest

from turntape.cassettes.matching.multipart import parts
from turntape.cassettes.replay.difference_text import lines_of
from turntape.cassettes.replay.miss import Miss
from turntape.cassettes.replay.player import Player
from turntape.cassettes.tape.model import Request, Response, RoundTrip


def form(model: str, file: bytes, boundary: str = "b1") -> bytes:
    fields = (b'name="model"', model.encode()), (b'name="file"; filename="a.txt"\r\nContent-Type: text/plain', file)
    sent = b"".join(
        b"--%s\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n" % (boundary.encode(), head, value)
        for head, value in fields
    )
    return sent + b"--%s--\r\n" % boundary.encode()


def test_each_part_has_its_name_and_its_text() -> None:
    assert parts(form("m", b"one")) == {"model": "m", "file": {"filename": "a.txt", "content": "one"}}


def test_a_binary_part_is_its_size_and_its_digest() -> None:
    found = parts(form("m", b"\xff\x00"))

    assert found is not None
    assert str(found["file"]).startswith("{'filename': 'a.txt', 'content': '2 bytes, digest ")


@pytest.mark.parametrize("body", [b"", b"{}", b"--b1\r\nno end", b"--b1\r\n\r\n", b"--b1\r\nonly a head\r\n--b1--"])
def test_another_body_has_no_parts(body: bytes) -> None:
    assert parts(body) is None


def test_a_miss_names_the_part_and_its_words() -> None:
    head = (("content-type", "multipart/form-data; boundary=b1"),)
    url = "https://api.openai.com/v1/audio/transcriptions"
    player = Player(
        [
            RoundTrip(
                request=Request("POST", url, head, form("m", b"one word")),
                started_at=1.0,
                response=Response(200, content=b"{}"),
            )
        ]
    )

    with pytest.raises(Miss) as caught:
        player.answer("POST", url, head, form("m", b"another word"))

    assert lines_of(caught.value.differences) == ["/file/content", "  - one word", "  + another word"]


def test_another_boundary_does_not_count() -> None:
    url = "https://api.openai.com/v1/audio/transcriptions"
    head = (("content-type", "multipart/form-data; boundary=b1"),)
    other = (("content-type", "multipart/form-data; boundary=zz"),)
    player = Player(
        [
            RoundTrip(
                request=Request("POST", url, head, form("m", b"a")),
                started_at=1.0,
                response=Response(200, content=b"{}"),
            )
        ]
    )

    assert player.answer("POST", url, other, form("m", b"a", "zz")).response is not None
