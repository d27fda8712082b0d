"""Every figure of the ledger of runs whose true tokens are known, beside the truth.

A changed line must be nearer to the true tokens than it was, or a change elsewhere must be worth it.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import get_args

import pytest
from ledger_stories import STORIES
from syrupy.assertion import SnapshotAssertion

from turntape.inspector.ledger import Figure, GroupKey, Ledger, TurnEntry, ledger_of
from turntape.inspector.run.labels import label_all


def table(made: Ledger, truths: list[list[int]]) -> Iterator[str]:
    for turn in made.turns:
        yield f"turn {turn.place}, {turn.thread}: input {turn.input}, added {shown(turn.added)}, new from {turn.new}"
        costs = f"costs {dollars(turn.cost)}, input {dollars(turn.input_cost)}, output {dollars(turn.output_cost)}"
        yield f"  attempt {turn.attempt}, {turn.output} out, {costs}{', unpriced' if turn.unpriced else ''}"
        yield from uses(turn, truths[turn.place])
        for kind in turn.kinds:
            yield f"  all {kind.kind}: {kind.pieces}, {kind.size} bytes, {kind.tokens} tokens, {dollars(kind.cost)}"
        if turn.cache is not None:
            read, written = shown(turn.cache.read), shown(turn.cache.written)
            yield f"  cache: {turn.cache.rule}, {turn.cache.expected}, read {read}, written {written}"
            yield f"    read {turn.cache.actual_read}, written {turn.cache.actual_written}, {turn.cache.miss}"
    for piece in made.pieces:
        whose = f"tool {piece.tool}, server {piece.server}, {piece.thread}, row {piece.place} {piece.pointer}"
        yield f"piece {piece.id} {piece.kind} of turn {piece.turn}: {piece.name[:40]} ({whose})"
        yield f"  {shown(piece.first_tokens)}, then {shown(piece.tokens)}; {piece.size} bytes; {dollars(piece.cost)}"
        yield f"  sent {piece.sent}, read {piece.read}, written {piece.written}, {piece.tokens_sent} tokens"
    for by in get_args(GroupKey.__value__):
        for group in made.groups(by):
            sums = f"{group.pieces} pieces, {group.size} bytes, {group.tokens_sent} in, {group.output} out"
            flags = f"{', never called' if group.never_called else ''}{'' if group.counted else ', not counted'}"
            yield f"by {by}: {group.name[:40]}: {sums}, {dollars(group.cost)}{flags}"
    for one in made.others:
        yield f"beside turns: {one.place} {one.kind}, {one.input} in, {one.output} out, {dollars(one.cost)}"
    yield f"the dearest first: {[piece.id for piece in made.ranked()]}"
    yield f"all: {dollars(made.total)}, {made.unpriced} unpriced, {dollars(made.beside)} beside turns"


def uses(turn: TurnEntry, truth: list[int]) -> Iterator[str]:
    """A line for each piece of a prompt. The API's own text is in the first true number."""
    known = iter(truth)
    for use in turn.uses:
        true = "" if use.piece.kind == "other" else f" (true {next(known)})"
        yield f"  {use.piece.id:2} {use.piece.kind:9} {shown(use.tokens)}{true} {use.pointer}"
        yield f"     {dollars(use.cost)}: read {use.read}, written {use.written}, fresh {use.fresh}"


def shown(figure: Figure | None) -> str:
    return "-" if figure is None else f"{figure.value} {figure.certainty} {figure.low}..{figure.high}"


def dollars(cost: Decimal | None) -> str:
    return "-" if cost is None else f"${cost:.7f}"


@pytest.mark.parametrize("story", STORIES)
def test_the_figures_of_known_runs_are_as_near_to_the_truth_as_before(story: str, snapshot: SnapshotAssertion) -> None:
    made = STORIES[story]()

    assert list(table(ledger_of(label_all(made.trips)), made.truths)) == snapshot
