"""All prompts of a run as one tree of blocks: prompts that begin alike share their nodes.

A node is a whole prefix: the blocks on the way from the root to it. It holds numbers only, so that the tree
grows with what is new and not with what is sent again. Tokens of a node are all tokens up to its end.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import field

from turntape.cassettes.frozen import frozen, mutable

from ...wire.cache_rules import Level
from ..model import Figure

ROOT = 0


@frozen
class Seen:
    """An answered request."""

    at: float
    """When it was sent, in seconds since the epoch."""
    place: int


def shared_nodes(one: Sequence[int], other: Sequence[int]) -> int:
    """How many nodes two prompts share at the front. A node is a whole prefix: before a shared one all are shared."""
    least = range(min(len(one), len(other)))
    return bisect_left(least, True, key=lambda at: one[at] != other[at])


@mutable
class PrefixTree:
    """Nodes by number; node 0 is the root, which has no block."""

    parents: list[int] = field(default_factory=lambda: [ROOT])
    levels: list[Level] = field(default_factory=lambda: ["tools"])
    weights: list[int] = field(default_factory=lambda: [0])
    """The bytes of the node's own block."""
    echoes: list[bool] = field(default_factory=lambda: [False])
    """Whether the block is a piece of an answer."""
    thoughts: list[bool] = field(default_factory=lambda: [False])
    """Whether it is reasoning of that answer."""
    tokens: list[int | None] = field(default_factory=lambda: [0])
    """Tokens up to the end of the node, where a count of the API allows to say."""
    exact: list[bool] = field(default_factory=lambda: [True])
    _seen: dict[int, Seen] = field(default_factory=dict[int, Seen])
    """The last answered request that has the node, but for the nodes of the very last one."""
    _last: tuple[Sequence[int], Seen | None] = ((), None)
    """The nodes of the last answered request: the next one has most of them too, so they are not noted one by one."""
    _children: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def child(
        self, parent: int, digest: int, level: Level, weight: int, *, echo: bool = False, thought: bool = False
    ) -> int:
        """The node of a block behind `parent`; it is made when there is none."""
        key = (parent, digest)
        node = self._children.get(key)
        if node is None:
            node = self._children[key] = len(self.parents)
            self.parents.append(parent)
            self.levels.append(level)
            self.weights.append(weight)
            self.echoes.append(echo)
            self.thoughts.append(thought)
            self.tokens.append(None)
            self.exact.append(False)
        return node

    def figure(self, nodes: Sequence[int], position: int) -> Figure | None:
        """The tokens up to the block at `position` of a prompt; its bounds are the exact counts around it."""
        node = nodes[position]
        value = self.tokens[node]
        if value is None:
            return None
        if self.exact[node]:
            return Figure.exact(value)
        low = next((self._value(nodes[at]) for at in range(position - 1, -1, -1) if self.exact[nodes[at]]), 0)
        high = next((self._value(nodes[at]) for at in range(position + 1, len(nodes)) if self.exact[nodes[at]]), None)
        return Figure(value, low, max(value, high if high is not None else 2 * value), "estimated")

    def _value(self, node: int) -> int:
        return self.tokens[node] or 0

    def pin(self, node: int, tokens: int) -> None:
        """The API's own count of a node."""
        self.tokens[node] = tokens
        self.exact[node] = True

    def settle(
        self, nodes: Sequence[int], known: Mapping[int, int], total: int, *, exact: bool, said: int | None = None
    ) -> None:
        """Give tokens to the nodes of a prompt that have none yet.

        `known` are counts by position, `total` those of the whole prompt, `said` those of the answer that it sends back
        first, behind what is known already. What is between two counts is divided by bytes.
        """
        last = len(nodes) - 1
        start = next((at for at in range(last, -1, -1) if self.tokens[nodes[at]] is not None), -1)
        for position, tokens in known.items():
            self.pin(nodes[position], tokens)
        begin = self._value(nodes[start]) if start >= 0 else 0
        # A count that the prompt's end contradicts is not used: the API counts some prompts again in another way.
        points = [(at, tokens) for at, tokens in sorted(known.items()) if at > start]
        if said is not None and start < last:
            end = start
            while end < last and self.echoes[nodes[end + 1]]:
                end += 1
            if start < end < last and begin + said <= total:
                points.insert(0, (end, begin + said))
        if start < last:
            points.append((last, max(total, begin)))
        at = start
        for position, tokens in points:
            if position > at:
                self._fill(nodes, at, begin, position, max(tokens, begin))
                at, begin = position, max(tokens, begin)
        if exact and start < last:
            self.exact[nodes[last]] = True

    def _fill(self, nodes: Sequence[int], start: int, begin: int, end: int, tokens: int) -> None:
        """Divide what lies between two positions by bytes."""
        whole = sum(self.weights[nodes[at]] for at in range(start + 1, end + 1)) or 1
        done = 0
        for at in range(start + 1, end + 1):
            node = nodes[at]
            done += self.weights[node]
            if not self.exact[node]:
                self.tokens[node] = begin + round((tokens - begin) * done / whole)

    def answered(self, nodes: Sequence[int], at: float, place: int) -> None:
        """Note that a request with these nodes was answered."""
        before, seen = self._last
        if seen is not None:
            self._seen.update((node, seen) for node in before[shared_nodes(before, nodes) :])
        self._last = nodes, Seen(at, place)

    def last_seen(self, nodes: Sequence[int], position: int) -> Seen | None:
        """The last answered request that has a prompt's blocks up to `position`."""
        last, seen = self._last
        node = nodes[position]
        return seen if position < len(last) and last[position] == node else self._seen.get(node)
