"""Caches that keep what a request marks: entries at exact places, with a lifetime."""

from collections.abc import Iterator, Sequence
from dataclasses import field

from turntape.cassettes.frozen import mutable

from ...wire.cache_rules import Marks
from ..model import Figure
from .prediction import MAYBE_NOTHING, NOTHING, UNKNOWN, Answered, Prediction
from .prefix_tree import PrefixTree
from .prompt import Mark, Prompt

_CLOSE = 2
"""Counts of the same prefix may differ by at most this many tokens."""


@mutable
class _Entry:
    lifetime: float
    at: float
    """When it was last written or read."""
    ready: float
    place: int


@mutable
class MarkedCache:
    """The entries of one cache."""

    rule: Marks
    tree: PrefixTree
    _entries: dict[int, _Entry] = field(default_factory=dict[int, _Entry])
    _foreign: bool = False
    """Whether it has entries that the tape does not show being written."""
    _asked: int = 0
    _tail: int | None = None
    """Tokens that the API adds after the prompt, where an answer showed them."""

    def predict(self, prompt: Prompt) -> Prediction:
        if not self._asked:
            return UNKNOWN
        marks = self._marks(prompt)[-self.rule.most_searched :]
        found = dead = None
        short = False
        for position in self._searched(marks):
            node = prompt.nodes[position]
            entry = self._entries.get(node)
            if entry is None or prompt.at < entry.ready:
                continue
            tokens = self.tree.tokens[node]
            if tokens is not None and tokens < self.rule.minimum:
                short = True
            elif prompt.at < entry.at + entry.lifetime:
                found = position
                break
            else:
                dead = position if dead is None else dead
        unsure = self._foreign or (self.rule.needs_key and not prompt.keyed)
        nothing = MAYBE_NOTHING if unsure else NOTHING.read
        read = nothing if found is None else self.tree.figure(prompt.nodes, found)
        if read is None:
            return Prediction("possible", None, -1 if found is None else found)
        gone = self._entries[prompt.nodes[dead]] if dead is not None else None
        return Prediction(
            "possible" if unsure else "expected",
            read,
            -1 if found is None else found,
            gone.place if gone is not None else None,
            (self.tree.tokens[prompt.nodes[dead]] or 0) if dead is not None else 0,
            short,
        )

    def _marks(self, prompt: Prompt) -> list[Mark]:
        """The marks of a request, with the one that the API makes itself."""
        marks = list(prompt.marks)
        last = len(prompt.nodes) - 1
        if prompt.implicit and last >= 0 and (not marks or marks[-1].position < last):
            marks = [*marks, Mark(last, self.rule.lifetime)]
        return marks

    def _searched(self, marks: Sequence[Mark]) -> Iterator[int]:
        """The positions at which an entry is looked for, the last one first."""
        below: int | None = None
        for mark in reversed(marks):
            begin = mark.position if below is None else min(mark.position, below - 1)
            end = 0 if self.rule.look_back is None else max(0, mark.position - self.rule.look_back + 1)
            yield from range(begin, end - 1, -1)
            below = end if below is None else min(below, end)

    def written(self, prompt: Prompt, prediction: Prediction, total: int | None) -> Figure | None:
        marks = self._marks(prompt)[-self.rule.most_written :]
        if total is None or prediction.read is None:
            return None
        if not marks:
            return Figure.exact(0)
        end = self.end(prompt, total)
        if end is None:
            return None
        if end.value < self.rule.minimum:
            return Figure(0, 0, 0, end.certainty)
        read = prediction.read
        value = max(0, end.value - read.value)
        low, high = max(0, end.low - read.high), max(0, end.high - read.low)
        sure = end.certainty == "exact" and read.certainty == "exact"
        return Figure(value, min(low, value), max(high, value), "exact" if sure else "estimated")

    def end(self, prompt: Prompt, total: int) -> Figure | None:
        """The tokens up to the last mark of a request with `total` input tokens; None when it has no mark."""
        marks = self._marks(prompt)[-self.rule.most_written :]
        return self._end(prompt, marks[-1].position, total) if marks else None

    def _end(self, prompt: Prompt, position: int, total: int) -> Figure | None:
        """The tokens up to a mark, where the whole prompt has `total`."""
        if position == len(prompt.nodes) - 1:
            tail = self._tail if self._tail is not None else self.rule.tail
            value = max(0, total - tail)
            if self._tail is not None:
                return Figure.exact(value)
            return Figure(value, max(0, value - 4), total, "estimated")
        known = self.tree.figure(prompt.nodes, position)
        if known is not None:
            return known
        weights = [self.tree.weights[node] for node in prompt.nodes]
        start = next((at for at in range(position, -1, -1) if self.tree.tokens[prompt.nodes[at]] is not None), -1)
        begin = (self.tree.tokens[prompt.nodes[start]] or 0) if start >= 0 else 0
        rest = max(0, total - self.rule.tail - begin)
        value = begin + round(rest * sum(weights[start + 1 : position + 1]) / (sum(weights[start + 1 :]) or 1))
        return Figure(value, begin, total, "estimated")

    def learn(self, prompt: Prompt, prediction: Prediction, answered: Answered) -> None:
        first, self._asked = not self._asked, self._asked + 1
        total, read, written = answered.usage.input, answered.read, answered.written
        marks = self._marks(prompt)[-self.rule.most_written :]
        if total is None or not prompt.nodes:
            return
        known: dict[int, int] = {}
        cached = (read or 0) + (written or 0)
        if answered.sums:
            self._keep(prompt, marks, prediction, cached, counted=False)
            return
        if marks and cached:
            known[marks[-1].position] = cached
            if marks[-1].position == len(prompt.nodes) - 1:
                self._tail = total - cached
        if read:
            self._check(prompt, prediction, read, known, first=first)
        tail = self._tail if self._tail is not None else self.rule.tail
        self.tree.settle(prompt.nodes, known, max(0, total - tail), exact=self._tail is not None)
        self.tree.answered(prompt.nodes, prompt.at, prompt.place)
        self._keep(prompt, marks, prediction, cached, counted=read is not None or written is not None)

    def _check(self, prompt: Prompt, prediction: Prediction, read: int, known: dict[int, int], *, first: bool) -> None:
        """Compare a read with the prediction: it shows the size of the entry, or that others wrote to this cache."""
        expected = prediction.read
        if expected is None or first:
            self._foreign = True
        elif prediction.position >= 0 and (
            abs(read - expected.value) <= _CLOSE or (expected.certainty != "exact" and expected.low <= read)
        ):
            known.setdefault(prediction.position, read)
        elif read > expected.value:
            self._foreign = True

    def _keep(
        self, prompt: Prompt, marks: Sequence[Mark], prediction: Prediction, cached: int, *, counted: bool
    ) -> None:
        """Write entries and refresh those that were read."""
        if counted and not cached:
            if prediction.position >= 0:
                self._entries.pop(prompt.nodes[prediction.position], None)
            return
        for mark in marks:
            self._touch(prompt, mark.position, mark.lifetime)
        if prediction.position >= 0:
            entry = self._entries.get(prompt.nodes[prediction.position])
            self._touch(prompt, prediction.position, entry.lifetime if entry else self.rule.lifetime)

    def _touch(self, prompt: Prompt, position: int, lifetime: float) -> None:
        node = prompt.nodes[position]
        entry = self._entries.get(node)
        if entry is not None and prompt.at < entry.at + entry.lifetime:
            entry.at = max(entry.at, prompt.at)
            entry.lifetime = max(entry.lifetime, lifetime)
            entry.place = prompt.place
        else:
            self._entries[node] = _Entry(lifetime, prompt.at, prompt.ready, prompt.place)

    def reachable(self, nodes: Sequence[int]) -> int | None:
        for node in reversed(nodes):
            if node in self._entries:
                return self.tree.tokens[node]
        return None
