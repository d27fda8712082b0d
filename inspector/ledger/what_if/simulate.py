"""The turns of a run in another form, through a cache that follows the provider's rules."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...wire.cache_rules import LIFETIMES, CacheRule, Level, Marks, Unpromised
from ...wire.values import Usage
from ..cache.prediction import NOTHING, Answered, CacheState, Prediction
from ..cache.prefix_tree import ROOT, PrefixTree
from ..cache.prompt import Mark, Prompt, Scope, settings_between
from ..cache.states import state_of
from .change import Change
from .recorded import RecordedRun, RecordedTurn


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block of a changed prompt."""

    node: int
    """In the recorded run."""
    digest: int
    tokens: int


class Simulation:
    """One pass over a run with one change. Nothing is in the cache when it begins."""

    def __init__(self, run: RecordedRun, change: Change) -> None:
        self._run = run
        self._change = change
        self._tree = PrefixTree()
        self._states: dict[Scope, CacheState] = {}

    def usages(self) -> list[Usage]:
        """What each turn would count."""
        return [self._usage(turn) for turn in self._run.turns]

    def _usage(self, turn: RecordedTurn) -> Usage:
        pieces = self._pieces(turn)
        before = sum(self._run.tokens(node) for node in turn.prompt.nodes)
        total = max(1, (turn.usage.input or 0) - before + sum(piece.tokens for piece in pieces))
        if self._change.cache == "none":
            return replace(turn.usage, input=total, cache_read=0, cache_write=0, cache_write_1h=0)
        rule = turn.rule
        if isinstance(rule, Unpromised):
            return _scaled(turn.usage, total)
        prompt, hour = self._prompt(turn, pieces, rule)
        state = self._states.get(turn.prompt.scope)
        if state is None:
            state = self._states[turn.prompt.scope] = state_of(rule, self._tree)
        prediction = state.predict(prompt)
        if prediction.read is None:
            prediction = Prediction("expected", NOTHING.read)
        read = min(total, prediction.read.value if prediction.read else 0)
        end = state.written(prompt, prediction, total)
        written = min(total - read, end.value if end is not None else 0)
        usage = replace(
            turn.usage, input=total, cache_read=read, cache_write=written, cache_write_1h=written if hour else 0
        )
        state.learn(prompt, prediction, Answered(usage, sums=False))
        return usage

    def _pieces(self, turn: RecordedTurn) -> list[_Piece]:
        change, run = self._change, self._run
        pieces: list[_Piece] = []
        for node in turn.prompt.nodes:
            facts = run.facts[node]
            if facts.tool is not None and facts.tool in change.without:
                continue
            tokens = run.tokens(node)
            if change.cap is not None and facts.result:
                tokens = min(tokens, change.cap)
            digest = facts.timeless if change.no_clock else facts.digest
            pieces.append(_Piece(node, digest, tokens))
        if change.sort_tools:
            tools = [piece for piece in pieces if run.facts[piece.node].level == "tools"]
            tools.sort(key=lambda piece: run.facts[piece.node].tool or "")
            pieces[: len(tools)] = tools
        return pieces

    def _prompt(self, turn: RecordedTurn, pieces: Sequence[_Piece], rule: CacheRule) -> tuple[Prompt, bool]:
        """The changed prompt in the tree of the simulation, and whether its marks keep for an hour."""
        parent = self._tree.child(ROOT, hash(turn.prompt.scope), "tools", 0)
        self._tree.pin(parent, 0)
        nodes: list[int] = []
        level: Level | None = None
        for piece in pieces:
            facts = self._run.facts[piece.node]
            echo, thought = self._run.tree.echoes[piece.node], self._run.tree.thoughts[piece.node]
            tokens = self._tree.tokens[parent] or 0
            parent = self._tree.child(
                parent,
                hash((facts.level, piece.digest, settings_between(turn.prompt.settings, level, facts.level))),
                facts.level,
                piece.tokens,
                echo=echo,
                thought=thought,
            )
            level = facts.level
            self._tree.pin(parent, tokens + piece.tokens)
            nodes.append(parent)
        marks = self._marks(turn, pieces) if isinstance(rule, Marks) else ()
        made = replace(turn.prompt, nodes=nodes, pointers=(), marks=marks)
        return made, any(mark.lifetime >= LIFETIMES["1h"] for mark in marks)

    def _marks(self, turn: RecordedTurn, pieces: Sequence[_Piece]) -> tuple[Mark, ...]:
        """The marks of the changed prompt: where the change wants them, or where the run has them."""
        change, places = self._change, self._change.marks
        if not places and change.cache and not turn.prompt.marks:
            places = ("system", "last")
        lifetime = LIFETIMES.get(change.cache or "")
        if places:
            ends = self._ends(pieces)
            found = dict.fromkeys(ends[place] for place in ("tools", "system", "last") if place in places)
            return tuple(Mark(at, lifetime or LIFETIMES["5m"]) for at in found if at >= 0)
        kept = {piece.node: at for at, piece in enumerate(pieces)}
        marks: list[Mark] = []
        for mark in turn.prompt.marks:
            at = kept.get(turn.prompt.nodes[mark.position])
            if at is not None:
                marks.append(Mark(at, lifetime or mark.lifetime))
        return tuple(sorted(marks, key=lambda mark: mark.position))

    def _ends(self, pieces: Sequence[_Piece]) -> dict[str, int]:
        """The last position of each level."""
        ends = {"tools": -1, "system": -1, "last": len(pieces) - 1}
        for at, piece in enumerate(pieces):
            ends[self._run.facts[piece.node].level] = at
        return ends


def _scaled(usage: Usage, total: int) -> Usage:
    """The counts of a cache whose rules are not known, in proportion to the new input."""
    if usage.input in (None, 0, total):
        return usage
    share = total / (usage.input or 1)
    read, written = usage.cache_read, usage.cache_write
    return replace(
        usage,
        input=total,
        cache_read=None if read is None else int(read * share),
        cache_write=None if written is None else int(written * share),
        cache_write_1h=int(usage.cache_write_1h * share),
    )
