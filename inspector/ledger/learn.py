"""What is learned of one model's tokens from the counts of the recording: rates, texts that came alone, reasoning."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from statistics import median

from turntape.cassettes.frozen import frozen, mutable

from .allocate import Expected
from .contents import FRAMING, Content
from .definition_tokens import Definitions, definitions_of
from .fit import Rates, Sum, fitted
from .model import Figure
from .picture_tokens import picture_tokens
from .segments import Echo, Segment, echo_of
from .shape import ANSWER, CALLED, MESSAGE, REASONING, Shape, tokens_of
from .stretch import SentTurn, Stretch

_THOUGHT = 20
"""Fewer tokens of reasoning do not show whether an API drops them."""
_SURE = 0.15
"""How far the share of reasoning that comes back must be from a half to decide."""
_PICTURE = 800
"""Tokens of a picture or a document of which nothing is known."""
_END = 1
"""The token that ends an answer, which is in its count."""
_HEAD = ("system", "tool")
"""The kinds of pieces in front of the messages."""
_UNSURE = 0.15
"""The usual error of a guess from a shape, as a share of it."""


@frozen
class Added:
    """What one turn added: the last answer, and what the client put behind it."""

    answer: list[int]
    rest: list[int]
    total: int
    said: int
    """Of the total, the answer without its reasoning."""
    thought: int
    """The answer's reasoning, which is in the total or not."""
    stated: bool
    """Whether the counts say how much of the answer is reasoning."""
    calls: int
    """How many calls the answer has."""


@mutable
class Model:
    """What is known of one model's tokens, as `learned` finds it."""

    name: str
    contents: Sequence[Content]
    rates: Rates
    drops: tuple[bool | None, ...]
    """Whether the API leaves reasoning out of the next prompt, before calls and before text; None when nothing shows
    it."""
    alone: dict[bytes, float]
    """By digest, the tokens of texts that were counted alone, without what is around a message."""
    figures: dict[int, Figure]
    """By the number of the piece."""
    definitions: Definitions
    excess: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """By thread and kind, how many tokens more than by their shapes the system prompt and the definitions had."""

    def note_excess(self, thread: str, ids: Sequence[int]) -> None:
        """Note what the system prompt and the definitions of a prompt have beyond their shapes: it will be there again
        when one of them changes."""
        for kind in _HEAD:
            found = [number for number in ids if self.contents[number].kind == kind and number in self.figures]
            if found:
                self.excess[thread, kind] = sum(self.figures[one].value - self.likely(one) for one in found)

    def add_excess(self, thread: str, ids: Sequence[int], pieces: Mapping[int, Expected]) -> None:
        """Expect what was noted, of those of these pieces that are new; `pieces` has all by number.

        What does not fit into a new system prompt was never a part of the old one. It is in the definitions then.
        """
        for kind in _HEAD:
            likely = {number: self.likely(number) for number in ids if self.contents[number].kind == kind}
            whole = sum(likely.values()) or 1.0
            for number in likely.keys() - self.figures.keys():
                one, more = pieces[number], self.excess.get((thread, kind), 0.0) * likely[number] / whole
                one.prior = max(1.0, one.prior + more)
        tools = [number for number in ids if self.contents[number].kind == "tool"]
        system = [pieces[number] for number in ids if self.contents[number].kind == "system"]
        over = sum(max(0.0, one.prior - one.high) for one in system)
        for number in tools:
            pieces[number].prior += over / len(tools)

    def echo(self, before: SentTurn, now: SentTurn, ids: Sequence[int]) -> Echo | None:
        """What the answer of `before` has in the prompt of `now`, where it is these pieces."""
        drops = self.drops[0 if before.calls else 1]
        drops = drops if drops is not None else not before.keeps
        # What is not in the request is not in the prompt, whatever the API does with what is.
        drops = drops or not any(self.contents[number].may_think for number in ids)
        return echo_of(before, len(ids), round(self.around(before.calls)), now.verbatim, drops)

    def around(self, calls: int) -> float:
        """How many tokens an answer with so many calls has more in the next prompt than in its count."""
        return self.rates[MESSAGE] + self.rates[ANSWER] + calls * self.rates[CALLED]

    def likely(self, number: int) -> float:
        """The tokens of a text: those it had alone, else from its shape."""
        content = self.contents[number]
        known = self.alone.get(content.digest)
        if known is not None:
            return known + content.shape[MESSAGE] * self.rates[MESSAGE]
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
            give = 0.1 if content.digest in self.alone else 1.0 + (_UNSURE * prior) ** 2
            return Expected(prior, 0, ceiling, give)
        if content.pixels is not None and (seen := picture_tokens(self.name, *content.pixels)) is not None:
            return Expected(min(seen, total), 0, total, 1.0 + seen / 50)
        prior = float(_PICTURE) if content.kind == "media" else self.likely(number)
        return Expected(min(prior, total), 0, total, 1.0 + 2 * (_UNSURE * prior) ** 2)


