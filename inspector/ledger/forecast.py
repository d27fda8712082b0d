"""What a request will be counted as, before its answer says it: for a turn that is still open."""

from collections.abc import Sequence

from turntape.cassettes.frozen import frozen

from .contents import Content
from .learn import learned
from .segments import segments
from .stretch import Stretch

_NO_SUM = 1 << 40


@frozen
class Forecast:
    """What a turn adds to the input of the one before, in tokens."""

    tokens: float
    by_bytes: float
    """The same by the tokens of a byte in the turn before, to compare with."""


def forecast(contents: Sequence[Content], stretches: Sequence[Stretch], place: int) -> Forecast | None:
    """What the turn at `place` adds; None where no earlier turn of its thread has counts, or its prompt is another."""
    stretch = next((one for one in reversed(stretches) if any(turn.place == place for turn in one.turns)), None)
    if stretch is None:
        return None
    now = next(turn for turn in stretch.turns if turn.place == place)
    before = stretch.counted
    if before is None or before.input is None or before.number >= now.number or before.summed or now.summed:
        return None
    known = [(one, list(segments(one))) for one in stretches if one.model == stretch.model]
    model = learned(stretch.model, contents, known)
    ids = stretch.ids[before.length : now.length]
    answer = list(ids[: max(0, now.echo - before.length)])
    echo = model.echo(before, now, answer) if answer else None
    apart = ids if echo is None else ids[len(answer) :]
    tokens = sum(model.expected(number, _NO_SUM).prior for number in apart) + (echo.value if echo else 0)
    size = sum(contents[number].size for number in stretch.ids[: before.length]) or 1
    return Forecast(tokens, before.input * sum(contents[number].size for number in ids) / size)
