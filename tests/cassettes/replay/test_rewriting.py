"""Values in recorded answers, also where a stream splits them over several events."""

import json
import re

import pytest

from turntape.cassettes import Frame, Request, Response, RoundTrip
from turntape.cassettes.replay.rewriting import rewritten
from turntape.cassettes.tape.model import Chunk, Side

SSE = (("content-type", "text/event-stream"),)


def changes(text: str) -> list[tuple[int, int, str]]:
    return [(*match.span(), "/new/folder") for match in re.finditer("/old", text)]


def trip(content: bytes, headers: tuple[tuple[str, str], ...] = (), chunks: tuple[Chunk, ...] = ()) -> RoundTrip:
    return RoundTrip(Request("POST", "http://x"), Response(200, headers=headers, content=content, chunks=chunks), 0.0)


def events(*documents: object) -> bytes:
    return b"".join(b"data: " + json.dumps(document).encode() + b"\n\n" for document in documents)


def streamed(*documents: object) -> list[object]:
    response = rewritten(trip(events(*documents), SSE), changes).response
    assert response is not None
    return [json.loads(line[6:]) for line in response.body.split(b"\n\n") if line]


def test_a_whole_answer_is_searched_in_every_string() -> None:
    found = rewritten(trip(b'{"a": ["/old/x", 1], "b": "none"}'), changes).response

    assert found is not None
    assert json.loads(found.body) == {"a": ["/new/folder/x", 1], "b": "none"}


@pytest.mark.parametrize("body", [b'{ "a":  "x" }', b"not json /old", b"", b'data: {"a": "x"}\n\n'])
def test_an_answer_without_the_value_keeps_its_bytes(body: bytes) -> None:
    found = rewritten(trip(body), changes).response

    assert found is not None and found.body == body


@pytest.mark.parametrize(
    ("pieces", "after"),
    [
        (["cat /old/x"], ["cat /new/folder/x"]),
        (["cat /o", "ld/x"], ["cat /new/folder", "/x"]),
        (["/", "o", "l", "d"], ["/new/folder", "", "", ""]),
        (["/old/", "old"], ["/new/folder/new/folder", ""]),
        (["a /old /o", "ld b /old"], ["a /new/folder /new/folder", " b /new/folder"]),
        (["", "/ol", "", "d"], ["", "/new/folder", "", ""]),
    ],
)
def test_a_value_that_is_split_over_events_is_found(pieces: list[str], after: list[str]) -> None:
    said = [{"type": "delta", "index": 0, "delta": {"partial_json": piece}} for piece in pieces]

    assert [event["delta"]["partial_json"] for event in streamed(*said)] == after  # type: ignore[index]


@pytest.mark.parametrize(
    "name",
    [
        "arguments",
        "content",
        "delta",
        "input",
        "partial_json",
        "reasoning",
        "reasoning_content",
        "reasoningText",
        "refusal",
        "text",
        "thinking",
        "thought",
    ],
)
def test_every_name_that_an_api_gives_to_a_piece_is_joined(name: str) -> None:
    assert streamed({name: "cat /o"}, {name: "ld"}) == [{name: "cat /new/folder"}, {name: ""}]


def test_a_whole_answer_that_changes_arrives_as_a_whole_at_its_end() -> None:
    found = rewritten(trip(b'{"a": "/old"}', chunks=(Chunk(5, 10), Chunk(8, 20))), changes).response

    assert found is not None
    assert found.body == b'{"a":"/new/folder"}'
    assert found.chunks == (Chunk(19, 20),)


def test_the_pieces_of_two_texts_are_kept_apart() -> None:
    said = [{"index": place, "text": text} for place, text in ((0, "/o"), (1, "ld"), (0, "ld"), (1, "/old"))]

    assert [event["text"] for event in streamed(*said)] == ["/new/folder", "ld", "", "/new/folder"]  # type: ignore[index]


def test_other_strings_are_never_joined() -> None:
    assert streamed({"id": "/o"}, {"id": "ld"}) == [{"id": "/o"}, {"id": "ld"}]


def test_other_events_keep_their_bytes_and_their_times() -> None:
    raw = events({"text": "/old"}) + b": ping\n\ndata: [DONE]\n\n"
    first = len(events({"text": "/old"}))
    found = rewritten(trip(raw, SSE, (Chunk(first, 5), Chunk(len(raw) - first, 9))), changes).response

    assert found is not None
    assert found.body == b'data: {"text":"/new/folder"}\n\n: ping\n\ndata: [DONE]\n\n'
    assert [chunk.at for chunk in found.chunks] == [5, 9, 9]
    assert sum(chunk.size for chunk in found.chunks) == len(found.body)


def test_the_messages_of_a_websocket_are_rewritten_and_those_of_the_client_are_not() -> None:
    said: tuple[tuple[Side, str], ...] = (("server", "/o"), ("client", "/old"), ("server", "ld"))
    frames = tuple(Frame(sender, 1, json.dumps({"type": "d", "delta": text}).encode(), True) for sender, text in said)
    whole = RoundTrip(Request("GET", "ws://x"), Response(101), 0.0, frames=frames)

    found = [json.loads(frame.data)["delta"] for frame in rewritten(whole, changes).frames]
    assert found == ["/new/folder", "/old", ""]


def test_a_round_trip_without_an_answer_stays_as_it_is() -> None:
    refused = RoundTrip(Request("POST", "http://x"), None, 0.0)

    assert rewritten(refused, changes) is refused
