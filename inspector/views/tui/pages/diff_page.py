"""The page of differences: this request compared with the previous one, and the answer with what was sent back."""

from collections.abc import Iterator

from turntape.cassettes.matching.json_diff import Difference, differences

from ....analysis.history_diff import HistoryChange, HistoryDiff
from ....run.detail import Detail
from ....run.rows import Rows
from ....wire.exchange import Exchange
from ....wire.json_value import compact, is_object, parse_json
from ..formatting import several
from .blocks import Block, Body, Goto, Spans
from .json_lines import fields_of, json_line, pretty
from .page import Page
from .sections import rule
from .text_lines import Prose, flowing, lines, prose

LIMIT = 400
"""At most this many differences are shown."""
_LOOKS = {"added": ("+", "added"), "removed": ("−", "removed"), "changed": ("~", "warn")}


def diff_page(detail: Detail, rows: Rows, place: int, before: Exchange | None, echo: HistoryDiff | None) -> Page:
    """What changed from the previous turn of the thread, whose exchange is `before`, and how the next repeats it."""
    return Page("diff", [*_echo(echo, rows, place), *_request(detail, rows, place, before)])


def _request(detail: Detail, rows: Rows, place: int, before: Exchange | None) -> Iterator[Block]:
    at = rows.before(place)
    if before is None or at is None:
        yield Block("head", rule("this request against the one before", "the first of its thread"))
        return
    found = differences(before.body, detail.exchange.body, LIMIT)
    note = several(len(found), "difference") + (" or more" if len(found) >= LIMIT else "")
    yield Block("head", rule(f"this request against turn {rows.all[at].turn}", note))
    for number, one in enumerate(found):
        yield _difference(number, one)


def _difference(number: int, one: Difference) -> Block:
    sign, look = _LOOKS[one.kind]
    title: Spans = [(f"{sign} ", look), (one.pointer or "the body", look)]
    key = f"difference:{number}"
    if one.kind == "changed":
        return Block(
            key,
            title,
            _both("− ", _text(one.recorded), "+ ", _text(one.given)),
            open=False,
            preview=8,
            indent=2,
            anchors=(one.pointer,),
        )
    value = one.given if one.kind == "added" else one.recorded
    return Block(
        key,
        title,
        prose(_text(value), "plain" if isinstance(value, str) else json_line),
        open=False,
        preview=8,
        indent=2,
        anchors=(one.pointer,),
    )


SHOWN, AROUND = 10, 1
"""Lines of each side of a change, and equal lines before the first and after the last that differ."""


def _both(old: str, was: str, new: str, became: str) -> Body:
    """One value above the other, each with its label, starting just before the first line that differs."""

    def body(width: int) -> list[Spans]:
        first = _side(was, "removed", width - len(old))
        second = _side(became, "added", width - len(new))
        same = _equal(first, second)
        start, end = max(0, same - AROUND), max(0, _equal_at_end(first, second, same) - AROUND)
        return [*_labelled(old, first, start, end), *_labelled(new, second, start, end)]

    return body


def _side(text: str, look: str, width: int) -> Prose:
    return Prose(text or "nothing", width, look if text else "dim")


def _equal(first: Prose, second: Prose) -> int:
    """How many lines at the start are equal, apart from their looks."""
    shorter = min(len(first), len(second))
    return next((at for at in range(shorter) if first[at][0][0] != second[at][0][0]), shorter)


def _equal_at_end(first: Prose, second: Prose, start: int) -> int:
    """How many lines at the end are equal, apart from their looks; the equal ones at the start are not among them."""
    shorter = min(len(first), len(second)) - start
    pairs = ((first[len(first) - 1 - at], second[len(second) - 1 - at]) for at in range(shorter))
    return next((at for at, (one, other) in enumerate(pairs) if one[0][0] != other[0][0]), shorter)


