"""The pieces of a run in groups: by kind, tool, tool definition, MCP server, thread and subagent."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal

from turntape.cassettes.frozen import frozen, mutable

from ..analysis.turn import Edge
from .model import Group, GroupKey, OtherRequest, Piece

MAIN = "main"
UNDIVIDED = "undivided"
"""The kind of what an answer states as its cost, where nothing says how much of it is for the input."""


@frozen
class Paid:
    """The answer of one turn."""

    thread: str
    output: int | None
    """Tokens, reasoning included; None when they are not known."""
    cost: Decimal | None
    divided: bool = True
    """False when the cost of the input is not known apart; then `cost` is that of the whole turn."""


@mutable
class _Sum:
    pieces: int = 0
    size: int = 0
    tokens: int = 0
    output: int = 0
    cost: Decimal | None = None
    called: bool = False
    counted: bool = False

    def pay(self, cost: Decimal | None) -> None:
        if cost is not None:
            self.cost = (self.cost or Decimal(0)) + cost


type Key = Callable[[Piece], str | None]
type Starts = Mapping[str, tuple[Edge, str]]
"""Why each thread began, and its task."""


def grouped(
    pieces: Sequence[Piece], paid: Sequence[Paid], starts: Starts, others: Sequence[OtherRequest] = ()
) -> dict[GroupKey, list[Group]]:
    """All groups of a run, the dearest first. Pieces without a group's key are in none of its groups.

    `others` have no pieces and no thread: each kind of endpoint is a group of `kind`.
    """

    def subagent(thread: str | None) -> str:
        return _subagent(thread, starts)

    return {
        "kind": _dearest_first(
            _sums(pieces, lambda piece: piece.kind, paid, lambda answer: "output" if answer.divided else UNDIVIDED)
            + _endpoints(others)
        ),
        "tool": _sums(pieces, lambda piece: piece.tool),
        "definition": _sums(pieces, lambda piece: piece.tool if piece.kind == "tool" else None),
        "server": _sums(pieces, lambda piece: piece.server),
        "thread": _sums(pieces, lambda piece: piece.thread, paid, lambda answer: answer.thread),
        "subagent": _sums(pieces, lambda piece: subagent(piece.thread), paid, lambda answer: subagent(answer.thread)),
    }


def _sums(
    pieces: Iterable[Piece], key: Key, paid: Iterable[Paid] = (), key_of: Callable[[Paid], str] = lambda answer: ""
) -> list[Group]:
    sums: dict[str, _Sum] = {}
    for piece in pieces:
        name = key(piece)
        if name is not None:
            one = sums.setdefault(name, _Sum())
            one.pieces += 1
            one.size += piece.size
            one.tokens += piece.tokens_sent
            one.pay(piece.cost)
            one.called |= piece.kind != "tool" or not piece.never_called
            one.counted |= piece.tokens is not None
    for answer in paid:
        one = sums.setdefault(key_of(answer), _Sum())
        one.output += answer.output or 0
        one.pay(answer.cost)
        one.called = True
        one.counted |= answer.output is not None
    made = [
        Group(name, one.pieces, one.size, one.tokens, one.output, one.cost, not one.called, one.counted)
        for name, one in sums.items()
    ]
    return _dearest_first(made)


def _endpoints(others: Sequence[OtherRequest]) -> list[Group]:
    found: dict[str, _Sum] = {}
    for one in others:
        into = found.setdefault(one.kind, _Sum())
        into.tokens += one.input or 0
        into.output += one.output or 0
        into.pay(one.cost)
        into.counted |= one.input is not None or one.output is not None
    return [Group(name, 0, 0, one.tokens, one.output, one.cost, counted=one.counted) for name, one in found.items()]


def _dearest_first(groups: list[Group]) -> list[Group]:
    return sorted(
        groups, key=lambda group: (group.cost or Decimal(0), group.tokens_sent + group.output, group.size), reverse=True
    )


def _subagent(thread: str | None, starts: Starts) -> str:
    """The agent of a thread: its task, for one that another agent started; `main` for the rest."""
    start = starts.get(thread or "")
    if start is None or start[0].kind != "subagent":
        return MAIN
    return f"{thread}: {start[1]}" if start[1] else f"{thread}"
