"""For each turn what the provider's rules would read and write, from earlier turns only, beside what happened."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import field

from turntape.cassettes.frozen import mutable

from ...analysis.turn import Turn
from ...wire.cache_rules import CacheRule, Marks
from ...wire.caching import rule_of
from ...wire.json_value import as_object, as_text
from ...wire.values import Reading, Usage
from ..model import CacheEntry, Figure
from .blocks import Block
from .misses import Case, Past, explain
from .prediction import Answered, CacheState, Prediction
from .prefix_tree import PrefixTree
from .prompt import Prompt, Prompts, Scope
from .states import state_of

_PASTS = 16
"""So many answers can be named by a later request that asks why its cache was missed."""
_NO_USAGE = Usage()


@mutable
class CachePredictor:
    """`add` every turn of a run in its order."""

    tree: PrefixTree = field(default_factory=PrefixTree)
    end: Figure | None = None
    """Of the last turn: where its last mark is, in tokens, before its answer's counts of the cache are used."""
    _prompts: Prompts = field(init=False)
    _states: dict[Scope, CacheState] = field(default_factory=dict[Scope, CacheState])
    _latest: dict[str, Past] = field(default_factory=dict[str, Past])
    """The last answered turn of each thread."""
    _named: OrderedDict[str, Past] = field(default_factory=OrderedDict[str, Past])
    """The last turns by the ids of their answers."""

    def __post_init__(self) -> None:
        self._prompts = Prompts(self.tree)

    def forget(self) -> None:
        """Let go of the requests that the next ones would be compared with: none follows."""
        self._prompts.forget()

    def add(self, place: int, turn: Turn) -> CacheEntry:
        """The entry of the turn at `place`; its miss has no price yet."""
        reading = turn.reading
        usage = reading.usage or _NO_USAGE
        rule = rule_of(reading)
        if rule is None:
            return CacheEntry(
                rule="unknown",
                expected="unknown",
                read=None,
                written=None,
                actual_read=usage.cache_read,
                actual_written=usage.cache_write,
            )
        model = reading.request.model or reading.response_model or ""
        scope: Scope = (reading.provider, model, rule.name)
        prompt = self._prompts.add(turn, place, scope, rule)
        state = self._states.get(scope)
        if state is None:
            state = self._states[scope] = state_of(rule, self.tree)
        prediction = state.predict(prompt)
        self.end = state.end(prompt, usage.input) if usage.input is not None else None
        entry = self._entry(turn, prompt, prediction, state, rule, model)
        if usage.input is not None and reading.error is None:
            state.learn(prompt, prediction, Answered(usage, _sums(reading)))
            self._keep(turn, prompt, rule, model, state)
        return entry

    def _entry(
        self,
        turn: Turn,
        prompt: Prompt,
        prediction: Prediction,
        state: CacheState,
        rule: CacheRule,
        model: str,
    ) -> CacheEntry:
        reading = turn.reading
        usage = reading.usage or _NO_USAGE
        past = self._past(turn)
        miss = None
        if past is not None and not (_sums(reading) and usage.cache_read):
            blocks = lambda: self._blocks(turn, past)  # noqa: E731
            case = Case(past, prompt, prediction, rule, self.tree, model, usage, blocks, reading.cache_diagnosis)
            miss = explain(case)
        return CacheEntry(
            rule=rule.name,
            expected=prediction.expected,
            read=prediction.read,
            written=state.written(prompt, prediction, usage.input),
            actual_read=usage.cache_read,
            actual_written=usage.cache_write,
            miss=miss,
            read_less=prediction.read_less,
        )

    def _past(self, turn: Turn) -> Past | None:
        """The turn that this one is compared with: the one that the request names, else the one before."""
        parameters = turn.reading.request.parameters
        named = as_text(as_object(parameters.get("diagnostics")).get("previous_message_id")) or as_text(
            as_object(parameters.get("prompt_cache_options")).get("comparison_response_id")
        )
        return self._named.get(named or "") or self._latest.get(turn.thread)

    def _blocks(self, turn: Turn, past: Past) -> tuple[Sequence[Block], Sequence[Block]]:
        latest = self._latest.get(turn.thread)
        old = self._prompts.latest_blocks(turn.thread) if latest is past else []
        return old, self._prompts.made_blocks()

    def _keep(self, turn: Turn, prompt: Prompt, rule: CacheRule, model: str, state: CacheState) -> None:
        kept = len(prompt.nodes) - 1
        if isinstance(rule, Marks) and not prompt.implicit:
            kept = prompt.marks[-1].position if prompt.marks else -1
        left = state.reachable(prompt.nodes[: kept + 1]) if kept >= 0 else None
        past = Past(prompt, model, rule, left or 0, kept)
        self._prompts.keep(turn.thread)
        self._latest[turn.thread] = past
        if turn.reading.response_id:
            self._named[turn.reading.response_id] = past
            while len(self._named) > _PASTS:
                self._named.popitem(last=False)


def _sums(reading: Reading) -> bool:
    """True when the counts are sums over several runs of the model: the API ran its own tools, or thought twice."""
    ran = reading.emission is not None and bool(reading.emission.server_calls)
    return ran or as_object(reading.request.parameters.get("reasoning")).get("mode") == "pro"
