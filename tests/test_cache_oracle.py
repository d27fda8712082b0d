"""The simulator of caches against the test vectors of the reference, and its usage in the words of each API.

The vectors are those of caching.md, section 6 (read 2026-11-22): tokens read, written and fresh.
"""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent))  # bench is not installed

from bench.ledger.cache_oracle.apis import APIS
from bench.ledger.cache_oracle.automatic import GridCache, SlotCache, UnitCache, WhimCache
from bench.ledger.cache_oracle.backend import claude, converse, deepseek, gemini, gpt_4_1, gpt_5_6
from bench.ledger.cache_oracle.marked import MarkedCache
from bench.ledger.cache_oracle.prompt import FIVE_MINUTES, HOUR, Block, Counts, Prompt

M = FIVE_MINUTES


def system(size: int, mark: float | None = None, text: str = "S") -> Block:
    return Block(text, size, mark, "system")


def ask(cache: MarkedCache, *blocks: Block, at: float = 0.0, **more: object) -> tuple[int, int, int]:
    return cache.answer(Prompt(tuple(blocks), at, **more)).figures  # pyright: ignore[reportArgumentType]


def test_a_marked_end_is_read_by_the_next_request() -> None:
    cache = MarkedCache()
    assert ask(cache, system(5000), Block("u", 166, M)) == (0, 5166, 3)
    again = (system(5000), Block("u", 166), Block("a", 40), Block("r", 60, M))
    assert ask(cache, *again, at=30) == (5166, 100, 3)


@pytest.mark.parametrize(("rest", "fresh"), [(200, 1203), (300, 1303)])
def test_a_prefix_below_the_minimum_is_not_kept(rest: int, fresh: int) -> None:
    cache = MarkedCache(1024)
    assert ask(cache, system(1000, M), Block("u", rest)) == (0, 0, fresh)
    assert ask(cache, system(1000, M), Block("u", rest), at=1) == (0, 0, fresh)


def test_the_minimum_counts_at_the_mark() -> None:
    cache = MarkedCache(1024)
    assert ask(cache, system(1024, M)) == (0, 1024, 3)


def test_an_entry_dies_five_minutes_after_its_request_began() -> None:
    cache = MarkedCache()
    ask(cache, system(5000, M), Block("u", 166, M))
    more = (system(5000, M), Block("u", 166), Block("a", 40), Block("r", 60, M))
    assert ask(cache, *more, at=310) == (0, 5266, 3)


def test_a_read_lets_an_entry_and_the_shorter_ones_live_on() -> None:
    cache = MarkedCache()
    ask(cache, system(5000, M), Block("u", 166, M))
    assert ask(cache, system(5000, M), Block("u", 166, M), at=299) == (5166, 0, 3)
    assert ask(cache, system(5000, M), Block("u", 166, M), at=598) == (5166, 0, 3)
    assert ask(cache, system(5000, M), Block("v", 166, M), at=890) == (5000, 166, 3)


def test_an_hour_outlives_five_minutes() -> None:
    cache = MarkedCache()
    first = cache.answer(Prompt((system(5000, HOUR), Block("u", 166, M))))
    assert (first.written, first.written_hour) == (5166, 5000)
    assert ask(cache, system(5000, HOUR), Block("u", 166, M), at=400) == (5000, 166, 3)


def test_a_mark_looks_back_over_twenty_blocks() -> None:
    many = [Block(f"b{i}", 50) for i in range(23)]
    for mark, expected in ((None, (0, 6300, 3)), (M, (5000, 1300, 3))):
        cache = MarkedCache()
        ask(cache, system(5000, mark), Block("u", 100, M))
        assert ask(cache, system(5000, mark), Block("u", 100), *many, Block("end", 50, M), at=1) == expected


@pytest.mark.parametrize(("between", "read"), [(18, 5100), (19, 0)])
def test_its_own_block_is_one_of_the_twenty(between: int, read: int) -> None:
    cache = MarkedCache()
    ask(cache, system(5000), Block("u", 100, M))
    many = [Block(f"b{i}", 50) for i in range(between)]
    assert ask(cache, system(5000), Block("u", 100), *many, Block("end", 50, M), at=1)[0] == read


