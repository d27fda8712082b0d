"""The tokens of each piece, from the API's own counts.

Within a stretch each prompt begins with the whole of the one before, so the difference of two counts is what the second
one has more. Of that, the last answer has what it was counted as output. Inside what these equations leave open, the
shape of the texts decides, at the rates that the same equations teach for each model. A piece has no more tokens than
bytes, and some for what is around it; from this follow the bounds.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from turntape.cassettes.frozen import frozen

from .allocate import Expected, divided, narrowed
from .contents import FRAMING, Content
from .learn import Model, learned
from .model import Certainty, Figure
from .segments import Echo, Segment, segments
from .stretch import Stretch

_CLOSE = 0.2
_FEW = 20
"""A range of so many tokens, or of this share of the figure, is small."""
_UNSURE = 0.1
"""The usual error of an estimated figure, as a share of it."""


@frozen
class Solved:
    """A stretch with the tokens of its pieces; None for those that only turns without counts have."""

    stretch: Stretch
    figures: "list[Figure | None]"
    ends: list[int]
    """`ends[n]` is how many tokens the first `n` pieces have."""


def solve(
    contents: Sequence[Content], stretches: Sequence[Stretch], rest: Callable[[], None] = lambda: None
) -> list[Solved]:
    """The tokens of all pieces; `contents` has the piece of each number. `rest` is called now and then."""
    parts = [list(segments(stretch)) for stretch in stretches]
    by_model: defaultdict[str, list[tuple[Stretch, list[Segment]]]] = defaultdict(list)
    for stretch, found in zip(stretches, parts, strict=True):
        by_model[stretch.model].append((stretch, found))
    models = {name: learned(name, contents, known) for name, known in by_model.items()}
    return [
        _solved(models[stretch.model], stretch, found, rest) for stretch, found in zip(stretches, parts, strict=True)
    ]


def _solved(model: Model, stretch: Stretch, found: Sequence[Segment], rest: Callable[[], None]) -> Solved:
    figures: list[Figure | None] = [None] * len(stretch.ids)
    for segment in found:
        rest()
        ids = stretch.ids[segment.start : segment.end]
        made = _figures(model, segment, list(ids))
        figures[segment.start : segment.end] = made
        model.figures.update(zip(ids, made, strict=True))
        if not segment.start:
            model.note_excess(stretch.thread, list(ids))
    ends = [0]
    for figure in figures:
        ends.append(ends[-1] + (figure.value if figure else 0))
    return Solved(stretch, figures, ends)


def _figures(model: Model, segment: Segment, ids: list[int]) -> list[Figure]:
    """The tokens of the pieces of a segment."""
    apart = _media_apart(model, segment, ids)
    if apart is not None:
        return apart
    total = segment.total
    if len(ids) == 1 and segment.start:
        return [Figure.exact(total)]
    unknown = [number for number in ids if number not in model.figures]
    if unknown and len(unknown) < len(ids) and segment.before is None:
        made = _beside_known(model, segment, ids, unknown)
        if made is not None:
            return made
    pieces = [model.expected(number, total) for number in ids]
    parted = segment.echo - segment.start
    before = segment.before
    echo = model.echo(before, segment.turn, ids[:parted]) if parted and before is not None else None
    if echo is not None:
        made = _parted(model, ids, pieces, parted, total, echo)
        if made is not None:
            return made
    _fill(model, ids, pieces, total)
    _add_prompt(model, ids, pieces)
    # The API may have put its own text in front of a whole prompt, so that its pieces have less than they could.
    low = total if segment.start else 0
    return _made(divided(total, pieces), narrowed(low, total, pieces))


def _media_apart(model: Model, segment: Segment, ids: list[int]) -> list[Figure] | None:
    """The figures where the API counts the pictures and files apart from the text; None where it does not.

    The text around them is not in that count.
    """
    media = [at for at, number in enumerate(ids) if model.contents[number].kind == "media"]
    sum_ = segment.media
    open_ = any(not model.contents[number].limited for at, number in enumerate(ids) if at not in media)
    if not media or sum_ is None or open_ or not 0 < sum_ < segment.total or media[0] < segment.echo - segment.start:
        return None
    text = [number for at, number in enumerate(ids) if at not in media]
    if not text:
        return None
    shown = [model.expected(ids[at], sum_) for at in media]
    made = dict(zip(media, _made(divided(sum_, shown), narrowed(sum_, sum_, shown)), strict=True))
    rest = iter(_figures(model, replace(segment, total=segment.total - sum_, media=None), text))
    return [made[at] if at in made else next(rest) for at in range(len(ids))]


def _beside_known(model: Model, segment: Segment, ids: list[int], unknown: list[int]) -> list[Figure] | None:
    """The figures of a prompt some of which is known: what is not, has the rest, if that is possible.

    What is known only nearly gives and takes a little, so that an error of it is not all in what is new.
    """
    total = segment.total
    known = {number: model.figures[number] for number in ids if number in model.figures}
    rest = total - sum(figure.value for figure in known.values())
    new = [model.expected(number, total) for number in unknown]
    open_ = sum(one.high - one.low for one in known.values()) + FRAMING
    if not -open_ < rest <= sum(one.high for one in new) + open_:
        return None
    _fill(model, unknown, new, max(0, rest))
    by_number = dict(zip(unknown, new, strict=True))
    pieces = [by_number.get(number) or _nearly(known[number], total) for number in ids]
    model.add_excess(segment.turn.thread, ids, dict(zip(ids, pieces, strict=True)))
    bounds = narrowed(max(0, rest - open_) if segment.start else 0, max(0, rest + open_), new)
    values = divided(total, pieces)
    made = dict(zip(unknown, bounds, strict=True))
    return [
        _figure(value, *made[number]) if number in made else _moved(known[number], value)
        for number, value in zip(ids, values, strict=True)
    ]


def _nearly(figure: Figure, total: int) -> Expected:
    """What is expected of a piece that had these tokens in another prompt."""
    give = 0.01 + min((figure.high - figure.low) / 4, _UNSURE * figure.value) ** 2
    low = max(0, figure.low - FRAMING // 2)
    return Expected(figure.value, low, max(low, min(figure.high + FRAMING // 2, total)), give)


def _moved(figure: Figure, value: int) -> Figure:
    """The figure of a piece that has other tokens here than in another prompt."""
    return figure if figure.value == value else _figure(value, figure.low, figure.high)


def _add_prompt(model: Model, ids: Sequence[int], pieces: list[Expected]) -> None:
    """Share out among the definitions what the API adds for tools."""
    tools = [one for number, one in zip(ids, pieces, strict=True) if model.contents[number].kind == "tool"]
    for one in tools:
        one.prior += model.definitions.added / len(tools)


def _fill(model: Model, ids: Sequence[int], pieces: Sequence[Expected], total: int) -> None:
    """Expect what the other pieces leave of those that nothing is known of."""
    open_ = [one for number, one in zip(ids, pieces, strict=True) if model.contents[number].kind == "other"]
    if open_:
        left = max(0.0, total - sum(one.prior for one in pieces) + sum(one.prior for one in open_))
        for one in open_:
            one.prior = left / len(open_)
            one.give = max(1.0, one.prior)


def _parted(
    model: Model, ids: list[int], pieces: list[Expected], parted: int, total: int, echo: Echo
) -> list[Figure] | None:
    """The figures where the last answer and what the client added are known apart; None if that is impossible."""
    answer, rest = pieces[:parted], pieces[parted:]
    low = max(echo.low, sum(one.low for one in answer), total - sum(one.high for one in rest))
    high = min(echo.high, sum(one.high for one in answer), total - sum(one.low for one in rest))
    if low > high:
        return None
    if not rest:
        low = high = total
    said = [model.contents[number] for number in ids[:parted]]
    thoughts = [one for content, one in zip(said, answer, strict=True) if content.kind == "reasoning"]
    for one in thoughts:
        one.prior = 0.0
    value, thought = echo.value, echo.reasoning
    if thought is None:
        # The count has all, and does not say how much of it is words and calls.
        spoken = sum(one.prior for one in answer)
        thought = 0.0 if echo.dropped else max(0.0, value - spoken)
        value = round(min(value, spoken + thought))
    value = min(max(value, low), high)
    # A thought that is not in the history in words is in the signature of something else.
    holders = thoughts or [one for content, one in zip(said, answer, strict=True) if not content.limited]
    for one in holders:
        one.prior += thought / len(holders)
        one.give = max(1.0, one.prior)
    first = _made(divided(value, answer), narrowed(low, high, answer))
    added = _made(divided(total - value, rest), narrowed(total - high, total - low, rest))
    return first + added


def _made(values: Sequence[int], bounds: Sequence[tuple[int, int]]) -> list[Figure]:
    return [_figure(value, low, high) for value, (low, high) in zip(values, bounds, strict=True)]


def _figure(value: int, low: int, high: int) -> Figure:
    low, high = min(low, value), max(high, value)
    return Figure(value, low, high, certainty(low, high))


def certainty(low: int, high: int) -> Certainty:
    """How sure a figure with these bounds is."""
    if low == high:
        return "exact"
    return "bounded" if high - low <= max(_FEW, _CLOSE * high) else "estimated"
