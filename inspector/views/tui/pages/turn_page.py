"""The page of a turn: what is new first, the answer with its calls and their results, then what was sent before."""

from collections.abc import Iterator
from functools import lru_cache

from ....run.detail import Detail
from ....run.row import Row
from ....run.rows import Rows
from ....wire.printable import safe
from ....wire.values import Reading
from ...text.number_format import cost_note, price
from ...text.status_styles import REBUILT
from ...text.terminal_text import clip
from ...vocabulary.signs import MARKS
from ..formatting import full, model_name, several
from .answer_blocks import answer_blocks
from .blocks import Block
from .finding_blocks import finding_blocks
from .json_lines import json_line, pretty
from .layer_lines import layer_lines
from .message_blocks import echo_head, message_blocks, new_note
from .other_page import other_blocks
from .page import Page
from .sections import gap, rule
from .text_lines import flowing, prose
from .timeline import timeline


def turn_page(detail: Detail, rows: Rows, place: int, miss: str | None = None, *, priced: bool = True) -> Page:
    """All of one turn, with what is known of a cache `miss`; of another round trip, its request and answer.

    `priced` is false while prices are still to come: then nothing is said of the cost.
    """
    if not detail.row.is_turn:
        return Page("other", list(other_blocks(detail)))
    found = [*_miss(miss), *finding_blocks(detail.row.findings)]
    return Page("turn", [*_head(detail.row, priced=priced), *found, *_conversation(detail, rows, place)])


def _miss(words: str | None) -> Iterator[Block]:
    if words is not None:
        sign = MARKS["miss"]
        text = flowing([(f"{sign.glyph} cache miss: ", sign.style), (safe(words), "plain")], indent=2)
        yield Block("miss", (), text, anchors=("miss",))


def _conversation(detail: Detail, rows: Rows, place: int) -> Iterator[Block]:
    yield from _new(detail, rows, place)
    yield from answer_blocks(detail, rows, place)
    after = rows.after(place)
    yield from timeline(detail.row, rows.all[after] if after is not None else None)
    yield from _history(detail)
    yield from _setting(detail.reading)


def _head(row: Row, *, priced: bool) -> Iterator[Block]:
    """The turn's name, its tokens, cost and time, and its three layers."""
    usage = row.usage
    title: list[tuple[str, str]] = [
        (f"Turn {row.label}", "title"),
        (f" of {row.thread}", "dim"),
        (f"  {safe(model_name(row.model))}", "plain"),
        (f"  {row.protocol}", "dim"),
    ]
    title.append((f"  round trip #{row.index}", "dim"))
    if row.error is not None and usage.input is None and usage.output is None:
        yield Block(
            "head", title, flowing([("no tokens were counted", "dim")], *layer_lines(row), indent=10), anchors=("head",)
        )
        return
    spent: list[tuple[str, str]] = [(f"{full(usage.input)} in", "plain")]
    if row.before is not None and row.before.input is not None and usage.input is not None:
        fresh = usage.input - row.before.input
        if fresh >= 0:
            spent.append((f" ({fresh:,} new)", "dim"))
    if usage.cache_read:
        spent.append((f"  {usage.cache_read:,} cache read", "cache_read"))
    if usage.cache_write:
        spent.append((f"  {usage.cache_write:,} cache write", "cache_write"))
    spent.append((f"  {full(usage.output)} out", "plain"))
    if usage.reasoning:
        spent.append((f" ({usage.reasoning:,} reasoning)", "reasoning"))
    if priced or row.cost is not None:
        spent.append((f"  {price(row.cost, unpriced=row.unpriced)}", "money" if row.cost is not None else "dim"))
    if note := cost_note(row.cost_source, row.unpriced_fees):
        spent.append((f" ({note})", "dim"))
    yield Block("head", title, flowing(spent, *layer_lines(row), indent=10), anchors=("head",))


def _new(detail: Detail, rows: Rows, place: int) -> Iterator[Block]:
    reading, new = detail.reading, detail.new
    yield gap("new")
    if detail.row.rebuilt:
        note = REBUILT
    elif detail.row.history == "changed":
        note = "the client had changed the history; all changes are shown"
    else:
        note = new_note(len(new), detail.sent)
    yield Block("new", rule("new in this request", note), None, anchors=("new",))
    if not new:
        note = "nothing: the API holds the history" if reading.request.previous_id else "nothing"
        yield Block("new:none", (), flowing([(note, "dim")]), indent=2)
    names = detail.call_names
    before = rows.before(place)
    for number, message in enumerate(new, detail.sent):
        if message.role == "assistant" and before is not None and number <= detail.sent + 1:
            yield echo_head(message)
            yield from message_blocks(message, names, 4, f"echo:{message.pointer}")
        else:
            yield from message_blocks(message, names, 2, None)


def _history(detail: Detail) -> Iterator[Block]:
    history = detail.history
    if not history:
        return
    yield gap("history")
    note = several(len(history), "message")
    yield Block("history", rule("sent before", note), group=True, open=False)
    names = detail.call_names
    for message in history:
        yield from message_blocks(message, names, 2, "history")


@lru_cache(256)
def _in_a_line(description: str) -> str:
    """The beginning of a tool's description, which most turns of a run offer."""
    return clip(description, 200)


def _setting(reading: Reading) -> Iterator[Block]:
    """Everything around the messages: system prompt, tools, parameters."""
    request = reading.request
    yield gap("setting")
    if request.system:
        whole = sum(len(part.text) for part in request.system)
        note = several(whole, "character")
        yield Block("system", rule("system", note), group=True, open=False, anchors=("system", "/system"))
        for part in request.system:
            yield Block(
                f"part:{part.pointer}",
                (),
                prose(part.text),
                indent=2,
                parent="system",
                anchors=(part.pointer,),
            )
    if request.tools:
        note = f"{len(request.tools)} offered"
        yield Block("tools", rule("tools", note), group=True, open=False, anchors=("/tools",))
        for tool in request.tools:
            title = [(safe(tool.name), "bold"), (f"  {_in_a_line(tool.description or '')}", "dim")]
            body = prose(pretty({"description": tool.description, "schema": tool.schema}), json_line)
            yield Block(f"tool:{tool.name}", title, body, open=False, indent=2, parent="tools", anchors=(tool.pointer,))
    if request.parameters:
        names = ", ".join(request.parameters)
        yield Block(
            "parameters",
            rule("parameters", clip(names, 60)),
            prose(pretty(request.parameters), json_line),
            open=False,
            anchors=("parameters", *(f"/{name}" for name in request.parameters)),
        )
