"""A run's pieces and turns, summed up: what was sent, read, written and paid over all requests.

A whole range of pieces has one price in one turn, so sums are made from what changes at the ends of such ranges. The
time grows with the turns and the pieces, not with their product.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import accumulate

from ..analysis.pricing import cost_of
from ..wire.values import Usage
from .bill import WRITES, Bill, Zone, bill_of, shares
from .cache import with_price
from .contents import Content
from .groups import Paid, grouped
from .kinds import KindSums
from .model import Figure, Ledger, OtherRequest, Piece, TurnEntry
from .pieces import Pieces
from .solve import Solved, certainty
from .stretch import SentOther, SentTurn
from .uses import Uses


def summed_up(
    known: Pieces,
    solved: Sequence[Solved],
    rest: Callable[[], None] = lambda: None,
    others: Sequence[SentOther] = (),
) -> Ledger:
    """The ledger of a run whose stretches are solved. `rest` is called between two turns."""
    pieces = list(_pieces(known))
    turns: list[TurnEntry] = []
    sent = {turn.place: turn for one in solved for turn in one.stretch.turns}
    paid: list[Paid] = []
    for one in solved:
        bills = [(turn, bill_of(turn)) for turn in one.stretch.turns]
        _add_up(one, bills, pieces)
        kinds = KindSums(one, pieces)
        for turn, bill in bills:
            rest()
            turns.append(_entry(Uses(one, turn, bill, pieces, kinds), sent))
            whole = bill.cost.amount if bill.cost else None
            divided = bill.input is not None or whole is None
            spent = bill.output if divided else whole
            paid.append(Paid(turn.thread, turn.usage.output, spent, divided))
    turns.sort(key=lambda turn: turn.place)
    beside = [_other(one) for one in others]
    costs = [one.cost for one in (*turns, *beside) if one.cost is not None]
    return Ledger(
        turns=turns,
        pieces=pieces,
        total=sum(costs, Decimal(0)) if costs else None,
        unpriced=sum(turn.unpriced for turn in turns) + sum(one.unpriced for one in beside),
        others=beside,
        grouped=grouped(pieces, paid, known.starts, beside),
    )


def _other(one: SentOther) -> OtherRequest:
    _, reading = one.priced
    usage, cost = reading.usage or Usage(), one.cost or cost_of(*one.priced)
    whole = cost is None or not cost.unpriced_fees
    return OtherRequest(one.place, reading.kind, usage.input, usage.output, cost.amount if cost else None, whole)


def _pieces(known: Pieces) -> Iterator[Piece]:
    for number, (content, first) in enumerate(zip(known.contents, known.firsts, strict=True)):
        yield Piece(
            id=number,
            kind=content.kind,
            name=content.name,
            tool=content.tool,
            server=_server(known, content),
            thread=first.thread,
            place=first.place,
            turn=first.turn,
            pointer=content.pointer,
            size=content.size,
            # A tool that the API runs (its definition is not limited to its bytes) needs no call in an answer.
            never_called=content.kind == "tool" and content.limited and content.tool not in known.called,
        )


def _server(known: Pieces, content: Content) -> str | None:
    """The MCP server of a tool: by its own wire, else by a name such as `mcp__server__tool`."""
    if content.call_id in known.servers_by_call:
        return known.servers_by_call[content.call_id]
    if content.tool is None:
        return None
    if content.tool in known.servers:
        return known.servers[content.tool]
    mark, _, rest = content.tool.partition("__")
    server, _, name = rest.partition("__")
    return server if mark == "mcp" and server and name else None


def _entry(uses: Uses, sent: dict[int, SentTurn]) -> TurnEntry:
    turn, bill = uses.turn, uses.bill
    return TurnEntry(
        place=turn.place,
        thread=turn.thread,
        turn=turn.number,
        attempt=turn.attempt,
        input=turn.input,
        added=_added(uses, sent),
        output=turn.usage.output,
        input_cost=bill.input,
        output_cost=bill.output,
        cost=bill.cost.amount if bill.cost else None,
        unpriced=not turn.refused if bill.cost is None else bool(bill.cost.unpriced_fees),
        new=turn.new,
        make=uses.made,
        make_kinds=uses.by_kind,
        cache=with_price(turn.cache, *turn.priced, bill.cost.rates if bill.cost else None),
    )


def _added(uses: Uses, sent: dict[int, SentTurn]) -> Figure | None:
    """What a prompt has more than the previous one of its thread.

    With the same tools and system prompt it is the difference of the API's counts. With others, or where the counts add
    up several prompts, it is the sum of what was not sent before.
    """
    turn = uses.turn
    before = sent[turn.before] if turn.before is not None else None
    if turn.input is None or before is None or before.input is None or turn.skipped:
        return None
    if turn.same_head and not turn.summed and not before.summed:
        return Figure.exact(turn.input - before.input)
    stretch, figures = uses.solved.stretch, uses.solved.figures
    fresh = [
        figure
        for number, figure in zip(stretch.ids[: turn.length], figures, strict=False)
        if figure is not None and uses.pieces[number].place == turn.place
    ]
    low, high = sum(one.low for one in fresh), sum(one.high for one in fresh)
    return Figure(sum(one.value for one in fresh), low, high, certainty(low, high))


def _add_up(solved: Solved, bills: Sequence[tuple[SentTurn, Bill]], pieces: Sequence[Piece]) -> None:
    """Add what the turns of a stretch cost to its pieces."""
    size = len(solved.stretch.ids) + 1
    cost, sent, counted = [Decimal(0)] * size, [0] * size, [0] * size
    priced, read, written = [0] * size, [0] * size, [0] * size
    rest = [Decimal(0)] * size
    for turn, bill in bills:
        sent[0] += 1
        sent[turn.length] -= 1
        if turn.input is None:
            continue
        counted[0] += 1
        counted[turn.length] -= 1
        if bill.input is not None and turn.length:
            priced[0] += 1
            priced[turn.length] -= 1
            rest[turn.length - 1] += bill.rest
        for share in shares(bill.zones, solved.ends, turn.length):
            cost[share.first] += share.zone.rate
            cost[share.last] -= share.zone.rate
            for at, tokens in share.parts:
                rest[at] += share.zone.rate * tokens
        _mark(read, [zone for zone in bill.zones if zone.kind == "read"], solved.ends, turn.length)
        _mark(written, [zone for zone in bill.zones if zone.kind in WRITES], solved.ends, turn.length)
    sums = zip(
        *(list(accumulate(one)) for one in (sent, counted, priced, read, written)), accumulate(cost), rest, strict=True
    )
    for at, (times, counts, prices, reads, writes_, rate, more) in enumerate(sums):
        if at == size - 1:
            break
        piece, figure = pieces[solved.stretch.ids[at]], solved.figures[at]
        piece.sent += times
        piece.read += reads
        piece.written += writes_
        if figure is None:
            continue
        piece.tokens = figure
        piece.first_tokens = piece.first_tokens or figure
        piece.tokens_sent += figure.value * counts
        if prices:
            piece.cost = (piece.cost or Decimal(0)) + rate * figure.value + more


def _mark(counts: list[int], zones: Sequence[Zone], ends: Sequence[int], length: int) -> None:
    """Count the pieces of which something is in these zones, which are neighbours."""
    if zones:
        (share,) = shares([replace(zones[0], end=zones[-1].end)], ends, length)
        numbers = [at for at, _ in share.parts]
        counts[min(share.first, *numbers, share.first)] += 1
        counts[max(share.last, *(at + 1 for at in numbers), share.last)] -= 1
