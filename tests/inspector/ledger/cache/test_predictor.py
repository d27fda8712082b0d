"""What the rules of a cache expect of each turn of a run, and why a part of the prompt was missed."""

import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import Diagnostics
from cached_turns import HOUR, MARK, POLICY, TOOL, asks, claude, entries, gpt, says, text
from openai.types.responses.response import PromptCacheDiagnosticsCacheMiss
from round_trips import exchanged

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import CacheEntry, Figure, Miss
from turntape.inspector.ledger.cache import CachePredictor
from turntape.inspector.ledger.cache.misses import API_WORDS
from turntape.inspector.run.labels import label_all

sys.path.append(str(Path(__file__).parents[4]))  # bench is not installed

from bench.ledger.cache_runs import DIALECTS, run

U = asks(text("What is a tape?", MARK))
BARE = asks(text("What is a tape?"))
MORE = [BARE, says("Fine."), asks(text("And a reel?", MARK))]


def miss_of(entry: CacheEntry) -> Miss:
    assert entry.miss is not None
    return entry.miss


def test_the_first_turn_of_a_run_is_unknown() -> None:
    (entry,) = entries(claude([U], (0, 5166, 3)))
    assert (entry.rule, entry.expected, entry.read, entry.written) == ("marks", "unknown", None, None)
    assert (entry.actual_read, entry.actual_written, entry.miss) == (0, 5166, None)


def test_what_a_mark_wrote_is_read_to_the_token() -> None:
    _, entry = entries(claude([U], (0, 5166, 3)), claude(MORE, (5166, 100, 3), at=30))
    assert entry.expected == "expected"
    assert entry.read == Figure.exact(5166)
    assert entry.written == Figure.exact(100)
    assert entry.miss is None


def test_a_read_is_predicted_before_the_answer_is_seen() -> None:
    _, entry = entries(claude([U], (0, 5166, 3)), claude(MORE, (0, 5266, 3), at=30))
    assert entry.read == Figure.exact(5166)
    assert (miss_of(entry).cause, miss_of(entry).tokens, miss_of(entry).because_of) == ("unexplained", 5166, 0)


def test_an_expired_entry_is_not_expected() -> None:
    _, entry = entries(claude([U], (0, 5166, 3)), claude(MORE, (0, 5266, 3), at=300))
    assert (entry.expected, entry.read, entry.written) == ("expected", Figure.exact(0), Figure.exact(5266))
    assert (miss_of(entry).cause, miss_of(entry).tokens) == ("expired", 5166)
    assert "lives for 5 minutes" in miss_of(entry).message


def test_an_hour_is_longer() -> None:
    long = asks(text("What is a tape?", HOUR))
    _, entry = entries(claude([long], (0, 5166, 3)), claude(MORE, (5166, 100, 3), at=3000))
    assert entry.read == Figure.exact(5166)


def test_a_read_lets_the_entry_live_on() -> None:
    again = claude(MORE, (5166, 100, 3), at=290)
    _, _, entry = entries(claude([U], (0, 5166, 3)), again, claude(MORE, (5266, 0, 3), at=580))
    assert entry.read == Figure.exact(5266)


def test_a_lost_prefix_has_a_price() -> None:
    _, entry = entries(
        claude([U], (0, 5166, 3)), claude(MORE, (0, 5266, 3), at=30, system=POLICY.replace("shortly", "briefly"))
    )
    missed = miss_of(entry)
    assert missed.cause == "changed-system"
    assert (missed.at, missed.first_byte, missed.tokens) == ("/system/0", 7, 5166)
    # Written for $3.75 a million instead of read for $0.30.
    assert missed.price == Decimal(5166) * Decimal("3.45") / 1_000_000


