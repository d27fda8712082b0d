"""The text of `turntape diff`: both runs, each pair of threads up to their first difference, and what differs there."""

from collections.abc import Iterator

from ...compare.run_diff import ChangedValue, ComparedRun, Comparison, Divergence, ThreadPair, TurnDigest
from ...wire.json_value import compact
from ...wire.printable import safe
from ...wire.printable import several as counted
from .number_format import spent, turn_count
from .terminal_text import GLYPHS, Line, Style, clip, clip_path, fit, width_of, wrap

_LETTERS: dict[str, Style] = {"A": "bad", "B": "good"}
_LINES = 4
"""A value is shown in at most this many lines."""


def compare_text(reported: Comparison, width: int) -> Iterator[Line]:
    """The whole comparison."""
    yield from _heads(reported.a, reported.b, width)
    yield []
    first = reported.first
    for pair in reported.pairs:
        yield from _pair(pair, width, several=len(reported.pairs) > 1)
    if first is None or first.divergence is None:
        turns = reported.a.turns or reported.b.turns
        said = "no turn differs in request, emission or finish" if turns else "neither has a turn to compare"
        yield from _wrapped([("the same  ", "good")], said, width)
        return
    divergence = first.divergence
    thread = f" of {first.name}" if len(reported.pairs) > 1 else ""
    layer: Style = divergence.layer
    yield from _wrapped(
        [(f"{GLYPHS[divergence.layer]} {divergence.layer}", layer), ("  diverged first, ", "plain")],
        f"at turn {divergence.turn}{thread} ({_places(divergence)})",
        width,
    )


def _facts(side: ComparedRun) -> str:
    """How long the run was, and what it cost."""
    facts = [turn_count(side.turns, sum(len(steps) for steps in side.threads.values()))]
    if len(side.threads) > 1:
        facts.append(counted(len(side.threads), "thread"))
    if side.input:
        facts.append(f"{side.input:,} tokens in")
    if side.turns:
        facts.append(spent(side.cost, side.unpriced))
    return " · ".join(facts)


def _heads(a: ComparedRun, b: ComparedRun, width: int) -> Iterator[Line]:
    """Names and facts of both runs in columns; below each other where the names would be cut."""
    names = max(width_of(a.name), width_of(b.name))
    beside = names + max(width_of(_facts(side)) for side in (a, b)) + 5 <= width
    for letter, side in (("A", a), ("B", b)):
        name = clip_path(side.name, max(10, width - 3))
        head: Line = [(letter, _LETTERS[letter]), (f"  {name}", "bold")]
        facts = _facts(side)
        if beside:
            yield [*head, (f"{' ' * (names - width_of(name))}  {facts}", "dim")]
        else:
            yield fit(head, width)
            yield from _wrapped([("   ", "plain")], facts, width, "dim", 3)


def _pair(pair: ThreadPair, width: int, *, several: bool) -> Iterator[Line]:
    if several:
        yield [(pair.name, "bold")]
    if pair.same:
        which = "turn 1 is" if pair.same == 1 else f"turns 1 to {pair.same} are"
        yield from _wrapped([("  = ", "dim")], f"{which} the same", width, "dim")
    divergence = pair.divergence
    if divergence is None:
        yield []
        return
    layer: Style = divergence.layer
    head: Line = [("  ≠ ", "bad"), (f"turn {divergence.turn}  ", "bold"), (f"{GLYPHS[layer]} {layer}  ", layer)]
    yield from _wrapped(head, divergence.says, width)
    yield fit([(f"    {_places(divergence)}", "dim")], width)
    for change in divergence.changes:
        yield []
        yield from _change(change, divergence, width)
    if divergence.more:
        yield []
        yield [(f"    and {counted(divergence.more, 'more place')}", "dim")]
    rest = [
        (letter, n - divergence.turn) for letter, n in (("A", pair.turns_a), ("B", pair.turns_b)) if n > divergence.turn
    ]
    if rest:
        later = " and ".join(f"{counted(number, 'turn')} in {letter}" for letter, number in rest)
        yield []
        yield from _wrapped([("    ", "plain")], f"what comes after is not compared: {later}", width, "dim")
    yield []


def _places(divergence: Divergence) -> str:
    def at(letter: str, step: TurnDigest | None) -> str:
        return f"{letter} has none" if step is None else f"{letter} #{step.index}"

    return f"{at('A', divergence.a)} · {at('B', divergence.b)}"


_WHOSE = {"client": "request", "model": "model", "api": "api"}


def _change(change: ChangedValue, divergence: Divergence, width: int) -> Iterator[Line]:
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
    """The letter of the run, then the value, in a few lines."""
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


def _wrapped(head: Line, text: str, width: int, style: Style = "plain", indent: int = 4) -> Iterator[Line]:
    used = sum(width_of(part) for part, _ in head)
    pad = "·" * max(0, used - indent)
    first, *rest = wrap(pad + safe(text), max(20, width - indent))
    yield fit([*head, (first[len(pad) :], style)], width)
    for line in rest:
        yield fit([(" " * indent, "plain"), (line, style)], width)
