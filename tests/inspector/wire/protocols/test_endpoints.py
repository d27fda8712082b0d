"""Endpoints other than generation have a kind, and their round trips are not turns."""

import pytest
from round_trips import exchanged

from turntape.inspector.wire.parse import read


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "/v1/embeddings", "embeddings"),
        ("GET", "/v1/models", "models"),
        ("GET", "/v1/models/gpt-5", "models"),
        ("POST", "/v1/files", "files"),
        ("DELETE", "/v1/files/file_1", "files"),
        ("POST", "/v1/batches", "batches"),
        ("POST", "/v1/moderations", "moderation"),
        ("POST", "/v1/audio/transcriptions", "audio"),
        ("POST", "/v1/images/generations", "images"),
        ("POST", "/v2/rerank", "rerank"),
        ("POST", "/v1/messages/count_tokens", "count_tokens"),
        ("GET", "/v1/threads/thread_1/runs/run_1", "assistants"),
        ("POST", "/api/show", "models"),
        ("GET", "/v1/realtime", "realtime"),
    ],
)
def test_a_path_names_its_kind(method: str, path: str, kind: str) -> None:
    reading = read(exchanged(f"https://gateway.example{path}", {"model": "m"}, {}, method=method))
    assert (reading.kind, reading.emission, reading.finish) == (kind, None, None)


def test_an_unknown_path_has_no_kind() -> None:
    assert read(exchanged("https://gateway.example/weather", {"city": "Oslo"}, {})).protocol == "unknown"
