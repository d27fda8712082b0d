"""A page of this machine may read what the replay server answers, and its browser's questions count for nothing."""

import pytest
from asgi_requests import Sent, ask, whole

from turntape.cassettes import Player, Request, Response, RoundTrip
from turntape.cassettes.server.local_pages import is_preflight, readable
from turntape.cassettes.server.server import app

PAGE = "http://localhost:3000"
QUESTION = (
    ("origin", PAGE),
    ("access-control-request-method", "POST"),
    ("access-control-request-headers", "authorization,content-type"),
)
OF_THE_API = (("access-control-allow-origin", "https://app.example"), ("access-control-allow-headers", "x-a"))


def fields(sent: Sent) -> list[tuple[str, str]]:
    return [(name.decode(), value.decode()) for name, value in sent[0]["headers"] if b"control" in name]


def test_a_browser_gets_the_answer_that_the_page_may_ask() -> None:
    player = Player([whole(b"{}")])

    sent = ask(app(player), method="OPTIONS", headers=QUESTION)

    assert sent[0]["status"] == 204
    assert fields(sent) == [
        ("access-control-allow-methods", "POST"),
        ("access-control-allow-headers", "authorization,content-type"),
        ("access-control-max-age", "600"),
        ("access-control-allow-origin", PAGE),
        ("access-control-expose-headers", "*"),
    ]
    assert player.misses == [] and player.unplayed == [0]


def test_a_recorded_question_is_not_expected_again() -> None:
    recorded = RoundTrip(Request("OPTIONS", "https://api.openai.com/v1/chat/completions", QUESTION), Response(200), 0.0)
    player = Player([recorded, whole(b"{}")])
    serving = app(player)

    ask(serving, method="OPTIONS", headers=QUESTION)
    ask(serving, headers=QUESTION[:1])

    assert player.unplayed == []


@pytest.mark.parametrize("body", [b"{}", b'{"another": 1}'], ids=["recorded", "a miss"])
def test_the_page_may_read_the_answer(body: bytes) -> None:
    sent = ask(app(Player([whole(b"{}")])), body, headers=QUESTION[:1])

    assert fields(sent) == [("access-control-allow-origin", PAGE), ("access-control-expose-headers", "*")]


def test_what_the_api_allowed_to_other_pages_is_left_out() -> None:
    recorded = [(name.encode(), value.encode()) for name, value in OF_THE_API]

    assert (b"access-control-allow-origin", b"https://app.example") not in readable(QUESTION, recorded)
    assert readable((), recorded) == recorded


@pytest.mark.parametrize(
    ("method", "headers"),
    [("POST", QUESTION), ("OPTIONS", QUESTION[:1]), ("OPTIONS", QUESTION[1:])],
    ids=["another method", "asks for nothing", "no page"],
)
def test_other_requests_are_not_a_question_of_a_browser(method: str, headers: tuple[tuple[str, str], ...]) -> None:
    assert not is_preflight(method, headers)
