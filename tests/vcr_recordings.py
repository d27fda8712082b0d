"""A converted recording of vcrpy, in the folder in which a test runs."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from turntape.cassettes.importers.conversion import convert, planned
from turntape.cassettes.vcr import context  # now: a pytest inside a test forgets what it was the first to import

URL = "https://api.example.com/v1/things"


def interaction(body: str, answer: str, uri: str = URL, method: str = "POST") -> dict[str, Any]:
    return {
        "request": {"method": method, "uri": uri, "body": body, "headers": {"content-type": ["application/json"]}},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"content-type": ["text/plain"]},
            "body": {"string": answer},
        },
    }


@pytest.fixture(autouse=True)
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A converted recording of vcrpy, `a.json`, with two equal requests and two others."""
    for name in ("CI", "TURNTAPE_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(context, "observers", [])
    said = [
        interaction('{"a": 1, "b": 2}', "one"),
        interaction('{"a": 1, "b": 2}', "two"),
        interaction("{}", "other", "https://api.example.com/v1/things?kind=x"),
        interaction("", "page", "https://www.example.org/index.html", "GET"),
    ]
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "interactions": said}))
    assert all(done.target for done in convert(planned([tmp_path / "a.json"])))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(body: str = '{"a": 1, "b": 2}', url: str = URL) -> str:
    return httpx.post(url, content=body, headers={"content-type": "application/json"}).text
