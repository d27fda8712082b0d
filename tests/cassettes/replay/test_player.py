import gzip
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from turntape.cassettes import Player, ReplayMiss, Request, Response, RoundTrip

URL = "https://api.anthropic.com/v1/messages"


def trip(body: object, answer: bytes = b"{}") -> RoundTrip:
    sent = json.dumps(body).encode()
    return RoundTrip(Request("POST", URL, content=sent), Response(200, content=answer), 0.0)


def answer(player: Player, body: bytes, url: str = URL, headers: tuple[tuple[str, str], ...] = ()) -> bytes:
    found = player.answer("POST", url, headers, body).response
    assert found is not None
    return found.body


@pytest.mark.parametrize(
    "path", ["/messages", "/v1/messages", "/v1/v1/messages", "/anthropic/v1/messages", "/s/a/anthropic/messages"]
)
def test_every_form_of_the_base_url_finds_the_recording(path: str) -> None:
    assert answer(Player([trip({"a": 1}, b"yes")]), b'{"a":1}', path) == b"yes"


def test_key_order_and_content_encoding_do_not_count() -> None:
    player = Player([trip({"a": 1, "b": 2}, b"yes")])

    assert answer(player, gzip.compress(b'{"b":2,"a":1}'), headers=(("content-encoding", "gzip"),)) == b"yes"


def test_equal_requests_are_answered_in_order_and_never_once_more() -> None:
    player = Player([trip({"a": 1}, b"1"), trip({"a": 1}, b"2")])

    assert [answer(player, b'{"a":1}'), answer(player, b'{"a":1}')] == [b"1", b"2"]
    with pytest.raises(ReplayMiss, match="recorded 2 times"):
        answer(player, b'{"a":1}')


def test_a_miss_names_the_nearest_recording_and_the_pointer() -> None:
    player = Player([trip({"messages": ["x" * 99, "b"]}), trip({"messages": ["q"]})])

    with pytest.raises(ReplayMiss, match=r"#0, where /messages/1"):
        answer(player, json.dumps({"messages": ["x" * 99, "c"]}).encode())


def test_fifty_threads_get_their_own_answers() -> None:
    player = Player([trip({"n": n}, str(n).encode()) for n in range(50)])

    with ThreadPoolExecutor(50) as pool:
        got = list(pool.map(lambda n: answer(player, b'{"n":%d}' % n), range(50)))

    assert got == [str(n).encode() for n in range(50)]
    assert player.unplayed == []
