"""What of a growth strip is shown: the cursor, and in playback what has arrived so far."""

from collections.abc import Sequence
from decimal import Decimal

from turntape.cassettes.frozen import frozen

from ...run.strip import Bar, StripTurn
from ..vocabulary.kinds import KIND_LOOKS


@frozen
class Shown:
    """What of a strip is shown."""

    place: int | None = None
    """The row of the cursor."""
    under: int | None = None
    """The row under the mouse."""
    playing: int | None = None
    """The row that is being played: what comes after it is hidden."""
    share: float = 1.0
    """How much of its answer has arrived."""
    coloured: bool = True

    def hides(self, bar: Bar) -> bool:
        """Whether nothing of the bar has happened yet."""
        return self.playing is not None and bar.first.place > self.playing

    def is_open(self, turn: StripTurn) -> bool:
        """Whether the turn is being played, and its answer has not arrived in full."""
        return self.playing == turn.place and self.share < 1


def arrived(amounts: Sequence[Decimal], share: float) -> Sequence[Decimal]:
    """The amounts of a turn when that share of its answer has arrived: the whole input, a part of the output."""
    part = Decimal(str(round(share, 4)))
    output = {"output", "reasoning"}
    return [amount * part if kind.name in output else amount for kind, amount in zip(KIND_LOOKS, amounts, strict=True)]


def so_far(shown: Shown, bar: Bar) -> Decimal:
    """The cost so far at a bar; in playback without what the turn that is being played will still cost."""
    if shown.playing is None:
        return bar.so_far
    seen = [turn for turn in bar.turns if turn.place <= shown.playing]
    last = seen[-1]
    if last.place < shown.playing or shown.share >= 1 or last.dollars is None:
        return last.so_far
    return last.so_far - sum(last.dollars, Decimal(0)) + sum(arrived(last.dollars, shown.share), Decimal(0))
