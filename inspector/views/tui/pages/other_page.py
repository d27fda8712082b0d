"""The page of a round trip that is not a turn: its request and its answer."""

from collections.abc import Iterator

from ....analysis.pictures import pictures_in, without_data
from ....run.detail import Detail
from ....wire.json_value import as_text
from ....wire.printable import safe
from ...text.number_format import cost_note, lasted, price
from ...text.terminal_text import GLYPHS, clip
from ...vocabulary.endpoints import endpoint_words
from ..formatting import full, model_name, size
from .blocks import Block, Body, Spans
from .json_lines import json_line, pretty, shortened
from .picture_lines import with_pictures
from .sections import gap, rule
from .text_lines import flowing, lines, prose
from .tool_blocks import run_block


def other_blocks(detail: Detail) -> Iterator[Block]:
    trip, row = detail.round_trip, detail.row
    if row.is_tool_wire:
        yield Block("head", _message(detail), flowing([(_facts(detail), "dim")]))
        yield from (run_block(run, indent=2, number=True) for run in row.tool_runs)
    else:
        status = f"{row.status}" if row.status is not None else "no answer"
        yield Block(
            "head",
            [(f"{safe(trip.request.method)} ", "title"), (safe(trip.request.url), "plain"), (f"  {status}", "dim")],
            lines(
                [
                    (
                        f"{endpoint_words(row.kind, row.protocol)}, no turn of a conversation  round trip #{row.index}",
                        "dim",
                    )
                ],
                *([_spent(detail)] if row.is_billed else []),
            ),
        )
    if row.error:
        yield Block("error", (), prose(row.error, "bad"))
    yield gap("request")
    yield Block(
        "request",
        rule("request", size(row.request_bytes)),
        _json_body(detail.exchange.body, trip.request.body),
    )
    if trip.response is not None:
        yield gap("answer")
        yield Block(
            "answer",
            rule("answer", size(row.response_bytes)),
            _json_body(detail.exchange.answer, trip.response.body),
            anchors=("answer",),
        )


def _spent(detail: Detail) -> Spans:
    """The model, the tokens and the cost."""
    row = detail.row
    tokens = f"{full(row.usage.input)} in" if row.usage.input is not None else ""
    tokens += f"  {full(row.usage.output)} out" if row.usage.output is not None else ""
    note = cost_note(row.cost_source, row.unpriced_fees)
    return [
        (f"{safe(model_name(row.model))}  {tokens}", "plain"),
        (f"  {price(row.cost, unpriced=row.unpriced)}", "money" if row.cost is not None else "dim"),
        (f" ({note})" if note else "", "dim"),
    ]


def _message(detail: Detail) -> Spans:
    """What a message of a tool server is about, and whose it is."""
    method = as_text(detail.reading.request.parameters.get("method"))
    wire, url = detail.round_trip.tool_wire, safe(detail.round_trip.request.url)
    return [
        (f"{GLYPHS['tool']} ", "tool"),
        (clip(method or f"{detail.round_trip.request.method} message", 80), "title"),
        (f"  {clip(wire.server, 40)}, sent by the {wire.sender}" if wire else f"  {url}", "plain"),
    ]


def _facts(detail: Detail) -> str:
    row, trip = detail.row, detail.round_trip
    facts = [f"message of a tool server  round trip #{row.index}"]
    if trip.response is None:
        facts.append(f"no answer: {safe(trip.failure.message)}" if trip.failure else "no answer is due")
    else:
        facts.append(f"answered after {lasted(row.duration_ms)}")
    return "  ".join(facts)


def _json_body(value: object, body: bytes) -> Body:
    """A body as JSON, its pictures drawn, its embeddings shortened (the wire has them whole); any other one as text."""
    if value is None:
        return prose(body.decode("utf-8", "backslashreplace"))
    found = [*pictures_in(value)]
    return with_pictures(found, prose(pretty(shortened(without_data(value, found))), json_line))
