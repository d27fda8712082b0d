"""Files of httprr as round trips."""

from pathlib import Path

import pytest

from turntape.cassettes.importers.format import ImportFault
from turntape.cassettes.importers.httprr import read
from turntape.cassettes.importers.registry import detected
from turntape.cassettes.tape.model import RoundTrip

ASKED = (
    b"POST https://generativelanguage.googleapis.com/v1beta/models/gemini-3:generateContent HTTP/1.1\r\n"
    b'Host: generativelanguage.googleapis.com\r\nContent-Type: application/json\r\n\r\n{"contents":[]}'
)
ANSWERED = b"HTTP/2.0 200 OK\r\nDate: Wed, 19 Aug 2026 14:34:20 GMT\r\nVary: a: b\r\n\r\n" + b"data: \xc3\xbc\r\n\r\n"
FAILED = b"HTTP/1.1 404\r\n\r\n"


def recording(*pairs: tuple[bytes, bytes]) -> bytes:
    trips = [b"%d %d\n%s%s" % (len(asked), len(answered), asked, answered) for asked, answered in pairs]
    return b"httprr trace v1\n" + b"".join(trips)


def imported(data: bytes) -> list[RoundTrip]:
    path = Path("a.httprr")
    assert detected(data, path).name == "httprr"
    return list(read(data, path))


def test_the_messages_are_kept_byte_for_byte() -> None:
    first, second = imported(recording((ASKED, ANSWERED), (ASKED, FAILED)))

    assert first.request.method == "POST"
    assert first.request.url == "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:generateContent"
    assert first.request.body == b'{"contents":[]}'
    assert first.response is not None
    assert (first.response.status, first.response.reason, first.response.http_version) == (200, "OK", "HTTP/2.0")
    assert first.response.headers == (("Date", "Wed, 19 Aug 2026 14:34:20 GMT"), ("Vary", "a: b"))
    assert first.response.body == b"data: \xc3\xbc\r\n\r\n"
    assert (first.upstream, first.started_at) == ("gemini", 1787150060.0)
    assert second.response is not None
    assert (second.response.status, second.response.reason, second.response.body) == (404, "", b"")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (recording((ASKED, ANSWERED))[:-1], "round trip 0: its lengths are not those of the file"),
        (b"httprr trace v1\n12\n", "its lengths are not those of the file"),
        (b"httprr trace v1\n1 x\n", "a length is 'x' and not a number"),
        (recording((b"POST\r\n\r\n", FAILED)), "'POST' is not the first line of an HTTP message"),
        (recording((ASKED, b"HTTP/1.1 fine\r\n\r\n")), "the status is 'fine' and not a number"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_its_place(data: bytes, said: str) -> None:
    with pytest.raises(ImportFault) as caught:
        imported(data)

    assert said in str(caught.value)
