"""`turntape diff` as a person reads it: the two runs, thread by thread to where they part, and what differs there."""

from collections.abc import Iterator

from ...check.budgets import dollars
from ...compare.run_diff import ChangedValue, ComparedRun, Comparison, Divergence, ThreadPair, TurnDigest
from ...wire.json_value import compact
from ...wire.printable import safe
from .terminal_text import GLYPHS, Line, Style, clip, clip_path, fit, width_of, wrap

_LETTERS: dict[str, Style] = {"A": "bad", "B": "good"}
_LINES = 4
"""In so many lines a value is shown."""


def compare_text(reported: Comparison, width: int) -> Iterator[Line]:
    """The whole comparison."""
    facts = max(width_of(_facts(side)) for side in (reported.a, reported.b))
    widest = min(max(width_of(reported.a.name), width_of(reported.b.name)), max(10, width - facts - 5))
    yield from (_head("A", reported.a, widest, width), _head("B", reported.b, widest, width))
    yield []
    first = reported.first
    for pair in reported.pairs:
        yield from _pair(pair, width, several=len(reported.pairs) > 1)
    if first is None or first.parting is None:
        yield from _wrapped([("the same  ", "good")], "no turn differs in request, emission or finish", width)
        return
    parting = first.parting
    thread = f" of {first.name}" if len(reported.pairs) > 1 else ""
    layer: Style = parting.layer
    yield from _wrapped(
        [(f"{GLYPHS[parting.layer]} {parting.layer}", layer), ("  parted first, ", "plain")],
        f"at turn {parting.turn}{thread} ({_places(parting)})",
        width,
    )


def _facts(side: ComparedRun) -> str:
    """How long the run was, and what it cost."""
    facts = [_count(side.turns, "turn")]
    if len(side.threads) > 1:
        facts.append(_count(len(side.threads), "thread"))
    if side.input:
        facts.append(f"{side.input:,} tokens in")
    facts.append(dollars(side.cost) if side.cost is not None else "unpriced")
    return " · ".join(facts)


def _head(letter: str, side: ComparedRun, widest: int, width: int) -> Line:
    name = clip_path(side.name, widest)
    pad = " " * (widest - width_of(name))
    return fit([(letter, _LETTERS[letter]), (f"  {name}{pad}", "bold"), (f"  {_facts(side)}", "dim")], width)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _pair(pair: ThreadPair, width: int, *, several: bool) -> Iterator[Line]:
    if several:
        yield [(pair.name, "bold")]
    if pair.same:
        which = "turn 1 is" if pair.same == 1 else f"turns 1 to {pair.same} are"
        yield from _wrapped([("  = ", "dim")], f"{which} the same", width, "dim")
    parting = pair.parting
    if parting is None:
        yield []
        return
    layer: Style = parting.layer
    head: Line = [("  ≠ ", "bad"), (f"turn {parting.turn}  ", "bold"), (f"{GLYPHS[layer]} {layer}  ", layer)]
    yield from _wrapped(head, parting.says, width)
    yield fit([(f"    {_places(parting)}", "dim")], width)
    for change in parting.changes:
        yield []
        yield from _change(change, parting, width)
    if parting.more:
        yield []
        yield [(f"    and {_count(parting.more, 'more place')}", "dim")]
    rest = [(letter, n - parting.turn) for letter, n in (("A", pair.turns_a), ("B", pair.turns_b)) if n > parting.turn]
    if rest:
        later = " and ".join(f"{_count(number, 'turn')} in {letter}" for letter, number in rest)
        yield []
        yield from _wrapped([("    ", "plain")], f"what comes after is not compared: {later}", width, "dim")
    yield []


def _places(parting: Divergence) -> str:
    def at(letter: str, step: TurnDigest | None) -> str:
        return f"{letter} has none" if step is None else f"{letter} #{step.index}"

    return f"{at('A', parting.a)} · {at('B', parting.b)}"


_WHOSE = {"client": "request", "model": "model", "api": "api"}


def _change(change: ChangedValue, parting: Divergence, width: int) -> Iterator[Line]:
    outside = not change.pointer.startswith("/")
    where = change.pointer if outside else f"{_WHOSE[change.layer]} {change.pointer}"
    yield fit([("    ", "plain"), (clip(where, width - 4), "bold")], width)
    if hunks := change.words:
        for place, (a, b) in enumerate(hunks):
            if place:
                yield []
            yield from _value("A", a, width)
            yield from _value("B", b, width)
        return
    if change.kind != "added":
        yield from _value("A", _shown(change.a), width)
    else:
        yield from _value("A", None, width)
    if change.kind != "removed":
        yield from _value("B", _shown(change.b), width)
    else:
        yield from _value("B", None, width)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else compact(value)


def _value(letter: str, text: str | None, width: int) -> Iterator[Line]:
    """A value behind its letter, in a few lines."""
    head: Line = [(f"    {letter}  ", _LETTERS[letter])]
    if text is None or text == "":
        yield [*head, ("nothing" if text is None else "(empty)", "dim")]
        return
    room = max(20, width - 7)
    flat = " ".join(safe(text).split()) or "(white space)"
    lines = wrap(flat[: room * (_LINES + 1)], room)
    for place, line in enumerate(lines[:_LINES]):
        last = place == _LINES - 1 and (len(lines) > _LINES or len(flat) > room * (_LINES + 1))
        yield fit([*(head if place == 0 else [("       ", "plain")]), (line + (" …" if last else ""), "plain")], width)


def _wrapped(head: Line, text: str, width: int, style: Style = "plain") -> Iterator[Line]:
    used = sum(width_of(part) for part, _ in head)
    pad = "·" * max(0, used - 4)
    first, *rest = wrap(pad + safe(text), max(20, width - 4))
    yield fit([*head, (first[len(pad) :], style)], width)
    for line in rest:
        yield fit([("    ", "plain"), (line, style)], width)