def test_a_changed_system_prompt_leaves_the_tools() -> None:
    cache = MarkedCache()
    tools = Block("T", 2000, M, "tools")
    ask(cache, tools, system(3000, M), Block("u", 100, M))
    more = (tools, system(3000, M, "edited"), Block("u", 100), Block("a", 40), Block("r", 60, M))
    assert ask(cache, *more, at=1) == (2000, 3200, 3)


def test_a_setting_of_the_messages_leaves_the_system_prompt() -> None:
    cache = MarkedCache()
    ask(cache, system(5000, M), Block("u", 166, M))
    more = (system(5000, M), Block("u", 166), Block("a", 40), Block("r", 60, M))
    assert ask(cache, *more, at=1, salts=(("messages", "thinking"),)) == (5000, 266, 3)


def test_another_model_or_scope_is_another_cache() -> None:
    cache = MarkedCache()
    ask(cache, system(5000, M))
    assert ask(cache, system(5000, M), at=1, model="other") == (0, 5000, 3)
    assert ask(cache, system(5000, M), at=1, scope="other") == (0, 5000, 3)
    assert ask(cache, system(5000, M), at=1) == (5000, 0, 3)


def test_at_most_four_marks_count() -> None:
    cache = MarkedCache()
    ask(cache, *(Block(f"b{i}", 2000, M) for i in range(5)))
    assert ask(cache, Block("b0", 2000, M), at=1) == (0, 2000, 3)


@pytest.mark.parametrize(("mark", "expected"), [(1800.0, (6000, 1478, 3)), (None, (0, 7478, 3))])
def test_gpt_5_6_reads_what_was_marked(mark: float | None, expected: tuple[int, int, int]) -> None:
    cache = MarkedCache(1024, None, 4, 80, implicit=1800.0)
    assert ask(cache, Block("P", 6000, mark), Block("A", 1537)) == (0, 7537, 3)
    assert ask(cache, Block("P", 6000, mark), Block("B", 1478), at=1) == expected


@pytest.mark.parametrize(("keeps", "expected"), [(True, (2304, 0, 52)), (False, (1920, 0, 436))])
def test_a_grid_cuts_at_128(keeps: bool, expected: tuple[int, int, int]) -> None:
    cache = GridCache(keeps_output=keeps)
    said = Block("a", 300)
    assert cache.answer(Prompt((Block("u", 2006),), tail=0), [said]).figures == (0, 0, 2006)
    more = Prompt((Block("u", 2006), said, Block("v", 50)), 1, tail=0)
    assert cache.answer(more).figures == expected


def test_a_grid_reads_nothing_below_its_minimum_or_after_its_lifetime() -> None:
    cache = GridCache()
    cache.answer(Prompt((Block("u", 1000),), tail=0))
    assert cache.answer(Prompt((Block("u", 1000), Block("v", 500)), 1, tail=0)).read == 0
    cache.answer(Prompt((Block("w", 2000),), tail=0))
    assert cache.answer(Prompt((Block("w", 2000), Block("v", 500)), 301, tail=0)).read == 0


@pytest.mark.parametrize(("keeps", "expected"), [(True, (768, 0, 39)), (False, (640, 0, 167))])
def test_deepseek_reads_whole_units(keeps: bool, expected: tuple[int, int, int]) -> None:
    cache = UnitCache(keeps_output=keeps)
    said = Block("a", 40)
    cache.answer(Prompt((Block("u", 740),), tail=0), [said])
    assert cache.answer(Prompt((Block("u", 740), said, Block("v", 27)), 1, tail=0)).figures == expected


def test_deepseek_reads_a_fork_from_the_third_request_on() -> None:
    cache = UnitCache()
    reads = [cache.answer(Prompt((Block("P", 1280), Block(end, 300)), n, tail=0)).read for n, end in enumerate("abc")]
    assert reads == [0, 0, 1280]


