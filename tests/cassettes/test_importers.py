"""A value of another type at any place of another tool's file: it is imported or refused in one sentence."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from turntape.cassettes.importers.conversion import convert

REQUEST = {"method": "POST", "headers": {"a": ["b"]}}
CHAT = "https://api.openai.com/v1/chat/completions"
FRAME = {"direction": "send", "frame_type": "text", "body": {"type": "text", "content": "{}"}, "offset_ms": 2}
FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "vcrpy": (
        ".json",
        {
            "interactions": [
                {
                    "request": {**REQUEST, "uri": CHAT, "body": "{}"},
                    "response": {
                        "status": {"code": 200, "message": "OK"},
                        "headers": {"date": ["Wed, 19 Aug 2026 14:34:20 GMT"], "content-encoding": ["gzip"]},
                        "body": {"string": "{}"},
                    },
                }
            ],
            "version": 1,
        },
    ),
    "cassetter": (
        ".yaml",
        {
            "interactions": [
                {
                    "request": {**REQUEST, "uri": CHAT, "body": {"type": "json", "content": {"a": 1}}},
                    "response": {"status": 200, "headers": {}, "body": {"type": "text", "content": "{}"}},
                    "recorded_at": "2026-11-21T07:22:08.610000+00:00",
                }
            ],
            "ws_interactions": [{"uri": "wss://api.openai.com/v1/realtime", "headers": {}, "frames": [FRAME]}],
        },
    ),
    "ruby-vcr": (
        ".yml",
        {
            "http_interactions": [
                {
                    "request": {**REQUEST, "uri": CHAT, "body": {"encoding": "UTF-8", "string": "{}"}},
                    "response": {
                        "status": {"code": 200, "message": "OK"},
                        "headers": {},
                        "body": {"encoding": "UTF-8", "string": "{}"},
                    },
                    "recorded_at": "Wed, 19 Aug 2026 14:34:22 GMT",
                }
            ],
            "recorded_with": "VCR 6.4.0",
        },
    ),
    "har": (
        ".har",
        {
            "log": {
                "version": "1.2",
                "entries": [
                    {
                        "startedDateTime": "2026-01-01T00:00:00Z",
                        "request": {
                            "method": "POST",
                            "url": CHAT,
                            "httpVersion": "HTTP/1.1",
                            "headers": [{"name": "a", "value": "b"}],
                            "postData": {"mimeType": "application/json", "text": "{}"},
                        },
                        "response": {
                            "status": 200,
                            "statusText": "OK",
                            "headers": [],
                            "content": {
                                "size": 2,
                                "mimeType": "application/json",
                                "text": "e30=",
                                "encoding": "base64",
                            },
                        },
                        "timings": {"send": 1, "wait": 1, "receive": 1},
                        "_webSocketMessages": [{"type": "send", "time": 1767225601.5, "opcode": 2, "data": "e30="}],
                        "_turntape": {
                            "chunks": [[2, 5]],
                            "trailers": [{"name": "a", "value": "b"}],
                            "failure": {"kind": "cut", "message": "it ended"},
                            "request_at": 1,
                            "ended_at": 9,
                            "run": "r",
                        },
                    }
                ],
            }
        },
    ),
}
ODD = [None, True, -5, 10**30, 1e400, float("nan"), [], [None], {}, {"a": [1]}, "\r\n\0é", "\ud800", "2026"]


def places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if place:
        yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*place, key))


def damaged(value: Any) -> Iterator[object]:
    for place in places(value):
        for odd in ODD:
            other = within = copy.deepcopy(value)
            for key in place[:-1]:
                within = within[key]
            within[place[-1]] = odd
            yield other


def written(value: object, ending: str) -> str:
    return json.dumps(value) if ending in (".json", ".har") else yaml.safe_dump(value, sort_keys=False)


@pytest.mark.parametrize("kind", FILES)
def test_an_odd_value_is_imported_or_named_and_stops_no_other_file(kind: str, tmp_path: Path) -> None:
    ending, value = copy.deepcopy(FILES[kind])
    sources = [tmp_path / f"whole{ending}"]
    sources[0].write_text(written(value, ending))
    for count, other in enumerate(damaged(value)):
        sources.append(tmp_path / f"{count}{ending}")
        sources[-1].write_text(written(other, ending))

    done = list(convert([(source, source.with_suffix(".cassette.jsonl")) for source in sources]))

    assert done[0].format == kind
    assert done[0].problem is None and done[0].count == sum(len(items) for items in _lists(value))
    assert [one.source for one in done] == sources
    refused = [one.problem for one in done if one.problem]
    assert refused and all("\n" not in problem for problem in refused)


def _lists(value: dict[str, Any]) -> list[list[object]]:
    return [items for items in (value.get("log") or value).values() if isinstance(items, list)]