OTHER = {"name": "find", "description": "Finds.", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("cause", "change", "at"),
    [
        ("model", {"model": "claude-sonnet-4-5"}, ""),
        ("changed-tools", {"tools": [TOOL, OTHER]}, "/tools/1"),
        ("changed-tools", {"tools": [{**TOOL, "description": "Looked."}]}, "/tools/0"),
        ("changed-system", {"system": "It is 12:01. " + POLICY}, "/system/0"),
        ("tool-choice", {"tool_choice": {"type": "tool", "name": "look"}}, ""),
        ("thinking", {"thinking": {"type": "enabled", "budget_tokens": 2000}}, ""),
        ("speed", {"speed": "fast"}, ""),
        ("no-breakpoint", {"messages": [*MORE[:2], asks(text("And a reel?"))]}, ""),
    ],
)
def test_each_cause_of_a_miss(cause: str, change: dict[str, Any], at: str) -> None:
    fields: dict[str, Any] = {"messages": MORE, **change}
    _, entry = entries(claude([U], (0, 5166, 3)), claude(counts=(0, 5266, 3), at=30, **fields))
    assert (miss_of(entry).cause, miss_of(entry).at) == (cause, at)
    assert miss_of(entry).because_of == 0


def test_an_edited_result_is_found() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    again = {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {}}

    def brought(call_id: str, words: str, mark: dict[str, Any]) -> dict[str, Any]:
        return asks({"type": "tool_result", "tool_use_id": call_id, "content": words, **mark})

    begin = [BARE, {"role": "assistant", "content": [call, text("Fine.")]}]
    second = claude([*begin, brought("toolu_1", "tape", MARK)], (5166, 50, 3), at=9, content=[again])
    more = {"role": "assistant", "content": [again, text("Fine.")]}
    edited = [*begin, brought("toolu_1", "reel", {}), more, brought("toolu_2", "x", MARK)]
    *_, entry = entries(claude([U], (0, 5166, 3), content=[call]), second, claude(edited, (0, 5290, 3), at=20))
    missed = miss_of(entry)
    assert (missed.cause, missed.at, missed.tokens) == ("changed-history", "/messages/2/content/0", 5216)
    assert missed.first_byte == len('{"type":"tool_result","tool_use_id":"toolu_1","content":"')
    assert missed.message.startswith("the history changed: ")
    assert '"tape"' in missed.message and '"reel"' in missed.message


def test_only_the_order_of_the_tools_changed() -> None:
    first = claude([U], (0, 5166, 3), tools=[TOOL, OTHER])
    _, entry = entries(first, claude(MORE, (0, 5266, 3), at=30, tools=[OTHER, TOOL]))
    assert miss_of(entry).message == "the tools changed: only their order changed"


def test_a_system_mark_survives_another_tool_choice() -> None:
    first = claude([U], (0, 5166, 3), mark=MARK)
    forced = claude(MORE, (5000, 266, 3), at=30, mark=MARK, tool_choice={"type": "any"})
    _, entry = entries(first, forced)
    assert entry.read is not None
    assert entry.read.certainty == "estimated"
    assert abs(entry.read.value - 5000) <= 250
    assert (miss_of(entry).cause, miss_of(entry).tokens) == ("tool-choice", 166)


def test_a_mark_looks_back_over_twenty_blocks() -> None:
    far = [BARE, says("Fine."), asks(*(text(f"block {n}") for n in range(24)), text("end", MARK))]
    _, entry = entries(claude([U], (0, 5166, 3)), claude(far, (0, 6266, 3), at=30))
    assert (entry.read, miss_of(entry).cause) == (Figure.exact(0), "moved-breakpoint")
    near = [BARE, says("Fine."), asks(*(text(f"block {n}") for n in range(17)), text("end", MARK))]
    _, entry = entries(claude([U], (0, 5166, 3)), claude(near, (5166, 900, 3), at=30))
    assert entry.read == Figure.exact(5166)


def test_below_the_minimum_nothing_is_kept() -> None:
    short = "Be kind. " * 30
    sent = [claude([U], (0, 0, 803), system=short, mark=MARK), claude(MORE, (0, 0, 850), at=9, system=short, mark=MARK)]
    _, entry = entries(*sent)
    assert (entry.read, entry.written) == (Figure.exact(0), Figure(0, 0, 0, "estimated"))


