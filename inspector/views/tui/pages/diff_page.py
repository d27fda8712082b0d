"""The page of differences: this request against the one before, and the answer against what was sent back of it."""

from collections.abc import Iterator

from turntape.cassettes.matching.json_diff import Difference, differences

from ....analysis.history_diff import HistoryChange, HistoryDiff
from ....run.detail import Detail
from ....run.rows import Rows
from ....wire.exchange import Exchange
from ..formatting import several
from .page import Block, Body, Goto, Page, Spans, json_line, lines, pretty, prose
from .turn_page import rule

LIMIT = 400
"""How many differences are looked for."""
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
    return Block(key, title, prose(_text(value), json_line), open=False, preview=8, indent=2, anchors=(one.pointer,))


SHOWN = 10
"""Lines of each side of a change."""


def _both(old: str, was: str, new: str, became: str) -> Body:
    """One value above the other, each with its label, and no more of it than tells them apart."""

    def side(label: str, text: str, look: str, width: int) -> list[Spans]:
        told = prose(text or "nothing", look if text else "dim")(width - len(label))
        shown: list[Spans] = [
            [(label if not at else " " * len(label), "dim"), *told[at]] for at in range(min(SHOWN, len(told)))
        ]
        if len(told) > SHOWN:
            shown.append([(f"{' ' * len(label)}… {len(told) - SHOWN:,} more lines", "dim")])
        return shown

    return lambda width: [*side(old, was, "removed", width), *side(new, became, "added", width)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else pretty(value)


_STATES: dict[str, tuple[str, str]] = {
    "verbatim": ("✓ the history and the answer came back as they were", "good"),
    "respelled": ("✓ came back with the same meaning, spelled otherwise", "good"),
    "changed": ("~ came back changed", "bad"),
    "cut": ("− came back with parts left out", "warn"),
    "held": ("· the API holds the history; only what is new was sent", "dim"),
}
_REASONING: dict[str, tuple[str, str]] = {
    "kept": ("✓ its reasoning came back", "good"),
    "dropped": ("− its reasoning did not come back", "warn"),
    "altered": ("~ its reasoning came back altered", "bad"),
}
_CHANGES: dict[str, tuple[str, str]] = {
    "args_changed": ("arguments changed", "bad"),
    "args_respelled": ("arguments spelled otherwise, the same value", "dim"),
    "name_changed": ("name changed", "bad"),
    "id_changed": ("id changed", "bad"),
    "call_dropped": ("call not sent back", "bad"),
    "text_changed": ("text changed", "warn"),
    "text_dropped": ("text not sent back", "warn"),
    "result_changed": ("result changed", "warn"),
    "removed": ("left out", "warn"),
    "inserted": ("put in between", "warn"),
    "moved": ("moved", "warn"),
}


def _echo(echo: HistoryDiff | None, rows: Rows, place: int) -> Iterator[Block]:
    after = rows.after(place)
    if after is None or echo is None:
        told = "no later turn shows it" if after is None else "it failed, so there is nothing to send back"
        yield Block("echo", rule("emitted against sent back", told))
        yield Block("gap", (), lines(()))
        return
    yield Block("echo", rule("emitted against sent back", f"by turn {rows.all[after].turn}"))
    said = [[("  ", "plain"), _STATES[echo.state]]]
    if echo.reasoning in _REASONING:
        said.append([("  ", "plain"), _REASONING[echo.reasoning]])
    yield Block("echo:state", (), lines(*said))
    for number, one in enumerate(echo.changes):
        yield _change(number, one, place, after)
    yield Block("gap", (), lines(()))


def _change(number: int, one: HistoryChange, place: int, after: int) -> Block:
    word, look = _CHANGES[one.kind]
    side = "the answer" if one.emitted else "the history"
    goto = Goto(after, one.now) if one.now else Goto(place, "answer" if one.emitted else one.before or "")
    title: Spans = [
        (f"{word}  ", look),
        (f"{side} {one.before or ''}", "dim"),
        (f"  now {one.now}" if one.now else "", "dim"),
        (f"  {one.call_id}" if one.call_id else "", "faint"),
    ]
    told = one.was or one.became
    body = _both("emitted    ", one.was, "sent back  ", one.became) if told else None
    return Block(f"echo:{number}", title, body, indent=2, goto=goto)
