"""The turns of a run in another form, through a cache that follows the provider's rules."""

from collections.abc import Sequence
from dataclasses import field, replace

from turntape.cassettes.frozen import mutable

from ...wire.cache_rules import LIFETIMES, Marks, Unpromised
from ...wire.values import Usage
from ..cache.prediction import NOTHING, Answered, CacheState, Prediction
from ..cache.prefix_tree import ROOT, PrefixTree
from ..cache.prompt import Mark, Scope, settings_between
from ..cache.states import state_of
from .change import Change
from .recorded import RecordedRun, RecordedTurn


@mutable
class _Changed:
    """The changed prompt of the last turn of a thread. What the next one begins with as well is not made again."""

    recorded: Sequence[int] = ()
    """The nodes of the recorded prompt."""
    nodes: list[int] = field(default_factory=list[int])
    """The nodes of the changed one."""
    totals: list[int] = field(default_factory=list[int])
    """The tokens up to each of them."""
    at: list[int] = field(default_factory=list[int])
    """For each recorded node, which of the changed ones it is; -1 for none."""
    kept: list[int] = field(default_factory=list[int])
    """How many changed nodes there are up to each recorded one."""
    before: list[int] = field(default_factory=list[int])
    """The recorded tokens up to each recorded node."""

    def cut(self, length: int) -> None:
        """Keep only the first recorded nodes."""
        kept = self.kept[length - 1] if length else 0
        del self.nodes[kept:], self.totals[kept:]
        del self.at[length:], self.kept[length:], self.before[length:]


class Simulation:
    """One pass over a run with one change. Nothing is in the cache when it begins."""

    def __init__(self, run: RecordedRun, change: Change) -> None:
        self._run = run
        self._change = change
        self._tree = PrefixTree()
        self._states: dict[Scope, CacheState] = {}
        self._threads: dict[str, _Changed] = {}

    def usages(self) -> list[Usage]:
        """What each turn would count."""
        return [self._usage(turn) for turn in self._run.turns]

    def _usage(self, turn: RecordedTurn) -> Usage:
        changed = self._change_prompt(turn)
        before, after = (sums[-1] if sums else 0 for sums in (changed.before, changed.totals))
        total = max(1, (turn.usage.input or 0) - before + after)
        if self._change.cache == "none":
            return replace(turn.usage, input=total, cache_read=0, cache_write=0, cache_write_1h=0)
        rule = turn.rule
        if isinstance(rule, Unpromised):
            return _scaled(turn.usage, total)
        marks = self._marks(turn, changed) if isinstance(rule, Marks) else ()
        prompt = replace(turn.prompt, nodes=list(changed.nodes), pointers=(), marks=marks)
        state = self._states.get(turn.prompt.scope)
        if state is None:
            state = self._states[turn.prompt.scope] = state_of(rule, self._tree)
        prediction = state.predict(prompt)
        if prediction.read is None:
            prediction = Prediction("expected", NOTHING.read)
        read = min(total, prediction.read.value if prediction.read else 0)
        end = state.written(prompt, prediction, total)
        written = min(total - read, end.value if end is not None else 0)
        hour = any(mark.lifetime >= LIFETIMES["1h"] for mark in marks)
        usage = replace(
            turn.usage, input=total, cache_read=read, cache_write=written, cache_write_1h=written if hour else 0
        )
        state.learn(prompt, prediction, Answered(usage, sums=False))
        # What the state has learned of its own reads and writes is nothing new.
        for position in {prediction.position, len(changed.nodes) - 1, *(mark.position for mark in marks)}:
            if 0 <= position < len(changed.nodes):
                self._tree.pin(changed.nodes[position], changed.totals[position])
        return usage

    def _change_prompt(self, turn: RecordedTurn) -> _Changed:
        """The changed prompt of a turn, in the tree of the simulation."""
        nodes = turn.prompt.nodes
        changed = self._threads.setdefault(turn.thread, _Changed())
        same = _common(changed.recorded, nodes)
        tools = self._tools(nodes) if self._change.sort_tools else 0
        changed.cut(same if same >= tools else 0)
        changed.recorded = nodes
        start = len(changed.at)
        changed.at += [-1] * (len(nodes) - start)
        order: Sequence[int] = range(start, len(nodes))
        if tools and not start:
            names = [self._run.facts[node].tool or "" for node in nodes[:tools]]
            order = [*sorted(range(tools), key=names.__getitem__), *range(tools, len(nodes))]
        for position in order:
            self._add(changed, turn, nodes[position], position)
        return changed

    def _add(self, changed: _Changed, turn: RecordedTurn, node: int, position: int) -> None:
        """Add a block of the recorded prompt as it is after the change."""
        change, run, tree = self._change, self._run, self._tree
        facts, tokens = run.facts[node], run.tokens(node)
        changed.before.append((changed.before[-1] if changed.before else 0) + tokens)
        if facts.tool is None or facts.tool not in change.without:
            if change.cap is not None and facts.result:
                tokens = min(tokens, change.cap)
            digest = facts.timeless if change.no_clock else facts.digest
            if changed.nodes:
                parent, level, total = changed.nodes[-1], tree.levels[changed.nodes[-1]], changed.totals[-1]
            else:
                parent, level, total = tree.child(ROOT, hash(turn.prompt.scope), "tools", 0), None, 0
                tree.pin(parent, 0)
            made = tree.child(
                parent,
                hash((facts.level, digest, settings_between(turn.prompt.settings, level, facts.level))),
                facts.level,
                tokens,
                echo=run.tree.echoes[node],
                thought=run.tree.thoughts[node],
            )
            tree.pin(made, total + tokens)
            changed.at[position] = len(changed.nodes)
            changed.nodes.append(made)
            changed.totals.append(total + tokens)
        changed.kept.append(len(changed.nodes))

    def _tools(self, nodes: Sequence[int]) -> int:
        """How many tools a recorded prompt begins with."""
        return next((at for at, node in enumerate(nodes) if self._run.facts[node].level != "tools"), len(nodes))

    def _marks(self, turn: RecordedTurn, changed: _Changed) -> tuple[Mark, ...]:
        """The marks of the changed prompt: where the change wants them, or where the run has them."""
        change, places = self._change, self._change.marks
        if not places and change.cache and not turn.prompt.marks:
            places = ("system", "last")
        lifetime = LIFETIMES.get(change.cache or "")
        if places:
            ends = self._ends(changed)
            found = dict.fromkeys(ends[place] for place in ("tools", "system", "last") if place in places)
            return tuple(Mark(at, lifetime or LIFETIMES["5m"]) for at in found if at >= 0)
        marks: list[Mark] = []
        for mark in turn.prompt.marks:
            at = changed.at[mark.position]
            if at >= 0:
                marks.append(Mark(at, lifetime or mark.lifetime))
        return tuple(sorted(marks, key=lambda mark: mark.position))

    def _ends(self, changed: _Changed) -> dict[str, int]:
        """The last position of each level; the tools are first, then the system prompt."""
        ends = {"tools": -1, "system": -1, "last": len(changed.nodes) - 1}
        for at, node in enumerate(changed.nodes):
            level = self._tree.levels[node]
            if level == "messages":
                break
            ends[level] = at
        return ends


def _common(before: Sequence[int], now: Sequence[int]) -> int:
    """How many nodes two prompts begin with: where they share a node, they share all before it."""
    low, high = 0, min(len(before), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        if before[middle - 1] == now[middle - 1]:
            low = middle
        else:
            high = middle - 1
    return low


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
