"""Why a prompt was not read from the cache as far as it could have been, and what that cost."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from turntape.cassettes.excerpts import around
from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip

from ...analysis.pricing import InputRates, cost_of
from ...analysis.tool_changes import tool_change, tools_sentence
from ...wire.cache_rules import CacheRule, Cause, Grid, Level, Marks
from ...wire.json_value import as_array, parse_json
from ...wire.values import Reading, Usage
from ..model import CacheEntry, Miss
from .blocks import Block
from .prediction import Prediction
from .prefix_tree import PrefixTree, shared_nodes
from .prompt import Prompt

_SLACK = 8
"""Fewer tokens than this are not counted as a miss: APIs count the end of a prompt in different ways."""
_AROUND = 24
"""Characters shown of a difference."""
_CHANGED: Mapping[Level, Cause] = {
    "tools": "changed-tools",
    "system": "changed-system",
    "messages": "changed-history",
}
API_WORDS: Mapping[str, tuple[Cause, ...]] = {
    "model_changed": ("model", "speed"),
    "tools_changed": ("changed-tools",),
    "system_changed": ("changed-system",),
    "messages_changed": ("changed-history",),
    "prompt_cache_key_changed": ("key",),
    "text_format_changed": ("text-format",),
    "reasoning_effort_changed": ("thinking",),
    "verbosity_changed": ("verbosity",),
    "service_tier_changed": ("service-tier",),
    "input_changed": ("changed-history", "changed-system"),
    "context_compacted": ("changed-history",),
}
"""The reasons that APIs give, and what they mean here (anthropic 2.12, openai 3.54, read 2026-11-22)."""


@frozen
class Past:
    """An earlier turn, as far as a later one is compared with it."""

    prompt: Prompt
    model: str
    rule: CacheRule
    left: int
    """The tokens that it left in the cache for a request that begins like it."""
    kept: int
    """The position of the last block of them."""


@frozen
class Case:
    """One turn that is compared with an earlier one."""

    past: Past
    prompt: Prompt
    prediction: Prediction
    rule: CacheRule
    tree: PrefixTree
    model: str
    usage: Usage
    blocks: Callable[[], tuple[Sequence[Block], Sequence[Block]]]
    """The blocks of the earlier and of this request, with their texts; empty where they are no longer at hand."""
    diagnosis: str | None = None


def explain(case: Case) -> Miss | None:
    """The miss of a turn without its price, or None when it read what it could."""
    usage, past = case.usage, case.past
    if usage.input is None or (usage.cache_read is None and usage.cache_write is None):
        return None
    read = usage.cache_read or 0
    lost = min(past.left, usage.input) - read
    slack = case.rule.step if isinstance(case.rule, Grid) else _SLACK
    if lost <= slack:
        return _too_short(case, read)
    cause, message, position, first = _cause(case)
    said = API_WORDS.get(case.diagnosis or "", ())
    if said and cause not in said:
        cause, message = said[0], f"the API says {case.diagnosis}"
    because = case.prediction.dead if cause == "expired" and case.prediction.dead is not None else past.prompt.place
    pointer = case.prompt.pointers[position] if 0 <= position < len(case.prompt.pointers) else ""
    return Miss(cause=cause, message=message, at=pointer, first_byte=first, tokens=lost, because_of=because)


def _too_short(case: Case, read: int) -> Miss | None:
    """A prefix that is sent again and again, and is below what the model keeps."""
    if not case.prediction.short or not case.prompt.marks or read or case.usage.cache_write:
        return None
    minimum = case.rule.minimum
    position = shared_nodes(case.past.prompt.nodes, case.prompt.nodes) - 1
    tokens = (case.tree.tokens[case.prompt.nodes[position]] or 0) if position >= 0 else 0
    message = f"the marked prefix has fewer than {minimum:,} tokens, which is the least that this model keeps"
    if not tokens:
        return None
    return Miss(cause="below-minimum", message=message, tokens=tokens, because_of=case.past.prompt.place)


type _Found = tuple[Cause, str, int, int | None]
"""Cause, message, position of the first difference or -1, first byte."""


def _cause(case: Case) -> _Found:
    past = case.past
    if past.model != case.model:
        return "model", f"the model changed from {past.model} to {case.model}; each model has its own cache", -1, None
    position = shared_nodes(past.prompt.nodes, case.prompt.nodes)
    if position <= past.kept:
        return _changed(case, position)
    return (*_unchanged(case), -1, None)


_ORDER: Mapping[Level, int] = {"tools": 0, "system": 1, "messages": 2}
"""Where each level is in a prompt."""


def _changed(case: Case, position: int) -> _Found:
    """What differs within what was kept: a setting, or a piece."""
    before, now = case.past.prompt, case.prompt
    level = _first_level(case.tree.levels[one.nodes[position]] for one in (before, now) if position < len(one.nodes))
    settings = [
        one
        for (one, new), (_, old) in zip(now.settings, before.settings, strict=False)
        if new != old and _ORDER[one.level] <= _ORDER[level]
    ]
    if settings:
        one = min(settings, key=lambda setting: _ORDER[setting.level])
        field = ".".join(one.path)
        return one.cause, f"`{field}` changed, and the cache of the {one.level} depends on it", -1, None
    return (_CHANGED[level], *_difference(level, *case.blocks(), position))


def _first_level(levels: Iterable[Level]) -> Level:
    return min(levels, key=lambda level: _ORDER[level])


def _difference(level: Level, old: Sequence[Block], new: Sequence[Block], position: int) -> tuple[str, int, int | None]:
    """The first difference in words, its position, and its first byte."""
    was = old[position] if position < len(old) else None
    got = new[position] if position < len(new) else None
    if level == "tools":
        return _tools(old, new, was, got, position)
    what = "the system prompt" if level == "system" else "the history"
    if was is None:
        return f"{what} changed", position, None
    if got is None or _ORDER[got.level] > _ORDER[was.level]:
        return f"{what} got shorter", position, None
    if _ORDER[got.level] < _ORDER[was.level]:
        return f"{what} got longer", position, None
    if was.role != got.role:
        first = _first(was.role, got.role)
        before, after = (_near(f"{one.role}:{one.text[:_AROUND]}", first) for one in (was, got))
        return f"{what} changed: {before!r} became {after!r}", position, 0
    first = _first(was.text, got.text)
    before, after = _near(was.text, first), _near(got.text, first)
    return f"{what} changed: {before!r} became {after!r}", position, _bytes_before(got, first)


def _tools(
    old: Sequence[Block], new: Sequence[Block], was: Block | None, got: Block | None, position: int
) -> tuple[str, int, int | None]:
    before, after = ([(_tool(one), one.text) for one in blocks if one.level == "tools"] for blocks in (old, new))
    what = tool_change(before, after)
    said = "the tools changed" if what is None else tools_sentence(what)
    if was is None or got is None:
        return said, position, None if {name for name, _ in before} == {name for name, _ in after} else 0
    same_names = [name for name, _ in before] == [name for name, _ in after]
    return said, position, _bytes_before(got, _first(was.text, got.text)) if same_names else 0


def _tool(block: Block) -> str:
    return str((as_array(parse_json(block.text)) or ["?"])[0])


def _first(before: str, now: str) -> int:
    pairs = enumerate(zip(before, now, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(before), len(now)))


def _near(text: str, first: int) -> str:
    return around(text, first - _AROUND // 2, first + _AROUND)


def _bytes_before(block: Block, first: int) -> int:
    """The bytes of a piece before a character of its text."""
    return len(block.text[:first].encode("utf-8", "surrogatepass"))


def _unchanged(case: Case) -> tuple[Cause, str]:
    """Why an unchanged prefix was not read."""
    prediction, prompt, rule = case.prediction, case.prompt, case.rule
    waited = prompt.at - case.past.prompt.at
    expected = prediction.read.value if prediction.read is not None else 0
    if prediction.dead is not None and prediction.dead_tokens > expected:
        return "expired", f"the cache lives for {_time(rule.lifetime)}, and was last used {_time(waited)} earlier"
    if isinstance(rule, Marks) and expected < case.past.left - _SLACK:
        if not prompt.marks and not prompt.implicit:
            return "no-breakpoint", "the request has no cache mark, so nothing is looked for"
        if prediction.short:
            return "below-minimum", f"the marked prefix has fewer than {rule.minimum:,} tokens"
        reach = f"looks back over {rule.look_back} blocks" if rule.look_back else "looks for what was marked"
        return "moved-breakpoint", f"a cache mark {reach} and finds no entry: the mark before is farther away"
    if waited >= rule.lifetime and not isinstance(rule, Marks):
        return (
            "expired",
            f"{_time(waited)} passed since the last use, and the cache may live for {_time(rule.lifetime)}",
        )
    if isinstance(rule, Marks) and (prompt.keyed or not rule.needs_key):
        return "unexplained", "the prefix is unchanged and still alive, and the API did not read it"
    return "not-promised", "the prefix is unchanged; the API may read it and did not"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    if seconds >= 7200:
        return f"{seconds / 3600:.0f} hours"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} minutes {rest} s" if rest and minutes < 10 else f"{minutes} minutes"


def with_price(
    entry: CacheEntry | None, trip: RoundTrip, reading: Reading, rates: InputRates | None = None
) -> CacheEntry | None:
    """The entry of a turn with the price of its miss, by the prices of its day; `rates` are those of the turn."""
    if entry is None or entry.miss is None:
        return entry
    return replace(entry, miss=replace(entry.miss, price=price_of(trip, reading, entry.miss.tokens, rates)))


def price_of(trip: RoundTrip, reading: Reading, tokens: int, rates: InputRates | None = None) -> Decimal | None:
    """What tokens cost more than if they had been read from the cache, in US dollars."""
    usage = reading.usage
    if usage is None or usage.input is None:
        return None
    read, written = usage.cache_read or 0, usage.cache_write or 0
    moved = min(written, tokens)
    hour = max(0, usage.cache_write_1h - moved)
    fresh = tokens - moved
    if rates is not None and not usage.input_audio and fresh <= usage.input - read - written:
        # All tokens of a kind have one rate: the bill of the other turn need not be made.
        kept = usage.cache_write_1h - hour
        more = kept * rates.write_1h + (moved - kept) * rates.write + fresh * rates.fresh - tokens * rates.read
        return max(Decimal(0), more)
    better = replace(usage, cache_read=read + tokens, cache_write=written - moved, cache_write_1h=hour)
    paid, could = (cost_of(trip, replace(reading, usage=one, stated_cost=None)) for one in (usage, better))
    return max(Decimal(0), paid.amount - could.amount) if paid is not None and could is not None else None
