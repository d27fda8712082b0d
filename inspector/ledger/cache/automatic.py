"""Caches that keep what they like: on a grid, in whole units, in one slot, or without any promise."""

from collections.abc import Sequence
from dataclasses import field, replace

from turntape.cassettes.frozen import mutable

from ...wire.cache_rules import CacheRule, Grid
from ..model import Expectation, Figure
from .prediction import MAYBE_NOTHING, NOTHING, UNKNOWN, Answered, Prediction
from .prefix_tree import PrefixTree, shared_nodes
from .prompt import Prompt


@mutable
class CommonPrefix:
    """What a request has in common with earlier ones: the base of all automatic caches."""

    rule: CacheRule
    tree: PrefixTree
    _asked: int = 0
    _answers: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """Tokens of the answer to the prompt that ends with a node: all, and without reasoning."""
    _foreign: bool = False
    """Whether it holds prompts that the tape does not show."""

    def predict(self, prompt: Prompt) -> Prediction:
        if not self._asked:
            return UNKNOWN
        position, dead = self._common(prompt)
        figure = self._tokens(prompt, position)
        last = self.tree.last_seen(prompt.nodes, dead) if dead is not None else None
        gone = last.place if last is not None else None
        lost = (self.tree.tokens[prompt.nodes[dead]] or 0) if dead is not None else 0
        if figure is None:
            return Prediction("unknown", None, -1, gone, lost)
        read = self._cut(figure)
        short = figure.value > 0 and figure.value < self.rule.minimum
        if read.value == 0:
            if self._foreign or self.rule.vague:
                return Prediction("possible", MAYBE_NOTHING, -1, gone, lost, short)
            return Prediction("expected", NOTHING.read, -1, gone, lost, short)
        return Prediction(self._expected(prompt, position), read, position, gone, lost, short)

    def _common(self, prompt: Prompt) -> tuple[int, int | None]:
        """The last block that a living request had too, and the last one that only a dead one had."""
        dead: int | None = None
        for at in range(len(prompt.nodes) - 1, -1, -1):
            seen = self.tree.last_seen(prompt.nodes, at)
            if seen is None:
                continue
            if prompt.at - seen.at < self.rule.longest:
                return at, dead
            dead = at if dead is None else dead
        return -1, dead

    def _expected(self, prompt: Prompt, position: int) -> Expectation:
        """Automatic caches promise nothing."""
        return "expected" if self.rule.promised else "possible"

    def _tokens(self, prompt: Prompt, position: int) -> Figure | None:
        """The tokens in common, with those of the answer that the request sends back."""
        if position < 0:
            return NOTHING.read
        base = self.tree.figure(prompt.nodes, position)
        if base is None:
            return None
        answer = self._echoed(prompt, position)
        if answer is None:
            return base
        return Figure(base.value + answer, base.low, base.high + answer, "estimated")

    def _cut(self, figure: Figure) -> Figure:
        """What is read of tokens in common."""
        return Figure(figure.value, 0, figure.high, "estimated")

    def written(self, prompt: Prompt, prediction: Prediction, total: int | None) -> Figure | None:
        return None

    def end(self, prompt: Prompt, total: int) -> Figure | None:
        return None

    def learn(self, prompt: Prompt, prediction: Prediction, answered: Answered) -> None:
        self._asked += 1
        usage = answered.usage
        if usage.input is None or not prompt.nodes:
            return
        self._compare(prediction, usage.cache_read or 0)
        self.tree.answered(prompt.nodes, prompt.at, prompt.place)
        if answered.sums:
            return
        said = self._said(prompt)
        self.tree.settle(prompt.nodes, {}, usage.input, exact=True, said=said)
        if usage.output is not None:
            self._answers[prompt.nodes[-1]] = (usage.output, max(0, usage.output - (usage.reasoning or 0)))

    def _compare(self, prediction: Prediction, read: int) -> None:
        """A read of more than the tape can explain shows that others use the cache."""
        known = prediction.read.value if prediction.read is not None else 0
        if read > known + self._step():
            self._foreign = True

    def _step(self) -> int:
        return 0

    def _said(self, prompt: Prompt) -> int | None:
        """The tokens of the answer that a prompt sends back."""
        for at in range(len(prompt.nodes) - 1, -1, -1):
            if self.tree.tokens[prompt.nodes[at]] is not None:
                return self._echoed(prompt, at)
        return None

    def _echoed(self, prompt: Prompt, position: int) -> int | None:
        """The tokens of the answer to the prompt up to `position`, where the request sends it back behind that."""
        answer, end = self._answers.get(prompt.nodes[position]), position + 1
        if answer is None or end >= len(prompt.nodes) or not self.tree.echoes[prompt.nodes[end]]:
            return None
        whole, spoken = answer
        while end < len(prompt.nodes) and self.tree.echoes[prompt.nodes[end]]:
            if self.tree.thoughts[prompt.nodes[end]] and self.rule.keeps_reasoning:
                return whole
            end += 1
        return spoken

    def reachable(self, nodes: Sequence[int]) -> int | None:
        tokens = self.tree.tokens[nodes[-1]] if nodes else None
        return None if tokens is None else self._cut(Figure.exact(tokens)).value


