"""The default transports beside mocks of other libraries."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpcore
import httpx
import pytest

from turntape.cassettes import Cassette, Recorder, Request, Response, RoundTrip, vcr
from turntape.proxy.scripted.server import ScriptedServer

WEATHER = "https://weather.example/x"


def mock(pool: Any, name: str, monkeypatch: pytest.MonkeyPatch, calls: list[str]) -> None:
    """As respx does: it replaces the method of httpcore's pool while a test runs, and what it does not mock passes."""
    below = getattr(pool, name)

    def handle(self: Any, request: Any) -> Any:
        calls.append(request.url.host.decode())
        mocked = httpcore.Response(200, content=b"sun")
        return mocked if request.url.host == b"weather.example" else below(self, request)

    async def handle_async(self: Any, request: Any) -> Any:
        answer = handle(self, request)
        return answer if isinstance(answer, httpcore.Response) else await answer

    monkeypatch.setattr(pool, name, handle_async if "async" in name else handle)


def test_a_mock_that_refuses_what_it_does_not_know_leaves_that_to_the_cassette(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = Request("POST", "https://api.openai.com/v1/chat/completions", content=b"{}")
    with Recorder(tmp_path / "a.cassette.jsonl") as recorder:
        recorder.write(RoundTrip(asked, Response(200, content=b"rain"), started_at=1.0))

    def refuse(self: Any, request: Any) -> Any:
        raise AssertionError(f"no mock of {request.url.host.decode()}")

    monkeypatch.setenv("TURNTAPE_MODE", "none")
    with vcr.use_cassette(tmp_path / "a.yaml"), monkeypatch.context() as patch:
        patch.setattr(httpcore.ConnectionPool, "handle_request", refuse)
        assert httpx.post(asked.url, content=b"{}").text == "rain"
        with pytest.raises(AssertionError, match=r"no mock of weather\.example"):
            httpx.get(WEATHER)


def sync(method: str, url: str, **sent: Any) -> httpx.Response:
    return httpx.request(method, url, **sent)


def awaited(method: str, url: str, **sent: Any) -> httpx.Response:
    async def ask() -> httpx.Response:
        async with httpx.AsyncClient() as client:
            return await client.request(method, url, **sent)

    return anyio.run(ask)


@pytest.mark.parametrize(
    ("pool", "name", "ask"),
    [
        (httpcore.ConnectionPool, "handle_request", sync),
        (httpcore.AsyncConnectionPool, "handle_async_request", awaited),
    ],
)
def test_a_mock_below_httpx_answers_what_it_mocks_and_the_rest_is_recorded(
    pool: Any, name: str, ask: Callable[..., httpx.Response], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = {"json": {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}}
    original, calls = getattr(pool, name), list[str]()

    def run(url: str) -> list[str]:
        with vcr.use_cassette(tmp_path / "a.yaml"), monkeypatch.context() as patch:
            mock(pool, name, patch, calls)
            return [ask("GET", WEATHER).text, ask("POST", f"{url}/v1/chat/completions", **asked).text]

    with ScriptedServer() as server:
        monkeypatch.setenv("TURNTAPE_MODE", "once")
        live = run(server.url)
        assert len(server.requests) == 1
    monkeypatch.setenv("TURNTAPE_MODE", "none")

    assert run(server.url) == live
    assert live[0] == "sun"
    assert [trip.request.method for trip in Cassette.load(tmp_path / "a.cassette.jsonl")] == ["POST"]
    assert calls == ["weather.example", "127.0.0.1", "127.0.0.1", "weather.example", "127.0.0.1"]
    assert getattr(pool, name) is original
