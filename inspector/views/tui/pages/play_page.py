"""The page of a turn that is being played: its request in short, and as much of its answer as has arrived."""

from collections.abc import Iterator
from dataclasses import replace

from ....run.detail import Detail
from ....run.rows import Rows
from ....run.stream_timeline import arrived, length
from ...text.number_format import lasted
from ..played_rows import played_row
from .answer_blocks import answer_blocks
from .blocks import Block
from .finding_blocks import finding_blocks
from .message_blocks import echo_head, message_blocks, new_note
from .page import Page
from .sections import rule
from .text_lines import lines


def play_page(detail: Detail, rows: Rows, place: int, at: int) -> Page:
    """The turn at `place`, `at` microseconds after its request was sent."""
    return Page("play", list(_blocks(detail, rows, place, at)))


def _blocks(detail: Detail, rows: Rows, place: int, at: int) -> Iterator[Block]:
    row, whole = detail.row, at >= length(detail)
    yield Block("head", [(f"Turn {row.label}", "title"), (f" of {row.thread}  round trip #{row.index}", "dim")])
    note = new_note(len(detail.new), detail.sent)
    yield Block("new", rule("new in this request", note))
    names = detail.call_names
    for message in detail.new:
        if message.role == "assistant":
            yield replace(echo_head(message), group=False)
            continue
        for block in message_blocks(message, names, 2, None):
            block.preview = min(block.preview, 4)
            yield block
    reading = arrived(detail, at)
    # While the calls arrive, nobody knows yet what the client will do with them.
    shown = replace(detail, reading=reading, following=None)
    if not whole and (reading.emission is None or reading.emission.emitted in ("empty", "none")):
        yield Block("gap", (), lines(()))
        yield Block("waiting", [("━━ ", "faint"), ("answer", "accent"), (f"  waiting, {lasted(at / 1000)}", "dim")])
        return
    for block in answer_blocks(shown, rows, place, joined=False, whole=whole):
        # A played answer is shown in full; a fold would hide what arrives.
        block.preview = 1_000_000
        yield block
    if whole:
        yield from finding_blocks(played_row(row, 1.0).findings)
    else:
        yield Block("cursor", (), lines([("▌", "good")]), indent=2)