@mutable
class GridCache(CommonPrefix):
    """Whole steps of the common prefix."""

    def predict(self, prompt: Prompt) -> Prediction:
        made = CommonPrefix.predict(self, prompt)
        asked = self.tree.figure(prompt.nodes, made.position) if made.position >= 0 else None
        if asked is None or made.read is None or (less := self._steps(asked.value)) == made.read.value:
            return made
        return replace(made, read_less=less)

    def _cut(self, figure: Figure) -> Figure:
        value, high = self._steps(figure.value), self._steps(figure.high)
        return Figure(value, 0, max(value, high), "estimated")

    @property
    def _grid(self) -> Grid:
        assert isinstance(self.rule, Grid)
        return self.rule

    def _step(self) -> int:
        return self._grid.step

    def _steps(self, tokens: int) -> int:
        """What is read of a common beginning of so many tokens; the API's own text in any case."""
        whole = tokens - tokens % self._step()
        return max(whole if whole >= self.rule.minimum else 0, self._grid.own)


@mutable
class UnitCache(GridCache):
    """Whole prompts, and what two earlier ones had in common."""

    _ends: set[int] = field(default_factory=set[int])

    def _common(self, prompt: Prompt) -> tuple[int, int | None]:
        position, dead = CommonPrefix._common(self, prompt)
        while position >= 0 and prompt.nodes[position] not in self._ends:
            position -= 1
        return position, dead

    def learn(self, prompt: Prompt, prediction: Prediction, answered: Answered) -> None:
        common, _ = CommonPrefix._common(self, prompt)
        if prompt.nodes:
            self._ends.add(prompt.nodes[-1])
        if 0 <= common < len(prompt.nodes) - 1:
            self._ends.add(prompt.nodes[common])
        CommonPrefix.learn(self, prompt, prediction, answered)


@mutable
class SlotCache(CommonPrefix):
    """Only the last request."""

    _last: Sequence[int] = ()

    def _common(self, prompt: Prompt) -> tuple[int, int | None]:
        return shared_nodes(self._last, prompt.nodes) - 1, None

    def learn(self, prompt: Prompt, prediction: Prediction, answered: Answered) -> None:
        CommonPrefix.learn(self, prompt, prediction, answered)
        self._last = prompt.nodes


@mutable
class OpenCache(CommonPrefix):
    """Any part of the common prefix."""

    def _cut(self, figure: Figure) -> Figure:
        enough = figure.value >= self.rule.minimum
        return Figure(figure.value if enough else 0, 0, figure.high, "bounded")
