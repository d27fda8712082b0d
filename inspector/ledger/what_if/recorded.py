"""A run as numbers, so that it can be priced in another form: its prompts as blocks with tokens, and its bills."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

from turntape.cassettes.frozen import frozen, mutable
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import RoundTrip

from ...analysis.refused import was_refused
from ...wire.cache_rules import CacheRule, Level, Marks, Unpromised
from ...wire.caching import rule_of
from ...wire.json_value import as_array, parse_json
from ...wire.values import Reading, Usage
from ..builder import LabelledTurn, LedgerBuilder
from ..cache.blocks import Block
from ..cache.prefix_tree import PrefixTree
from ..cache.prompt import Prompt, Prompts
from ..model import Piece
from ..stretch import without_bodies

_CLOCK = regex(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp][Mm])?\b"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
    r"|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\s+\d{1,2}(?:,\s*\d{4})?"
    r"|\b\d{10,13}\b|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)
_NO_RULE = Unpromised(name="unknown")
type Reads = Literal["promised", "allowed", "open"]
"""Reads from a cache: that a provider promises, that its rules allow, and of which it says nothing."""


@frozen
class BlockFacts:
    """What is known of a node's own block."""

    level: Level
    digest: int
    timeless: int
    """The same without dates, times and ids."""
    tool: str | None
    """The tool that it defines."""
    result: bool
    """Whether it is the result of a tool."""


@frozen
class RecordedTurn:
    """One turn that has counts."""

    place: int
    thread: str
    rule: CacheRule
    prompt: Prompt
    usage: Usage
    priced: tuple[RoundTrip, Reading]
    """What its price depends on, without bodies."""

    @property
    def reads(self) -> Reads:
        """What its provider says of reads from its cache."""
        if isinstance(self.rule, Unpromised):
            return "open"
        keyed = not isinstance(self.rule, Marks) or self.prompt.keyed or not self.rule.needs_key
        return "promised" if self.rule.promised and keyed else "allowed"


@mutable
class RecordedRun:
    """All turns of a run."""

    tree: PrefixTree = field(default_factory=PrefixTree)
    turns: list[RecordedTurn] = field(default_factory=list[RecordedTurn])
    facts: dict[int, BlockFacts] = field(default_factory=dict[int, BlockFacts])
    """By node."""
    uncounted: int = 0
    """Turns without counts; they are in no bill."""
    refused: int = 0
    """Those of them that were refused, which cost nothing."""
    others: list[tuple[RoundTrip, Reading]] = field(default_factory=list[tuple[RoundTrip, Reading]])
    """Requests outside generation that cost something, without bodies. No change touches them."""
    known: dict[int, int] = field(default_factory=dict[int, int])
    """The tokens of blocks by their content without dates."""
    called: set[str] = field(default_factory=set[str])
    """The names of the tools that were called, and of those that the API runs, which need no call in an answer."""
    origins: dict[int, tuple[int, str]] = field(default_factory=dict[int, tuple[int, str]])
    """By node: the place of the turn that had it first, and the pointer there."""
    place: int = 0
    """The place of the turn that is being read."""

    def tokens(self, node: int) -> int:
        """The tokens of a node's own block."""
        return max(0, (self.tree.tokens[node] or 0) - (self.tree.tokens[self.tree.parents[node]] or 0))

    def tools(self) -> list[str]:
        """The names of the tools that were offered, by their tokens over the run, most first."""
        sums: dict[str, int] = {}
        for turn in self.turns:
            for node in turn.prompt.nodes:
                tool = self.facts[node].tool
                if tool is not None:
                    sums[tool] = sums.get(tool, 0) + self.tokens(node)
        return sorted(sums, key=lambda name: -sums[name])

    def largest_result(self) -> int:
        """The tokens of the largest result."""
        return max((self.tokens(node) for node, facts in self.facts.items() if facts.result), default=0)

    def note(self, node: int, block: Block) -> None:
        """Take down what a block is, when its node is made."""
        kept = block.level != "messages"
        self.origins[node] = (self.place, block.pointer)
        self.facts[node] = BlockFacts(
            block.level,
            hash(block.text),
            hash(_CLOCK.sub("", block.text)) if kept else hash(block.text),
            _tool(block) if block.level == "tools" else None,
            block.result,
        )


def _tool(block: Block) -> str:
    return str((as_array(parse_json(block.text)) or ["?"])[0])


