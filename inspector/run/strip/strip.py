"""The turns of a run as lanes, one for each thread, with the cost and the tokens of each turn by kind."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from turntape.cassettes.frozen import frozen

from ..growth import AGAIN, INPUT, Tokens, context_window, tokens_of
from ..growth import KINDS as TOKEN_KINDS
from ..row import Row
from .marks import Mark, marks_of

if TYPE_CHECKING:
    from ...ledger import Ledger

type Unit = Literal["dollars", "tokens"]

KINDS: tuple[tuple[str, str], ...] = (*TOKEN_KINDS, ("other", "fees, not divided"))
"""The kinds in the order in which a bar stacks them, with their titles. `other` has dollars only: fees for searches,
and the cost of a turn of which only the sum is known."""

type Amounts = tuple[Decimal, ...]
"""One amount for each of `KINDS`, in dollars or in tokens."""

MOST_ADDED = 24
"""At most this many additions of a lane have a label."""
LEAST_ADDED = 0.05
"""An addition with a label is at least this share of the largest input of the run."""


@frozen
class Addition:
    """What a turn added to the prompt of its thread: `+48k cat build.log`."""

    place: int
    tokens: int
    """By the API's own counts: the input tokens of this turn minus those of the thread's previous turn."""
    name: str
    """The largest of the new pieces; with `and 2 more` where it is less than half of them."""


@frozen
class StripTurn:
    """One attempt of a turn."""

    place: int
    """The place of its row."""
    row: Row
    dollars: Amounts | None
    """None where the cost is not known."""
    counts: tuple[int, ...] | None
    """The tokens by kind; None where the API did not report them. A number takes less memory than an amount."""
    so_far: Decimal
    """The cost of the run so far, in order of arrival, of the turns that have a price."""
    window: int | None
    """The model's context window in tokens, where it is known."""
    fill: float | None
    """The share of the window that input and output took."""
    marks: tuple[Mark, ...]
    addition: Addition | None
    """What it added, where that is large enough for a label."""
    unpriced: int = 0
    """How many turns up to it have a cost that is not known: the real cost so far is higher."""

    def is_still(self, row: Row, sums: tuple[Decimal, int], addition: Addition | None) -> bool:
        """Whether it would be the same, made of this row, its sums and its addition."""
        return self.row is row and (self.so_far, self.unpriced) == sums and self.addition == addition

    @property
    def tokens(self) -> Amounts | None:
        """`counts` as amounts."""
        return None if self.counts is None else tuple(map(Decimal, self.counts))

    def amounts(self, unit: Unit) -> Amounts | None:
        """The amounts by kind; None where they are not known."""
        return self.dollars if unit == "dollars" else self.tokens

    def amount(self, unit: Unit) -> Decimal | None:
        """The sum of all kinds; None where it is not known."""
        found = self.amounts(unit)
        return None if found is None else sum(found, Decimal(0))

    def split(self, unit: Unit) -> tuple[Decimal, Decimal] | None:
        """The input: what was sent again, and what is new. What the cache had was sent before.

        None where there is no previous request, or the amounts are not known.
        """
        amounts, before = self.amounts(unit), self.row.before
        if amounts is None or self.counts is None or before is None or not before.input:
            return None
        return sum(amounts[:AGAIN], Decimal(0)), sum(amounts[AGAIN:INPUT], Decimal(0))


@frozen(slots=False)
class Lane:
    """The turns of one thread, in order."""

    thread: str
    kind: str
    """The kind of the edge of its first turn: `main`, `subagent`, `side_call` …"""
    task: str
    """How the first text of the user begins; empty when there is none."""
    turns: tuple[StripTurn, ...]

    @cached_property
    def dollars(self) -> Decimal | None:
        """The cost of the thread; None when no turn has a price."""
        known = [sum(turn.dollars, Decimal(0)) for turn in self.turns if turn.dollars is not None]
        return sum(known, Decimal(0)) if known else None

    @cached_property
    def at(self) -> dict[int, int]:
        """Place of a row → index in `turns`."""
        return {turn.place: index for index, turn in enumerate(self.turns)}