def test_llama_cpp_has_one_slot() -> None:
    cache = SlotCache()
    said = Block("a", 97)
    cache.answer(Prompt((Block("u", 291),), tail=0), [said])
    assert cache.answer(Prompt((Block("u", 291), said, Block("v", 15)), 1, tail=0)).figures == (387, 0, 16)
    cache.answer(Prompt((Block("x", 10),), tail=0))
    assert cache.answer(Prompt((Block("u", 291),), tail=0)).read == 0
    assert cache.answer(Prompt((Block("u", 291),), tail=0)).read == 290


def test_gemini_may_read_nothing() -> None:
    cache = WhimCache()
    asked = [cache.answer(Prompt((Block("u", 3000),), n, tail=0)).read for n in range(4)]
    assert asked == [0, 0, 1799, 2999]


def test_usage_in_the_words_of_each_api() -> None:
    counts = Counts(5, 30, 2, 10)
    assert APIS["anthropic-messages"].usage(counts, 7) == {
        "input_tokens": 2,
        "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10},
        "output_tokens": 7,
    }
    assert APIS["bedrock-converse"].usage(counts, 7)["totalTokens"] == 44
    assert APIS["bedrock-converse"].usage(counts, 7)["inputTokens"] == 2
    assert APIS["openai-chat"].usage(counts, 7)["prompt_tokens"] == 37
    assert APIS["openai-responses"].usage(counts, 7)["input_tokens_details"]["cached_tokens"] == 5
    assert APIS["deepseek-chat"].usage(counts, 7)["prompt_cache_miss_tokens"] == 32
    assert APIS["gemini-generate"].usage(counts, 7)["cachedContentTokenCount"] == 5
    assert "cachedContentTokenCount" not in APIS["gemini-generate"].usage(Counts(0, 0, 9), 7)


LONG = "many words of a prompt that is long enough for a cache " * 200


def claude_body(*messages: object) -> dict[str, object]:
    mark = {"cache_control": {"type": "ephemeral"}}
    return {"model": "claude", "system": [{"type": "text", "text": LONG, **mark}], "messages": list(messages)}


def test_claude_answers_bodies() -> None:
    api = claude()
    user = {"role": "user", "content": "one"}
    first = api.answer(claude_body(user), [], 5, 0.0)
    second = api.answer(claude_body(user, {"role": "assistant", "content": "two"}, user), [], 5, 10.0)
    assert first["cache_creation_input_tokens"] == second["cache_read_input_tokens"] > 2000
    assert first["input_tokens"] < second["input_tokens"] < 100


def test_a_deferred_tool_is_not_in_the_prompt() -> None:
    blocks = APIS["anthropic-messages"].blocks
    late = {"name": "late", "input_schema": {}, "defer_loading": True}
    body = {"tools": [late, {"name": "now", "input_schema": {}}], "messages": []}
    assert [block.level for block in blocks(body)] == ["tools"]


def test_converse_marks_what_comes_before_its_point() -> None:
    api = converse()
    point = {"cachePoint": {"type": "default"}}
    body = {"system": [{"text": LONG}, point], "messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    first = api.answer(body, [], 5, 0.0)
    assert api.answer(body, [], 5, 1.0)["cacheReadInputTokens"] == first["cacheWriteInputTokens"] > 2000


def test_the_others_answer_bodies() -> None:
    user, said = {"role": "user", "content": LONG}, {"role": "assistant", "content": "fine"}
    for api in (gpt_4_1(), deepseek()):
        api.answer({"messages": [user]}, [said], 5, 0.0)
        api.answer({"messages": [user, said, user]}, [said], 5, 1.0)
        assert api.last.read % 128 == 0 and api.last.read > 2000
    part = {"type": "input_text", "text": LONG, "prompt_cache_breakpoint": {"mode": "explicit"}}
    bodies = [
        {"input": [{"role": "user", "content": [part]}, {"role": "user", "content": [{"text": end}]}]} for end in "ab"
    ]
    api = gpt_5_6()
    api.answer(bodies[0], [], 5, 0.0)
    assert api.last.read == 0
    api.answer(bodies[1], [], 5, 1.0)
    assert api.last.read > 2000
    gone = gemini()
    gone.answer({"contents": [user]}, [said], 5, 0.0)
    assert gone.answer({"contents": [user]}, [said], 5, 1.0)["totalTokenCount"] > 2000