def learned(name: str, contents: Sequence[Content], known: Iterable[tuple[Stretch, list[Segment]]]) -> Model:
    """What the sums of a model's stretches teach."""
    definitions = definitions_of(name)
    first: list[Sum] = []
    added: list[Added] = []
    for stretch, found in known:
        for segment in found:
            if segment.before is None:
                ids = stretch.ids[segment.start : segment.end]
                tools = any(contents[number].kind == "tool" for number in ids)
                alone = segment.total - (definitions.added if tools else 0)
                first += _sum(contents, ids, alone, factor=definitions.factor)
            elif (one := _added(contents, stretch, segment, segment.before)) is not None:
                added.append(one)
    sums = [made for one in added if one.stated for made in _sums(contents, one)]
    rates = fitted(sums or first)
    if any(not one.stated for one in added):
        added = [one if one.stated else _parted(contents, one, rates) for one in added]
        sums += [made for one in added if not one.stated for made in _sums(contents, one)]
        rates = fitted(sums or first)
    drops = tuple(_drops(sums, rates, at) for at in REASONING)
    if any(one is not None for one in drops):
        rates = fitted([_decided(one, drops) for one in sums])
    model = Model(name, contents, rates, drops, {}, {}, definitions)
    model.alone.update(_alone(model, added))
    return model


def _added(contents: Sequence[Content], stretch: Stretch, segment: Segment, before: SentTurn) -> Added | None:
    """What a segment says of an answer and what follows it; None where the answer's part is not known."""
    ids = list(stretch.ids[segment.start : segment.end])
    answer, rest = ids[: segment.echo - segment.start], ids[segment.echo - segment.start :]
    if not answer:
        return Added([], rest, segment.total, 0, 0, True, 0)
    thought = min(before.usage.reasoning or 0, before.usage.output or 0)
    said = (before.usage.output or 0) - thought
    if not segment.turn.verbatim or before.several or said <= 0:
        return None
    thought = thought if any(contents[number].may_think for number in answer) else 0
    return Added(answer, rest, segment.total, said, thought, before.states_reasoning, before.calls)


def _parted(contents: Sequence[Content], one: Added, rates: Rates) -> Added:
    """An answer whose counts do not say how much is reasoning: what its words and calls leave."""
    shapes = [contents[number].shape for number in one.answer if contents[number].kind != "reasoning"]
    likely = sum(tokens_of((*shape[:MESSAGE], 0, *shape[MESSAGE + 1 :]), rates) for shape in shapes)
    spoken = min(one.said, max(1, round(likely) + _END))
    thinks = any(contents[number].may_think for number in one.answer)
    return replace(one, said=spoken, thought=one.said - spoken if thinks else 0)


def _sums(contents: Sequence[Content], one: Added) -> list[Sum]:
    if not one.answer:
        return _sum(contents, one.rest, one.total)
    spoken = [number for number in one.answer if contents[number].kind != "reasoning"]
    rest = _sum(contents, one.rest, one.total - one.said, one.thought, calls=one.calls)
    # Where the share of the words was found from their shape, it teaches nothing of that.
    return (_sum(contents, spoken, one.said - _END, message=False) if one.stated else []) + rest


def _sum(
    contents: Sequence[Content],
    ids: Sequence[int],
    tokens: int,
    thought: int | None = None,
    *,
    calls: int = 0,
    message: bool = True,
    factor: float = 1.0,
) -> list[Sum]:
    """What these pieces teach; nothing when not all of them are text.

    `thought` is the reasoning of the answer before them, if there is one. Without `message`, only what is around each
    of them is in the sum. `factor` is for the shapes of definitions.
    """
    if not ids or tokens <= 0 or any(not contents[number].limited for number in ids):
        return []
    shape = [sum(one) for one in zip(*(_scaled(contents[number], factor) for number in ids), strict=True)]
    if not message:
        shape[MESSAGE] = 0
    if thought is not None:
        shape[ANSWER] = 1
        shape[MESSAGE] += 1
        shape[REASONING[0 if calls else 1]] = thought
        shape[CALLED] = calls
    return [Sum(tuple(shape), tokens)]


def _scaled(content: Content, factor: float) -> Shape:
    if content.kind != "tool" or factor == 1.0:
        return content.shape
    return tuple(round(count * factor) for count in content.shape)


def _drops(sums: Iterable[Sum], rates: Rates, at: int) -> bool | None:
    """Whether reasoning is left out, where the sums show it."""
    seen = any(one.shape[at] >= _THOUGHT for one in sums)
    return rates[at] < 0.5 if seen and abs(rates[at] - 0.5) > _SURE else None


def _decided(one: Sum, drops: tuple[bool | None, ...]) -> Sum:
    """A sum without the reasoning of which it is known whether it comes back."""
    shape, tokens = list(one.shape), one.tokens
    for at, dropped in zip(REASONING, drops, strict=True):
        if dropped is not None:
            tokens -= 0 if dropped else shape[at]
            shape[at] = 0
    return Sum(tuple(shape), tokens)


def _alone(model: Model, added: Iterable[Added]) -> dict[bytes, float]:
    """The texts that were alone behind an answer, by digest, with their tokens without what is around a message."""
    found: defaultdict[bytes, list[float]] = defaultdict(list)
    for one in added:
        drops = model.drops[0 if one.calls else 1]
        if len(one.rest) != 1 or not one.answer or (one.thought and drops is None):
            continue
        content = model.contents[one.rest[0]]
        tokens = one.total - one.said - (0 if drops else one.thought) - model.around(one.calls)
        tokens -= content.shape[MESSAGE] * model.rates[MESSAGE]
        if content.limited and tokens >= 1:
            found[content.digest].append(tokens)
    return {digest: median(tokens) for digest, tokens in found.items()}
