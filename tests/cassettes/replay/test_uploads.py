"""Uploads of traces in a replay: always answered, never expected, never reported."""

import orjson
import pytest

from turntape.cassettes.replay.player import Player
from turntape.cassettes.replay.uploads import is_discovery, is_upload
from turntape.cassettes.tape.model import Request, Response, RoundTrip

URL = "https://api.openai.com/v1/traces/ingest"


def upload(*names: str) -> bytes:
    return orjson.dumps({"data": [{"object": "trace", "id": name} for name in names]})


def recorded(body: bytes, url: str = URL, answer: bytes = b"{}") -> RoundTrip:
    return RoundTrip(Request("POST", url, content=body), Response(204, content=answer), 1.0)


@pytest.mark.parametrize(
    ("method", "url", "found"),
    [
        ("POST", URL, True),
        ("post", "/openai/v1/traces/ingest?x=1", True),
        ("GET", URL, False),
        ("POST", "https://api.openai.com/v1/responses", False),
        ("POST", "https://api.openai.com/v1/traces/ingest/more", False),
    ],
)
def test_which_requests_are_uploads(method: str, url: str, found: bool) -> None:
    assert is_upload(method, url) is found


def test_uploads_in_other_batches_are_answered_and_not_reported() -> None:
    player = Player([recorded(upload("a")), recorded(upload("b"))])

    statuses = [player.answer("POST", URL, (), upload(*names)).response for names in (("c",), ("d", "e"), ("f",))]

    assert [response and response.status for response in statuses] == [204, 204, 204]
    report = player.report()
    assert (report.played, report.changed, report.extra, report.unplayed, report.first) == ((), (), (), (), None)


def test_uploads_that_did_not_come_are_not_missed() -> None:
    assert Player([recorded(upload("a"))]).report().unplayed == ()


def test_an_upload_without_a_recorded_answer_is_a_miss() -> None:
    from turntape.cassettes.replay.player import Miss

    player = Player([recorded(b"{}", "https://api.openai.com/v1/responses")])

    with pytest.raises(Miss):
        player.answer("POST", URL, (), upload("a"))


@pytest.mark.parametrize(
    ("method", "url", "found"),
    [
        ("GET", "https://api.example/.well-known/oauth-protected-resource", True),
        ("get", "http://127.0.0.1:8000/v1/.well-known/openid-configuration?x=1", True),
        ("HEAD", "/.well-known/agent.json", True),
        ("GET", ".well-known/agent.json", True),
        ("POST", "https://api.example/.well-known/register", False),
        ("GET", "https://api.example/v1/models", False),
        ("GET", "https://api.example/v1/models?next=/.well-known/x", False),
        ("GET", "https://api.example/well-known/x", False),
    ],
)
def test_which_requests_are_discovery(method: str, url: str, found: bool) -> None:
    assert is_discovery(method, url) is found


@pytest.mark.parametrize("url", ["//[", "http://[/v1", "/v1//[x"])
def test_a_path_that_breaks_the_rules_of_urls_is_neither(url: str) -> None:
    assert not is_discovery("GET", url) and not is_upload("POST", url)