@frozen(slots=False)
class Strip:
    """A run as lanes. All lanes have the same scale."""

    lanes: tuple[Lane, ...]
    """In the order in which the threads began."""
    total: Decimal | None
    """The cost of the run; None when nothing has a price."""
    unpriced: int
    """Requests whose cost is not known: the real cost is higher than `total`."""
    others: tuple[tuple[int, Row], ...] = ()
    """Other requests that are in the bill, with their places. They are in no lane."""

    @cached_property
    def turns(self) -> int:
        """The attempts in all lanes."""
        return sum(len(lane.turns) for lane in self.lanes)

    @cached_property
    def in_order(self) -> tuple[StripTurn, ...]:
        """All attempts, in order of arrival."""
        return tuple(sorted((turn for lane in self.lanes for turn in lane.turns), key=lambda turn: turn.place))

    def thread_at(self, place: int | None) -> str | None:
        """The thread of the row at that place; None where it is not a turn."""
        return next((lane.thread for lane in self.lanes if place in lane.at), None)

    def has(self, unit: Unit) -> bool:
        """Whether any turn has an amount in that unit."""
        return any(turn.amounts(unit) is not None for lane in self.lanes for turn in lane.turns)

    def sums(self, unit: Unit) -> Amounts:
        """The amounts by kind of all turns together."""
        known = [found for lane in self.lanes for turn in lane.turns if (found := turn.amounts(unit)) is not None]
        return tuple(sum(column, Decimal(0)) for column in zip(*known, strict=True)) or (Decimal(0),) * len(KINDS)

    def until(self, place: int) -> "Strip":
        """The run up to the row at `place`, as it was then; for playback."""
        lanes = [
            Lane(lane.thread, lane.kind, lane.task, tuple(turn for turn in lane.turns if turn.place <= place))
            for lane in self.lanes
        ]
        kept = tuple(lane for lane in lanes if lane.turns)
        others = tuple((at, row) for at, row in self.others if at <= place)
        priced = [lane.dollars for lane in kept if lane.dollars is not None]
        priced += [row.cost for _, row in others if row.cost is not None]
        unpriced = sum(turn.row.unpriced for lane in kept for turn in lane.turns)
        unpriced += sum(row.unpriced for _, row in others)
        return Strip(kept, sum(priced, Decimal(0)) if priced else None, unpriced, others)


def strip_of(
    rows: Sequence[Row],
    ledger: "Ledger | None" = None,
    rest: Callable[[], None] = lambda: None,
    *,
    before: Strip | None = None,
) -> Strip:
    """The growth of a run, from its rows in order of arrival. Of other round trips, only the cost is counted.

    With the ledger of the run, cache misses have their causes and prices, and additions are named by tokens. `rest` is
    called between two turns. `before` is a strip of fewer rows of the run, made without a ledger as this one is: what
    has not changed is taken from it.
    """
    turns = [(place, row) for place, row in enumerate(rows) if row.is_turn]
    labelled = _additions(turns, ledger)
    made_before = {turn.place: turn for lane in before.lanes for turn in lane.turns} if before and not ledger else {}
    so_far, unpriced = Decimal(0), 0
    lanes: dict[str, list[StripTurn]] = {}
    for place, row in enumerate(rows):
        rest()
        so_far += row.cost or Decimal(0)
        unpriced += row.unpriced
        if not row.is_turn:
            continue
        turn, sums, addition = made_before.get(place), (so_far, unpriced), labelled.get(place)
        if turn is None or not turn.is_still(row, sums, addition):
            turn = _turn(place, row, sums, addition, ledger)
        lanes.setdefault(row.thread or "", []).append(turn)
    made = tuple(_lane(thread, tuple(found)) for thread, found in lanes.items())
    priced = any(row.cost is not None for row in rows)
    others = tuple((place, row) for place, row in enumerate(rows) if row.is_billed and not row.is_turn)
    return Strip(made, so_far if priced else None, unpriced, others)


def _lane(thread: str, turns: tuple[StripTurn, ...]) -> Lane:
    first = turns[0].row
    return Lane(thread, first.edge.kind if first.edge is not None else "main", first.asked, turns)