def test_without_marks_nothing_is_expected() -> None:
    _, entry = entries(claude([BARE], (0, 0, 5169)), claude([BARE, says("Fine."), BARE], (0, 0, 5269), at=9))
    assert (entry.expected, entry.read, entry.written, entry.miss) == (
        "expected",
        Figure.exact(0),
        Figure.exact(0),
        None,
    )


def test_a_deferred_tool_is_not_in_the_prefix() -> None:
    late = {**OTHER, "defer_loading": True}
    _, entry = entries(claude([U], (0, 5166, 3)), claude(MORE, (5166, 100, 3), at=30, tools=[TOOL, late]))
    assert entry.read == Figure.exact(5166)
    assert entry.miss is None


def test_a_text_stays_the_same_when_it_becomes_a_list() -> None:
    plain = [{"role": "user", "content": "What is a tape?"}, {"role": "assistant", "content": "Fine."}, U]
    _, entry = entries(claude([U], (0, 5166, 3)), claude(plain, (5166, 100, 3), at=30))
    assert entry.read == Figure.exact(5166)


def test_more_than_the_tape_shows_is_only_possible() -> None:
    warm = claude([U], (5166, 0, 3))
    _, entry = entries(warm, claude(MORE, (5266, 0, 3), at=30))
    assert (entry.expected, entry.miss) == ("possible", None)


def test_tools_of_the_api_make_counts_that_say_nothing() -> None:
    searched = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "tape"}}
    _, entry = entries(claude([U], (0, 9000, 6), content=[searched]), claude(MORE, (5166, 100, 3), at=30))
    assert (entry.expected, entry.read) == ("possible", None)


def test_a_failed_turn_writes_nothing() -> None:
    _, entry = entries(claude([U], (0, 5166, 3), status=529), claude([U], (0, 5166, 3), at=3))
    assert entry.expected == "unknown"


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("model_changed", {"model": "claude-sonnet-4-5"}),
        ("model_changed", {"speed": "fast"}),
        ("tools_changed", {"tools": [TOOL, OTHER]}),
        ("system_changed", {"system": "It is 12:01. " + POLICY}),
        ("messages_changed", {"messages": [asks(text("What is a taper?")), *MORE[1:]]}),
    ],
)
def test_our_cause_is_that_of_anthropic(reason: str, change: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"messages": MORE, "diagnostics": {"previous_message_id": "msg_0"}, **change}
    first = claude([U], (0, 5166, 3))
    _, silent = entries(first, claude(counts=(0, 5266, 3), at=30, **fields))
    _, diagnosed = entries(first, claude(counts=(0, 5266, 3), at=30, diagnosed=said_by_api(reason), **fields))
    assert miss_of(silent).cause in API_WORDS[reason]
    assert miss_of(diagnosed) == miss_of(silent)


def said_by_api(reason: str) -> dict[str, Any]:
    """The API's own reason, as the types of its SDK have it."""
    said = {"cache_miss_reason": {"type": reason, "cache_missed_input_tokens": 5166}}
    return Diagnostics.model_validate(said).model_dump()


def test_the_api_knows_better() -> None:
    diagnosed = claude(MORE, (0, 5266, 3), at=30, diagnosed=said_by_api("tools_changed"))
    _, entry = entries(claude([U], (0, 5166, 3)), diagnosed)
    assert (miss_of(entry).cause, miss_of(entry).message) == ("changed-tools", "the API says tools_changed")


def test_a_turn_is_compared_with_the_answer_that_it_names() -> None:
    edited = claude(MORE, (0, 5266, 3), at=9, system="Edited. " + POLICY)
    named: dict[str, Any] = {"diagnostics": {"previous_message_id": "msg_0"}}
    later = claude(MORE, (0, 5270, 3), at=20, tools=[TOOL, OTHER], **named)
    assert miss_of(entries(claude([U], (0, 5166, 3)), edited, later)[2]).because_of == 0


