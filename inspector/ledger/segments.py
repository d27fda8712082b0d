"""What the API's counts say of a stretch: how many tokens the first pieces have together, at some places.

Each count of a turn is such a sum, and so is what a request read from the cache or wrote to it up to a mark. Between
two neighbouring places the sum of the pieces is known.
"""

from collections.abc import Iterator

from turntape.cassettes.frozen import frozen

from .contents import FRAMING
from .stretch import SentTurn, Stretch

_NEAR = 16
"""A mark at the end of a prompt is followed by a few tokens that begin the answer. Such sums are the same sum."""


@frozen
class Segment:
    """Pieces whose tokens together are known."""

    start: int
    end: int
    total: int
    turn: SentTurn
    """The turn whose counts say so."""
    before: SentTurn | None = None
    """The turn whose count is subtracted; None for the beginning of a prompt, and where a mark ends the segment."""
    media: int | None = None
    """The tokens of pictures and files in it; None where the API does not count them apart."""

    @property
    def echo(self) -> int:
        """Up to this piece, the segment is the last answer, sent back."""
        follows = self.before is not None and self.turn.number == self.before.number + 1
        return min(max(self.turn.echo, self.start), self.end) if follows and self.turn.new <= self.start else self.start


def segments(stretch: Stretch) -> Iterator[Segment]:
    """The segments of a stretch, in the order of the prompt."""
    before, place, sum_before = None, 0, 0
    for turn in stretch.turns:
        if turn.input is None or turn.length <= place:
            continue
        for mark, total in _marks(turn, place, sum_before):
            yield Segment(place, mark, total - sum_before, turn)
            place, sum_before, before = mark, total, None
        media = turn.usage.input_media
        if media is not None and place:
            known = before.usage.input_media if before is not None else None
            media = None if known is None else media - known
        yield Segment(place, turn.length, turn.input - sum_before, turn, before, media)
        before, place, sum_before = turn, turn.length, turn.input


def _marks(turn: SentTurn, place: int, sum_before: int) -> Iterator[tuple[int, int]]:
    """The places of marks within the new pieces up to which the cache was read or written, with the tokens up to them.

    What was written ends at the last mark. What was read ends at an earlier one, which is known only if there is one.
    """
    usage, whole = turn.usage, turn.input or 0
    if not turn.marks or usage.cache_read is None or usage.cache_write is None:
        return
    known = [(turn.marks[-1], usage.cache_read + usage.cache_write)] if usage.cache_write else []
    if usage.cache_read and (len(turn.marks) == 2 if usage.cache_write else len(turn.marks) == 1):
        known.insert(0, (turn.marks[0], usage.cache_read))
    for mark, total in known:
        if place < mark < turn.length and sum_before < total < whole - _NEAR:
            yield mark, total
            place, sum_before = mark, total


@frozen
class Echo:
    """What an answer can have in the next prompt, in tokens."""

    value: int
    low: int
    high: int
    reasoning: int | None
    """The part of `value` that is reasoning; None where the answer has some and its counts do not say how much."""
    dropped: bool
    """Whether the next prompt is without the reasoning."""


def echo_of(before: SentTurn, pieces: int, around: int, verbatim: bool, drops: bool) -> Echo | None:
    """What the answer of `before` has in the next prompt, where it is `pieces` pieces; None where nothing is known.

    `around` is what usually is around an answer and is not in its count.
    An answer is counted once as output; sent back, it has the same tokens, with or without its reasoning, and a few
    around each piece. A client or a server that writes a call in another way changes its tokens.
    """
    usage = before.usage
    if usage.output is None or before.several or not usage.output:
        return None
    reasoning = min(usage.reasoning or 0, usage.output)
    stated = before.states_reasoning
    most = reasoning if stated else usage.output
    slack = FRAMING // 2 * (pieces + 1) + (usage.output // 4 if before.calls else 0)
    high = usage.output + slack if verbatim else usage.output * 2 + slack
    low = max(0, usage.output - most - slack) if verbatim else 0
    value = usage.output - (reasoning if drops else 0) + around
    return Echo(value, low, high, (0 if drops else reasoning) if stated else None, drops)