def _labelled(label: str, side: Prose, start: int, end: int) -> list[Spans]:
    """Lines of one side, the first with its label, without `start` lines at the front and `end` lines at the end."""
    lead, last = " " * len(label), len(side) - end
    left = last - start - SHOWN
    out: list[Spans] = [[(lead, "dim"), *side[at]] for at in range(start, min(start + SHOWN, last))]
    if start:
        out.insert(0, [(lead, "dim"), (f"… {several(start, 'equal line')}", "dim")])
    if out:
        out[0] = [(label, "dim"), *out[0][1:]]
    if left > 0:
        out.append([(f"{lead}… {several(left, 'more line')}", "dim")])
    elif end:
        out.append([(f"{lead}… {several(end, 'equal line')}", "dim")])
    return out


SHORT = 60
"""A JSON value with no more characters is shown in one line."""


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    line = compact(value)
    return line if len(line) <= SHORT else pretty(value)


_STATES: dict[str, tuple[str, str]] = {
    "verbatim": ("✓ the history and the answer came back unchanged", "good"),
    "respelled": ("✓ came back with the same meaning, written differently", "good"),
    "changed": ("~ came back changed", "bad"),
    "cut": ("− came back with parts missing", "warn"),
    "held": ("· the API holds the history; only what is new was sent", "dim"),
}
_REASONING: dict[str, tuple[str, str]] = {
    "kept": ("✓ its reasoning came back", "good"),
    "dropped": ("− its reasoning did not come back", "warn"),
    "altered": ("~ its reasoning came back altered", "bad"),
}
_CHANGES: dict[str, tuple[str, str]] = {
    "args_changed": ("arguments changed", "bad"),
    "args_respelled": ("arguments written differently, same value", "dim"),
    "name_changed": ("name changed", "bad"),
    "id_changed": ("id changed", "bad"),
    "id_lost": ("id not sent back", "bad"),
    "call_dropped": ("call not sent back", "bad"),
    "text_changed": ("text changed", "warn"),
    "text_dropped": ("text not sent back", "warn"),
    "result_changed": ("result changed", "warn"),
    "result_moved": ("result of another call", "bad"),
    "mark_changed": ("error mark changed", "warn"),
    "spaces_lost": ("spaces or line breaks lost", "warn"),
    "removed": ("left out", "warn"),
    "inserted": ("inserted", "warn"),
    "moved": ("moved", "warn"),
}


def _echo(echo: HistoryDiff | None, rows: Rows, place: int) -> Iterator[Block]:
    after = rows.after(place)
    if after is None or echo is None:
        note = "no later turn to compare with" if after is None else "it failed, so there is nothing to send back"
        yield Block("echo", rule("emitted against sent back", note))
        yield Block("gap", (), lines(()))
        return
    yield Block("echo", rule("emitted against sent back", f"by turn {rows.all[after].turn}"))
    said: list[Spans] = [[_STATES[echo.state]]]
    if echo.reasoning in _REASONING:
        said.append([_REASONING[echo.reasoning]])
    yield Block("echo:state", (), flowing(*said, indent=2), indent=2)
    for number, one in enumerate(echo.changes):
        yield _change(number, one, place, after)
    yield Block("gap", (), lines(()))


def _arguments(text: str) -> str:
    """The arguments of a call as people write them, each text with its own lines; as they are where one is JSON."""
    value = parse_json(text)
    if not is_object(value) or not any(isinstance(one, str) and "\n" in one for one in value.values()):
        return text
    rows = fields_of(value)
    return "\n".join(
        f"{lead}{key}:\n{inner}" if "\n" in inner else f"{lead}{key}: {inner}" for lead, key, inner in rows
    )


def _change(number: int, one: HistoryChange, place: int, after: int) -> Block:
    word, look = _CHANGES[one.kind]
    side = "the answer" if one.emitted else "the history"
    goto = Goto(after, one.now) if one.now else Goto(place, "answer" if one.emitted else one.before or "")
    title: Spans = [
        (f"{word}  ", look),
        (f"{side} {one.before or ''}", "dim"),
        (f"  now {one.now}" if one.now else "", "dim"),
        (f"  {one.call_id}" if one.call_id else "", "dim"),
    ]
    known = one.was or one.became
    # Those that differ only in how they are written are shown as they were written.
    was, became = map(_arguments if one.kind == "args_changed" else str, (one.was, one.became))
    body = _both("emitted    ", was, "sent back  ", became) if known else None
    return Block(f"echo:{number}", title, body, indent=2, goto=goto)