@pytest.mark.parametrize(
    ("reason", "before", "after"),
    [
        ("model_changed", {}, {"model": "gpt-5.6-mini"}),
        ("prompt_cache_key_changed", {}, {"prompt_cache_key": "other"}),
        ("tools_changed", {}, {"tools": [{"type": "function", "name": "look"}]}),
        ("text_format_changed", {}, {"text": {"format": {"type": "json_object"}}}),
        ("reasoning_effort_changed", {"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "high"}}),
        ("verbosity_changed", {}, {"text": {"verbosity": "low"}}),
        ("service_tier_changed", {}, {"service_tier": "priority"}),
        ("input_changed", {}, {"instructions": "It is 12:01. " + POLICY}),
    ],
)
def test_our_cause_is_that_of_openai(reason: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    said = {"type": "cache_miss", "reason": reason, "cache_missed_tokens": 2000}
    PromptCacheDiagnosticsCacheMiss.model_validate(said)
    first = response([asks_gpt("a")], (2000, 0, 1997), **before)
    longer = [asks_gpt("a"), REPLIED, asks_gpt("b")]
    _, silent = entries(first, response(longer, (2100, 0, 2097), at=9, **{**before, **after}))
    _, diagnosed = entries(first, response(longer, (2100, 0, 2097), at=9, diagnosed=said, **{**before, **after}))
    assert miss_of(silent).cause in API_WORDS[reason]
    assert miss_of(diagnosed) == miss_of(silent)


REPLIED = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Fine."}]}


def asks_gpt(words: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "input_text", "text": words}]}


def response(
    items: list[dict[str, Any]],
    counts: tuple[int, int, int],
    *,
    at: float = 0.0,
    diagnosed: dict[str, Any] | None = None,
    **fields: Any,
) -> RoundTrip:
    """A turn of GPT-5.6 on Responses: `counts` are input, read and written."""
    total, read, written = counts
    body = {"model": "gpt-5.6", "instructions": POLICY, "prompt_cache_key": "agent", "input": items, **fields}
    usage = {
        "input_tokens": total,
        "input_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "output_tokens": 9,
        "total_tokens": total + 9,
    }
    said = {
        "id": f"resp_{at:.0f}",
        "object": "response",
        "status": "completed",
        "model": body["model"],
        "output": [REPLIED],
        "usage": usage,
        **({"prompt_cache_diagnostics": diagnosed} if diagnosed else {}),
    }
    return replace(exchanged("https://api.openai.com/v1/responses", body, said), started_at=at)


def test_gpt_5_6_reads_what_it_kept_of_the_whole_prompt() -> None:
    longer = [asks_gpt("a"), REPLIED, asks_gpt("b")]
    _, entry = entries(response([asks_gpt("a")], (2000, 0, 1997)), response(longer, (2100, 1997, 100), at=1700))
    assert (entry.expected, entry.read, entry.written) == ("expected", Figure.exact(1997), Figure.exact(100))


def test_gpt_5_6_promises_nothing_without_a_key() -> None:
    first = response([asks_gpt("a")], (2000, 0, 1997), prompt_cache_key=None)
    longer = [asks_gpt("a"), REPLIED, asks_gpt("b")]
    _, entry = entries(first, response(longer, (2100, 0, 2097), at=1, prompt_cache_key=None))
    assert (entry.expected, miss_of(entry).cause) == ("possible", "not-promised")


ASK = {"role": "user", "content": "Say more about it. " * 300}
REPLY = {"role": "assistant", "content": "Fine."}


def test_a_grid_is_read_in_whole_steps_and_never_promised() -> None:
    _, entry = entries(gpt([ASK], (2006, 0, 300)), gpt([ASK, REPLY, ASK], (2356, 2304, 9), at=1))
    assert (entry.rule, entry.expected, entry.written) == ("grid of 128", "possible", None)
    assert entry.read is not None
    assert (entry.read.value, entry.read.low, entry.read_less) == (2304, 0, 1920)
    _, entry = entries(gpt([ASK], (2006, 0, 1)), gpt([ASK, REPLY, ASK], (2356, 1920, 9), at=1))
    assert entry.read_less is None


@pytest.mark.parametrize(("provider", "read"), [("api.x.ai", 128), ("api.openai.com", 0)])
def test_text_that_the_api_puts_in_front_is_read_also_where_nothing_else_is(provider: str, read: int) -> None:
    def asked(word: str, at: float) -> RoundTrip:
        body = {"model": "grok-4.3" if read else "gpt-5", "input": [{"role": "user", "content": f"{word}. " * 40}]}
        counts = {"input_tokens": 200, "input_tokens_details": {"cached_tokens": read}, "output_tokens": 5}
        answer = {"id": f"resp_{word}", "object": "response", "status": "completed", "output": [], "usage": counts}
        return replace(exchanged(f"https://{provider}/v1/responses", body, answer), started_at=at)

    first, second = entries(asked("one", 0.0), asked("two", 1.0))
    assert (first.expected, first.read) == ("unknown", None)
    assert second.read is not None and (second.read.value, second.read.low) == (read, 0)
    assert second.expected == ("possible" if read else "expected") and second.miss is None


def test_nothing_is_exact_where_others_use_the_cache() -> None:
    other = {"role": "user", "content": "Another question. " * 300}
    _, alone = entries(gpt([ASK], (2006, 0, 300)), gpt([other], (2006, 0, 300), at=1))
    assert (alone.expected, alone.read) == ("expected", Figure.exact(0))
    _, entry = entries(gpt([ASK], (2006, 1920, 300)), gpt([other], (2006, 128, 300), at=1))
    assert entry.read is not None
    assert (entry.expected, entry.read.value, entry.read.certainty) == ("possible", 0, "estimated")
    _, marked = entries(claude([U], (5166, 0, 3)), claude([asks(text("Another one.", MARK))], (40, 0, 3), at=30))
    assert marked.read is not None
    assert (marked.expected, marked.read.value, marked.read.certainty) == ("possible", 0, "estimated")


def test_a_grid_that_is_not_read_broke_no_promise() -> None:
    _, entry = entries(gpt([ASK], (2006, 0, 300)), gpt([ASK, REPLY, ASK], (2356, 0, 9), at=1))
    assert (miss_of(entry).cause, miss_of(entry).tokens) == ("not-promised", 1920)
    _, entry = entries(gpt([ASK], (2006, 0, 300)), gpt([ASK, REPLY, ASK], (2356, 0, 9), at=900))
    assert miss_of(entry).cause == "expired"


def test_another_schema_for_the_answer_is_another_prefix() -> None:
    second = gpt([ASK, REPLY, ASK], (2356, 0, 9), at=1, response_format={"type": "json_object"})
    _, entry = entries(gpt([ASK], (2006, 0, 300)), second)
    assert miss_of(entry).cause == "text-format"


def test_a_small_request_is_not_expected_to_be_read() -> None:
    small = {"role": "user", "content": "Hello."}
    _, entry = entries(gpt([small], (20, 0, 9)), gpt([small, REPLY, small], (60, 0, 9), at=1))
    assert (entry.expected, entry.read, entry.miss) == ("expected", Figure.exact(0), None)


def test_an_unknown_model_has_no_rule() -> None:
    _, entry = entries(
        gpt([ASK], (2006, 0, 300), model="gpt-3.5-turbo"), gpt([ASK], (2006, 128, 3), model="gpt-3.5-turbo")
    )
    assert (entry.rule, entry.expected, entry.read, entry.actual_read) == ("unknown", "unknown", None, 128)


@pytest.mark.parametrize("name", DIALECTS)
def test_predictions_agree_with_the_simulated_cache(name: str) -> None:
    predictor, right, asked = CachePredictor(), 0, 0
    for place, one in enumerate(label_all(run(name, 1, 9))):
        assert one.turn is not None
        entry = predictor.add(place, one.turn)
        if place == 0:
            continue
        assert entry.read is not None and entry.actual_read is not None
        step = {"grid of 128": 128, "units": 128, "grid of 64": 64, "grid of 16": 16}.get(entry.rule, 0)
        right += abs(entry.read.value - entry.actual_read) <= step or entry.expected == "possible" != bool(
            entry.actual_read
        )
        asked += 1
        if entry.read.certainty == "exact" and entry.expected == "expected":
            assert entry.read.value == entry.actual_read
    assert right / asked >= 0.8
