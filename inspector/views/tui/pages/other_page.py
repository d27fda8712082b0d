"""The page of a round trip that is not a turn: its request and its answer."""

from collections.abc import Iterator

from ....run.detail import Detail
from ....wire.printable import safe
from ..formatting import size
from .blocks import Block
from .json_lines import json_line, pretty
from .sections import gap, rule
from .text_lines import lines, prose


def other_blocks(detail: Detail) -> Iterator[Block]:
    trip, row = detail.round_trip, detail.row
    status = f"{row.status}" if row.status is not None else "no answer"
    yield Block(
        "head",
        [(f"{trip.request.method} ", "title"), (safe(trip.request.url), "plain"), (f"  {status}", "dim")],
        lines([(f"{row.protocol}, no turn of a conversation  #{row.index}", "dim")]),
    )
    if row.error:
        yield Block("error", (), prose(row.error, "bad"))
    yield gap("request")
    yield Block(
        "request",
        rule("request", size(row.request_bytes)),
        prose(_json_text(detail.exchange.body, trip.request.body), json_line),
    )
    if trip.response is not None:
        yield gap("answer")
        yield Block(
            "answer",
            rule("answer", size(row.response_bytes)),
            prose(_json_text(detail.exchange.answer, trip.response.body), json_line),
            anchors=("answer",),
        )


def _json_text(value: object, body: bytes) -> str:
    return pretty(value) if value is not None else body.decode("utf-8", "backslashreplace")