def recorded_run(found: Iterable[LabelledTurn]) -> RecordedRun:
    """The turns of a labelled run. The place of a turn is its place in `found`."""
    run, builder = RecordedRun(), LedgerBuilder()
    prompts = Prompts(run.tree, run.note)
    totals: list[int] = []
    for place, one in enumerate(found):
        builder.add(place, one)
        turn, reading = one.turn, one.reading
        if turn is None:
            if reading.usage is not None or reading.stated_cost is not None:
                run.others.append(without_bodies(one.round_trip, reading))
            continue
        if reading.emission is not None:
            run.called.update(call.name for call in reading.emission.calls)
        run.called.update(tool.name for tool in reading.request.tools if tool.server)
        usage = reading.usage
        if usage is None or usage.input is None or usage.output is None:
            run.uncounted += 1
            run.refused += was_refused(one.round_trip, reading)
            continue
        rule = rule_of(reading) or _NO_RULE
        model = reading.request.model or reading.response_model or ""
        run.place = place
        prompt = prompts.add(turn, place, (reading.provider, model, rule.name), rule)
        prompts.keep(turn.thread)
        totals.append(max(0, usage.input - _tail(rule, prompt, usage)))
        # Where each block is, its node knows: lists for each turn would take the square of a long run.
        prompt = replace(prompt, nodes=array("i", prompt.nodes), pointers=())
        run.turns.append(RecordedTurn(place, turn.thread, rule, prompt, usage, without_bodies(one.round_trip, reading)))
    measured = _measured(run, builder.ledger().pieces)
    for turn, total in zip(run.turns, totals, strict=True):
        _settle(run, turn.prompt.nodes, total, measured)
    return run


def _measured(run: RecordedRun, pieces: Iterable[Piece]) -> dict[int, float]:
    """The tokens that the ledger has for the blocks of the run, by node. A block can be several pieces."""
    nodes: dict[int, dict[str, int]] = {}
    for node, (place, pointer) in run.origins.items():
        nodes.setdefault(place, {})[pointer] = node
    found: dict[int, float] = {}
    for piece in pieces:
        blocks = nodes.get(piece.place, {})
        tokens, node = piece.first_tokens, _block_of(piece.pointer, blocks)
        if tokens is not None and node is not None:
            found[node] = found.get(node, 0) + tokens.value
    return found


def _block_of(pointer: str, blocks: Mapping[str, int]) -> int | None:
    """The node of the block that a piece is, or is a part of, or begins with."""
    at = pointer
    while at:
        if at in blocks:
            return blocks[at]
        at = at.rpartition("/")[0]
    return next((node for one, node in blocks.items() if one.startswith(f"{pointer}/")), None)


def _tail(rule: CacheRule, prompt: Prompt, usage: Usage) -> int:
    """The tokens that the API adds behind the last piece."""
    if not isinstance(rule, Marks):
        return 0
    cached = (usage.cache_read or 0) + (usage.cache_write or 0)
    marked = bool(prompt.marks) and prompt.marks[-1].position == len(prompt.nodes) - 1
    return max(0, (usage.input or 0) - cached) if marked and cached else rule.tail


def _settle(run: RecordedRun, nodes: Sequence[int], total: int, measured: Mapping[int, float]) -> None:
    """Give tokens to the new blocks of a prompt: what the API counts more than for what is known.

    A block that was in another prompt has the same tokens here; the rest is divided among the others as the ledger
    divides it.
    """
    tree = run.tree
    start = next((at for at in range(len(nodes) - 1, -1, -1) if tree.tokens[nodes[at]] is not None), -1)
    begin = (tree.tokens[nodes[start]] or 0) if start >= 0 else 0
    fresh = nodes[start + 1 :]
    known = [run.known.get(run.facts[node].timeless) for node in fresh]
    sizes = _sizes(tree, fresh, measured)
    weights = [size if tokens is None else 0 for size, tokens in zip(sizes, known, strict=True)]
    rest = total - begin - sum(tokens or 0 for tokens in known)
    if rest < 0 or not sum(weights):
        # The API counted less than before: all of it is divided again.
        known, weights, rest = [None] * len(fresh), sizes, max(0, total - begin)
    at, done, whole, given = begin, 0.0, sum(weights) or 1, 0
    for node, tokens, weight in zip(fresh, known, weights, strict=True):
        if tokens is None:
            done += weight
            tokens, given = round(rest * done / whole) - given, round(rest * done / whole)
        at += tokens
        tree.pin(node, at)
        run.known.setdefault(run.facts[node].timeless, tokens)


def _sizes(tree: PrefixTree, nodes: Sequence[int], measured: Mapping[int, float]) -> list[float]:
    """How large these blocks are: the ledger's tokens, and by bytes in the same measure those that it has not."""
    counted = sum(tree.weights[node] for node in nodes if node in measured)
    ratio = sum(measured[node] for node in nodes if node in measured) / counted if counted else 1.0
    by_bytes = [tree.weights[node] * (ratio or 1.0) for node in nodes]
    # Where the ledger leaves nothing for a whole prompt, its count must not be lost.
    return [measured.get(node, size) or size / 1000 for node, size in zip(nodes, by_bytes, strict=True)]
