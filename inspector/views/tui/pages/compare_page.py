"""The page that compares two turns: cost, tokens and time first, then the words that changed."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from turntape.cassettes.matching.json_diff import Difference, differences

from ....ledger import Ledger
from ....run.detail import Detail
from ....run.row import Row
from ....run.rows import Rows
from ....wire.printable import safe
from ....wire.values import Usage
from ...text.number_format import lasted, percent, price
from ...text.terminal_text import width_of
from ...text.word_diff import word_changes
from ..formatting import dollars, several
from .blocks import Block, Body, Goto, Spans
from .diff_page import LIMIT
from .json_lines import json_line, pretty
from .page import Page
from .sections import gap, rule
from .text_lines import Prose, flowing, lines, prose

_NAME, _CELL, _SHARE = 14, 14, 9
"""Cells of the names of the figures, of a figure, and of a change in percent."""
_LOOKS = {"added": ("+", "added"), "removed": ("−", "removed"), "changed": ("~", "warn")}
_WORDS: Mapping[str, str] = {"equal": "dim", "removed": "removed", "added": "added"}
LONGEST = 200_000
"""Texts with more characters are shown one below the other instead of word by word."""


def compare_page(first: Detail | None, second: Detail, rows: Rows, ledger: Ledger) -> Page:
    """The turn `second` against `first`; without a first one, how to choose it."""
    if first is None:
        text = "press m on a turn to mark it, then m on another one to compare both"
        return Page("compare", [Block("none", (), flowing([(text, "dim")]))])
    if first.row.key == second.row.key:
        text = "this is the marked turn; go to another one to compare it with this"
        return Page("compare", [Block("none", (), flowing([(text, "dim")]))])
    return Page(
        "compare", [*_figures(first, second, rows, ledger), *_answers(first, second), *_requests(first, second)]
    )


def _figures(first: Detail, second: Detail, rows: Rows, ledger: Ledger) -> Iterator[Block]:
    old, new = first.row, second.row
    places = [_place(rows, row) for row in (old, new)]
    names = [rows.name_of(place) for place in places]
    title: Spans = [(names[0], "title"), (" against ", "dim"), (names[1], "title")]
    head = [f"{'':<{_NAME}}", *(f"{name:>{_CELL}}" for name in names), f"{'difference':>{_CELL}}"]
    table: list[Spans] = [[("".join(head), "dim")]]
    table.append(_cost(old, new))
    for word, before, after in _tokens(old, new):
        table.append(_number(word, before, after))
    for word, before, after in (
        ("time", old.duration_ms, new.duration_ms),
        ("first byte", old.first_byte_ms, new.first_byte_ms),
    ):
        if before is not None or after is not None:
            table.append(_time(word, before, after))
    table += [
        _number("messages", old.messages, new.messages),
        _number("tools", len(old.tools), len(new.tools)),
        *_words(old, new),
    ]
    yield Block("figures", title, lambda width: [_fitted(line, width) for line in table])
    entry = ledger.at(places[1])
    miss = entry.cache.miss if entry is not None and entry.cache is not None else None
    if miss is not None:
        price = f", {dollars(miss.price)}" if miss.price is not None else ""
        text: Spans = [
            (f"cache miss of {several(miss.tokens, 'token')}{price}: ", "warn"),
            (safe(miss.message), "plain"),
        ]
        yield Block("miss", (), flowing(text), goto=Goto(places[1], miss.at or "head"))


def _place(rows: Rows, row: Row) -> int:
    return next((place for place, one in enumerate(rows.all) if one.key == row.key), 0)


def _fitted(line: Spans, width: int) -> Spans:
    """A line of the table; on a narrow page its cells are narrower."""
    if width >= _NAME + 3 * _CELL + _SHARE:
        return line
    return [
        (" ".join(text.split()) + "  " if at else f"{text.strip():<12}", look) for at, (text, look) in enumerate(line)
    ]


def _tokens(old: Row, new: Row) -> Iterator[tuple[str, int | None, int | None]]:
    a, b = old.usage, new.usage
    yield "input", a.input, b.input
    if a.cache_read or b.cache_read or a.cache_write or b.cache_write:
        yield "  cache read", a.cache_read, b.cache_read
        yield "  cache write", a.cache_write, b.cache_write
        yield "  uncached", _fresh(a), _fresh(b)
    yield "output", a.output, b.output
    if a.reasoning or b.reasoning:
        yield "  reasoning", a.reasoning, b.reasoning


def _fresh(usage: Usage) -> int | None:
    """The input tokens that have nothing to do with the cache."""
    return None if usage.input is None else usage.input - (usage.cache_read or 0) - (usage.cache_write or 0)


def _row(word: str, before: str, after: str, change: str, look: str, share: str = "") -> Spans:
    return [
        (f"{word:<{_NAME}}", "dim"),
        (f"{before:>{_CELL}}", "plain"),
        (f"{after:>{_CELL}}", "plain"),
        (f"{change:>{_CELL}}", look),
        (f"{share:>{_SHARE}}", "dim"),
    ]


def _sign(change: float | Decimal) -> str:
    return "+" if change > 0 else "−" if change < 0 else "±"


def _cost(old: Row, new: Row) -> Spans:
    shown = (price(old.cost, unpriced=old.unpriced), price(new.cost, unpriced=new.unpriced))
    if old.cost is None or new.cost is None or old.unpriced or new.unpriced:
        return _row("cost", *shown, "–", "dim")
    change = new.cost - old.cost
    look = "removed" if change > 0 else "added" if change < 0 else "dim"
    return _row("cost", *shown, f"{_sign(change)}{dollars(abs(change))}", look, _share(old.cost, change))


def _share(before: Decimal | float, change: Decimal | float) -> str:
    """A change in percent; nothing where there was nothing before, or nothing changed."""
    if not before or not change:
        return ""
    share = float(abs(change)) / float(before)
    return f"{_sign(change)}{percent(share)}" if share < 10 else f"{share + 1:.0f}×" if change > 0 else ""


def _number(word: str, before: int | None, after: int | None) -> Spans:
    shown = (f"{before:,}" if before is not None else "–", f"{after:,}" if after is not None else "–")
    if before is None or after is None:
        return _row(word, *shown, "–", "dim")
    change, look = after - before, "plain" if after != before else "dim"
    return _row(word, *shown, f"{_sign(change)}{abs(change):,}", look, _share(before, change))


def _time(word: str, before: float | None, after: float | None) -> Spans:
    if before is None or after is None:
        return _row(word, lasted(before), lasted(after), "–", "dim")
    look = "plain" if after != before else "dim"
    change = after - before
    shown = f"{_sign(change)}{lasted(abs(change))}"
    return _row(word, lasted(before), lasted(after), shown, look, _share(before, change))


def _words(old: Row, new: Row) -> Iterator[Spans]:
    pairs = (("model", old.model, new.model), ("emitted", old.emitted, new.emitted), ("finish", old.finish, new.finish))
    found = [(word, safe(before or "none"), safe(after or "none")) for word, before, after in pairs if before != after]
    widest = max((width_of(before) for _, before, _ in found), default=0)
    for word, before, after in found:
        fill = " " * (widest - width_of(before))
        yield [(f"{word:<{_NAME}}", "dim"), (f"  {before}{fill}", "removed"), (f"  {after}", "added")]


def _answers(first: Detail, second: Detail) -> Iterator[Block]:
    yield gap("answers")
    yield Block("answers", rule("the answers"), group=True)
    same = True
    for word, old, new in _emitted(first, second):
        if old != new:
            same = False
            yield Block(f"answer:{word}", [(word, "bold")], _changed(old, new), indent=2, parent="answers")
    if same:
        yield Block("answers:same", (), lines([("the same", "dim")]), indent=2, parent="answers")


def _emitted(first: Detail, second: Detail) -> Iterator[tuple[str, str, str]]:
    one, other = first.reading.emission, second.reading.emission
    yield "text", one.text if one else "", other.text if other else ""
    yield "reasoning", one.reasoning if one else "", other.reasoning if other else ""
    calls = [
        "\n".join(f"{call.name} {call.arguments_raw}" for call in (said.calls if said else ())) for said in (one, other)
    ]
    yield "calls", calls[0], calls[1]


def _requests(first: Detail, second: Detail) -> Iterator[Block]:
    found = differences(first.exchange.body, second.exchange.body, LIMIT)
    yield gap("requests")
    note = several(len(found), "difference") + (" or more" if len(found) >= LIMIT else "")
    yield Block("requests", rule("the requests", note), group=True)
    for number, one in enumerate(found):
        yield _difference(number, one)


def _difference(number: int, one: Difference) -> Block:
    sign, look = _LOOKS[one.kind]
    title: Spans = [(f"{sign} ", look), (one.pointer or "the body", look)]
    if one.kind == "changed":
        body = _changed(_text(one.recorded), _text(one.given))
    else:
        value = one.given if one.kind == "added" else one.recorded
        body = prose(_text(value), "plain" if isinstance(value, str) else json_line)
    anchors = (one.pointer,)
    return Block(f"compared:{number}", title, body, open=False, preview=6, indent=2, parent="requests", anchors=anchors)


def _text(value: object) -> str:
    return value if isinstance(value, str) else pretty(value)


def _changed(old: str, new: str) -> Body:
    """Both texts as one, with what was removed and added marked."""
    if len(old) + len(new) > LONGEST:
        return lambda width: [*Prose(old, width, "removed"), *Prose(new, width, "added")]

    def body(width: int) -> Sequence[Spans]:
        out: list[Spans] = []
        line: list[tuple[str, str]] = []
        used = 0
        for change, text in word_changes(old, new):
            sign = {"removed": "[−", "added": "[+"}.get(change, "")
            shown = f"{sign}{text.strip() if sign else text}{']' if sign else ''}" if text.strip() else text
            for piece in _pieces(f" {shown}" if sign and used else shown):
                if piece == "\n" or used + len(piece) > width:
                    out.append(line)
                    line, used = [], 0
                    piece = piece.strip("\n").lstrip(" ")
                for start in range(0, len(piece), max(1, width)):
                    part = piece[start : start + width]
                    if used + len(part) > width:
                        out.append(line)
                        line, used = [], 0
                    line.append((safe(part), _WORDS[change]))
                    used += len(part)
        return [*out, line] if line else out

    return body


def _pieces(text: str) -> Iterator[str]:
    """Words with the blanks before them, and line breaks."""
    for number, line in enumerate(text.split("\n")):
        if number:
            yield "\n"
        word = ""
        for character in line:
            if character == " " and word.strip():
                yield word
                word = ""
            word += character
        if word:
            yield word