def _turn(
    place: int, row: Row, sums: tuple[Decimal, int], addition: Addition | None, ledger: "Ledger | None"
) -> StripTurn:
    """`sums`: the cost so far, with this turn, and how many turns up to it have no known price."""
    so_far, unpriced = sums
    tokens = tokens_of(row)
    window = context_window(row.model, row.provider)
    fill = tokens.total / window if window and tokens is not None else None
    counts = _counts(tokens) if tokens is not None else None
    marks = tuple(marks_of(row, fill, ledger.at(place) if ledger is not None else None))
    return StripTurn(place, row, _dollars(row, tokens), counts, so_far, window, fill, marks, addition, unpriced)


def _counts(tokens: Tokens) -> tuple[int, ...]:
    return (*(getattr(tokens, name) for name, _ in TOKEN_KINDS), 0)


def _dollars(row: Row, tokens: Tokens | None) -> Amounts | None:
    """The cost by kind. What was written to the cache is new or not, the rest of the input too, and output is text and
    reasoning: each is divided in proportion to its tokens."""
    if row.cost is None:
        return None
    parts = row.cost_parts
    if parts is None or tokens is None:
        return (*(_NOTHING for _ in TOKEN_KINDS), row.cost)
    rewritten, written = _divided(parts.cache_write, tokens.rewritten, tokens.cache_write)
    resent, new = _divided(parts.fresh, tokens.resent, tokens.new)
    reasoning, text = _divided(parts.output, tokens.reasoning, tokens.output)
    return parts.cache_read, rewritten, resent, written, new, text, reasoning, parts.other


_NOTHING = Decimal(0)


def _divided(amount: Decimal, first: int, second: int) -> tuple[Decimal, Decimal]:
    """An amount in proportion to two counts of tokens."""
    if not first:
        return _NOTHING, amount
    part = amount * first / (first + second)
    return part, amount - part


def _additions(turns: Iterable[tuple[int, Row]], ledger: "Ledger | None") -> dict[int, Addition]:
    """The largest additions, by place. The first turn of a thread adds nothing to one, and a retry nothing again."""
    found: dict[str, list[Addition]] = {}
    counted: set[tuple[str | None, int | None]] = set()
    largest = 0
    for place, row in turns:
        now, before = row.usage.input, row.before.input if row.before is not None else None
        largest = max(largest, now or 0)
        first = now is not None and (row.thread, row.turn) not in counted
        if now is not None:
            counted.add((row.thread, row.turn))
        if first and now is not None and before is not None and now > before and row.newest is not None:
            found.setdefault(row.thread or "", []).append(Addition(place, now - before, _name(row)))
    kept = [
        one
        for lane in found.values()
        for one in sorted(lane, key=lambda one: one.tokens, reverse=True)[:MOST_ADDED]
        if one.tokens >= LEAST_ADDED * largest
    ]
    return {one.place: _by_tokens(one, ledger) for one in kept}


def _by_tokens(addition: Addition, ledger: "Ledger | None") -> Addition:
    """The same, named by the piece with the most tokens, as far as the ledger has them."""
    entry = ledger.at(addition.place) if ledger is not None else None
    new = [use for use in entry.uses[entry.new :] if use.tokens is not None] if entry is not None else []
    if entry is None or entry.added is None or entry.added.value != addition.tokens or not new:
        return addition
    largest = max(new, key=lambda use: use.tokens.value if use.tokens is not None else 0)
    name = largest.piece.name.removeprefix("result of ")
    words = name.removeprefix(f"{largest.piece.tool} ")
    # The same words as before the ledger was there: of a shell, the command alone.
    name = words if addition.name.startswith(words) else name
    most = largest.tokens is not None and 2 * largest.tokens.value >= addition.tokens
    return replace(addition, name=name if most or len(new) == 1 else f"{name} and {len(new) - 1} more")


def _name(row: Row) -> str:
    newest = row.newest
    if newest is None:
        return ""
    return newest.name if newest.share >= 0.5 else f"{newest.name} and {newest.count - 1} more"
