"""A streamed answer in pieces: all its bytes, its events, and new bytes for one of them."""

from typing import Any

import pytest

from turntape.cassettes.faults.events import Piece, framing_of, pieces_of, with_pieces
from turntape.cassettes.framing.encode import aws_event
from turntape.cassettes.tape.model import Chunk, Response

SSE = b': hello\n\nevent: a\ndata: {"type":"a"}\n\nid: 7\ndata: {"n":\ndata: 2}\r\n\r\n: ping\n\ndata: [DONE]\n\n'


def response(body: bytes, kind: str, **fields: Any) -> Response:
    return Response(200, headers=(("content-type", kind),), content=body, **fields)


@pytest.mark.parametrize(
    ("body", "kind", "data"),
    [
        (SSE, "text/event-stream", [b"", b'{"type":"a"}', b'{"n":\n2}', b"", b"[DONE]"]),
        (b'data: {"a":1}\n\ndata: {"b"', "application/json", [b'{"a":1}', b'{"b"']),
        (b'{"a":1}\n\n{"b":2}\n', "application/x-ndjson; charset=utf-8", [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}\n  \n', "application/x-ndjson", [b'{"a":1}', b""]),
        (aws_event({"a": 1}, "x") + aws_event({"b": 2}, "y"), "x", [b'{"a":1}', b'{"b":2}']),
    ],
)
def test_the_pieces_hold_every_byte_and_one_event_each(body: bytes, kind: str, data: list[bytes]) -> None:
    pieces = pieces_of(response(body, kind))

    assert b"".join(piece.raw for piece in pieces) == body
    assert [piece.data for piece in pieces] == data


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b'{"a":1}', "application/json"), (b'[{"a":1},{"b":2}]', "application/json"), (b"", "application/json")],
)
def test_one_body_and_a_json_array_have_no_pieces(body: bytes, kind: str) -> None:
    assert framing_of(response(body, kind)) is None
    assert pieces_of(response(body, kind)) == []


def test_a_comment_inside_an_event_does_not_split_it() -> None:
    body = b'event: a\n: note\nretry-hint: 3\ndata: {"type":"a"}\n\n'

    (piece,) = pieces_of(response(body, "text/event-stream"))

    assert piece.raw == body
    assert piece.with_document({"type": "b"}).raw == body.replace(b"event: a", b"event: b").replace(b'"a"', b'"b"')


def test_a_piece_arrives_with_its_last_byte() -> None:
    first, second = b'data: {"a":1}\n\n', b'data: {"b":2}\n\n'
    chunks = (Chunk(5, 10), Chunk(len(first), 20), Chunk(len(second) - 5, 30))

    pieces = pieces_of(response(first + second, "text/event-stream", chunks=chunks))

    assert [piece.at for piece in pieces] == [20, 30]
    assert with_pieces(response(b"", "x"), pieces).chunks == (Chunk(len(first), 20), Chunk(len(second), 30))
    assert with_pieces(response(b"", "x"), pieces).body == first + second


@pytest.mark.parametrize(
    ("piece", "document", "raw"),
    [
        (Piece(b'data: {"a":1}\n\n', b'{"a":1}'), {"a": 2}, b'data: {"a":2}\n\n'),
        (Piece(b'data:{"a":\r\ndata: 1}\r\n\r\n', b'{"a":\n1}'), {"a": 2}, b'data:{"a":2}\r\ndata:\r\n\r\n'),
        (Piece(b'{"a":1}\r\n', b'{"a":1}', framing="ndjson"), {"a": 2}, b'{"a":2}\r\n'),
        (
            Piece(b'event: x\ndata: {"type":"a"}\n\n', b'{"type":"a"}'),
            {"type": "b"},
            b'event: x\ndata: {"type":"b"}\n\n',
        ),
        (Piece(b'event: a\ndata: {"type":"a"}\n\n', b'{"type":"a"}'), {"n": 1}, b'event: a\ndata: {"n":1}\n\n'),
    ],
)
def test_a_piece_with_another_document_keeps_the_rest_of_its_bytes(
    piece: Piece, document: dict[str, object], raw: bytes
) -> None:
    assert piece.with_document(document).raw == raw


@pytest.mark.parametrize(
    ("piece", "raw"),
    [
        (Piece(b'id: 1\ndata: {"a":1}\n\n', b'{"a":1}'), b'id: 1\ndata: {"a\n\n'),
        (Piece(b"data: x\n\n", b"x"), b"data: x\n\n"),
        (Piece(b'{"a":1}\n', b'{"a":1}', framing="ndjson"), b'{"a\n'),
        (Piece(b"12345678", b"45", framing="aws-event-stream"), b"1234"),
    ],
)
def test_a_broken_piece_ends_in_the_middle(piece: Piece, raw: bytes) -> None:
    assert piece.broken().raw == raw


def test_what_is_not_an_object_or_has_checksums_is_not_edited() -> None:
    assert Piece(b"data: [DONE]\n\n", b"[DONE]").json is None
    assert Piece(b"data: [1]\n\n", b"[1]").json is None
    assert Piece(b"...", b'{"a":1}', framing="aws-event-stream").json is None
    assert Piece(b'{"a":1}\n', b'{"a":1}', framing="ndjson").json == {"a": 1}
