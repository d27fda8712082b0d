"""The default transports beside mocks of other libraries."""

from typing import Any

import httpcore
import httpx
import pytest

from turntape.cassettes import vcr
from turntape.cassettes.transports.patching import is_mocked


@pytest.mark.parametrize("is_async", [False, True])
def test_a_mock_below_httpx_answers_what_was_not_recorded(
    is_async: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """As respx does: it replaces the method of httpcore's pool while a test runs."""
    mocked = httpcore.Response(200, content=b"sun")

    def handle(self: Any, request: Any) -> Any:
        return mocked

    async def handle_async(self: Any, request: Any) -> Any:
        return mocked

    monkeypatch.setenv("TURNTAPE_MODE", "none")
    with vcr.use_cassette(tmp_path / "a.yaml"):
        assert not is_mocked()
        name, function = ("handle_async_request", handle_async) if is_async else ("handle_request", handle)
        monkeypatch.setattr(httpcore.AsyncConnectionPool if is_async else httpcore.ConnectionPool, name, function)
        assert is_mocked()
        if not is_async:
            assert httpx.get("https://weather.example/x").text == "sun"
