"""The tokens of each piece, from the API's own counts.

Within a stretch each prompt begins with the whole of the one before, so the difference of two counts is what the second
one has more. Of that, the last answer has what it was counted as output. Inside what these equations leave open, the
shape of the texts decides, at the rates that the same equations teach for each model. A piece has no more tokens than
bytes, and some for what is around it; from this follow the bounds.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .allocate import Expected, divided, narrowed
from .contents import FRAMING, Content
from .definition_tokens import Definitions, definitions_of
from .fit import Rates, Sum, fitted
from .model import Certainty, Figure
from .picture_tokens import picture_tokens
from .segments import Echo, Segment, echo_of, segments
from .shape import ANSWER, MESSAGE, REASONING, Shape, tokens_of
from .stretch import SentTurn, Stretch

_CLOSE = 0.2
_FEW = 20
"""A range of so many tokens, or of this share of the figure, is small."""
_THOUGHT = 20
"""Fewer tokens of reasoning do not show whether an API drops them."""
_SURE = 0.15
"""How far the share of reasoning that comes back must be from a half to decide."""
_ANSWERED = (0,) * (MESSAGE + 1)
"""An answer's count has nothing of what is around a message."""
_PICTURE = 800
"""Tokens of a picture or a document of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Solved:
    """A stretch with the tokens of its pieces; None for those that only turns without counts have."""

    stretch: Stretch
    figures: "list[Figure | None]"
    ends: list[int]
    """`ends[n]` is how many tokens the first `n` pieces have."""


def solve(contents: Sequence[Content], stretches: Sequence[Stretch]) -> list[Solved]:
    """The tokens of all pieces; `contents` has the piece of each number."""
    parts = [list(segments(stretch)) for stretch in stretches]
    by_model: defaultdict[str, list[tuple[Stretch, list[Segment]]]] = defaultdict(list)
    for stretch, found in zip(stretches, parts, strict=True):
        by_model[stretch.model].append((stretch, found))
    models = {name: learned(name, contents, known) for name, known in by_model.items()}
    return [_solved(models[stretch.model], stretch, found) for stretch, found in zip(stretches, parts, strict=True)]


@dataclass(slots=True)
class Model:
    """What is known of one model's tokens, as `learned` finds it."""

    name: str
    contents: Sequence[Content]
    rates: Rates
    drops: bool | None
    """Whether the API leaves reasoning out of the next prompt; None when nothing shows it."""
    figures: dict[int, Figure]
    """By the number of the piece."""
    definitions: Definitions

    def echo(self, before: SentTurn, now: SentTurn, ids: Sequence[int]) -> Echo | None:
        """What the answer of `before` has in the prompt of `now`, where it is these pieces."""
        drops = self.drops if self.drops is not None else not before.keeps
        # What is not in the request is not in the prompt, whatever the API does with what is.
        drops = drops or not any(self.contents[number].may_think for number in ids)
        return echo_of(before, len(ids), round(self.rates[ANSWER]), now.verbatim, drops)

    def likely(self, number: int) -> float:
        """The tokens of a text, from its shape."""
        content = self.contents[number]
        factor = self.definitions.factor if content.kind == "tool" else 1.0
        return factor * tokens_of(content.shape, self.rates)

    def expected(self, number: int, total: int) -> Expected:
        """What is known of a piece, as a part of a sum."""
        content, known = self.contents[number], self.figures.get(number)
        ceiling = total if content.ceiling is None else min(content.ceiling, total)
        if known is not None:
            low, high = max(0, known.low - FRAMING // 2), min(known.high + FRAMING // 2, total)
            return Expected(known.value, low, max(low, high), 0.5 + known.value / 50)
        if content.limited:
            prior = self.likely(number)
            return Expected(prior, 0, ceiling, max(1.0, prior))
        if content.pixels is not None and (seen := picture_tokens(self.name, *content.pixels)) is not None:
            return Expected(min(seen, total), 0, total, 1.0 + seen / 50)
        prior = float(_PICTURE) if content.kind == "media" else self.likely(number)
        return Expected(min(prior, total), 0, total, max(1.0, 2 * prior))


def learned(name: str, contents: Sequence[Content], known: Iterable[tuple[Stretch, list[Segment]]]) -> Model:
    """The rates of a model, and whether its API drops reasoning."""
    sums: list[Sum] = []
    first: list[Sum] = []
    definitions = definitions_of(name)
    for stretch, found in known:
        for segment in found:
            ids = list(stretch.ids[segment.start : segment.end])
            answer, rest = ids[: segment.echo - segment.start], ids[segment.echo - segment.start :]
            if segment.before is None:
                tools = sum(contents[number].kind == "tool" for number in ids)
                alone = segment.total - (definitions.added if tools else 0)
                first += _sum(contents, ids, alone, factor=definitions.factor)
                continue
            usage = segment.before.usage
            thought = min(usage.reasoning or 0, usage.output or 0)
            said = (usage.output or 0) - thought
            if answer and segment.turn.verbatim and not segment.before.several and said > 0:
                spoken = [number for number in answer if contents[number].kind != "reasoning"]
                sums += _sum(contents, spoken, said, *_ANSWERED)
                thought = thought if any(contents[number].may_think for number in answer) else 0
                sums += _sum(contents, rest, segment.total - said, 1, thought)
            elif not answer:
                sums += _sum(contents, rest, segment.total)
    rates = fitted(sums or first)
    seen = sum(one.shape[REASONING] >= _THOUGHT for one in sums)
    returned = rates[REASONING]
    drops = returned < 0.5 if seen and abs(returned - 0.5) > _SURE else None
    return Model(name, contents, rates, drops, {}, definitions)


def _sum(
    contents: Sequence[Content], ids: Sequence[int], tokens: int, *answered: int, factor: float = 1.0
) -> list[Sum]:
    """What these pieces teach, with what comes back of the answer before them beside its words: whether there is one,
    and its reasoning. Nothing when not all pieces are text. `factor` is for the shapes of definitions."""
    if not ids or tokens <= 0 or any(not contents[number].limited for number in ids):
        return []
    shapes = [_scaled(contents[number], factor) for number in ids]
    shape = [sum(one) for one in zip(*shapes, strict=True)]
    return [Sum((*answered, *shape[len(answered) :]), tokens)]


def _scaled(content: Content, factor: float) -> Shape:
    if content.kind != "tool" or factor == 1.0:
        return content.shape
    return tuple(round(count * factor) for count in content.shape)


def _solved(model: Model, stretch: Stretch, found: Sequence[Segment]) -> Solved:
    figures: list[Figure | None] = [None] * len(stretch.ids)
    for segment in found:
        ids = stretch.ids[segment.start : segment.end]
        made = _figures(model, segment, list(ids))
        figures[segment.start : segment.end] = made
        model.figures.update(zip(ids, made, strict=True))
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
    if len(ids) == 1:
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
    """The figures of a prompt most of which is known: what is not, has the rest, if that is possible."""
    total = segment.total
    rest = total - sum(model.figures[number].value for number in ids if number in model.figures)
    pieces = [model.expected(number, total) for number in unknown]
    if not 0 < rest <= sum(one.high for one in pieces):
        return None
    _fill(model, unknown, pieces, rest)
    open_ = sum(one.high - one.low for one in (model.figures[n] for n in ids if n in model.figures)) + FRAMING
    bounds = narrowed(max(0, rest - open_) if segment.start else 0, rest + open_, pieces)
    made = dict(zip(unknown, _made(divided(rest, pieces), bounds), strict=True))
    return [made.get(number) or model.figures[number] for number in ids]


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
    value = min(max(echo.value, low), high)
    said = [model.contents[number] for number in ids[:parted]]
    thoughts = [one for content, one in zip(said, answer, strict=True) if content.kind == "reasoning"]
    for one in thoughts:
        one.prior = 0.0
    # A thought that is not in the history in words is in the signature of something else.
    holders = thoughts or [one for content, one in zip(said, answer, strict=True) if not content.limited]
    for one in holders:
        one.prior += echo.reasoning / len(holders)
        one.give = max(1.0, one.prior)
    first = _made(divided(value, answer), narrowed(low, high, answer))
    added = _made(divided(total - value, rest), narrowed(total - high, total - low, rest))
    return first + added


def _made(values: Sequence[int], bounds: Sequence[tuple[int, int]]) -> list[Figure]:
    made: list[Figure] = []
    for value, (low, high) in zip(values, bounds, strict=True):
        low, high = min(low, value), max(high, value)
        made.append(Figure(value, low, high, certainty(low, high)))
    return made


def certainty(low: int, high: int) -> Certainty:
    """How sure a figure with these bounds is."""
    if low == high:
        return "exact"
    return "bounded" if high - low <= max(_FEW, _CLOSE * high) else "estimated"
