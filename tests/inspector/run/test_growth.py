"""Where the tokens of a turn went, by figures worked out by hand."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from conversations import chat, loop, said, user

from turntape.inspector.analysis.known_prices import keeping_prices
from turntape.inspector.run import growth
from turntape.inspector.run.growth import Tokens, context_window, steps, summed, tokens_of
from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip import strip_of
from turntape.inspector.wire.values import Usage


def turn(usage: Usage, before: Usage | None = None) -> Row:
    return replace(Run.of(loop()).rows.all[0], usage=usage, before=before)


def test_without_a_cache_the_history_is_resent_and_the_rest_is_new() -> None:
    assert tokens_of(turn(Usage(input=150, output=20), Usage(input=100))) == Tokens(resent=100, new=50, output=20)


def test_the_first_turn_is_all_new() -> None:
    assert tokens_of(turn(Usage(input=100, output=10))) == Tokens(new=100, output=10)


def test_what_the_cache_covers_is_not_resent() -> None:
    # 1,000 in: 600 read, 100 written, 300 others. The history was 800 long: 100 of it were written again, 100 not.
    usage = Usage(input=1000, cache_read=600, cache_write=100, output=50, reasoning=20)

    assert tokens_of(turn(usage, Usage(input=800))) == Tokens(600, 100, 100, 0, 200, 30, 20)


def test_what_is_written_behind_the_history_is_new() -> None:
    usage = Usage(input=1000, cache_read=600, cache_write=390)

    assert tokens_of(turn(usage, Usage(input=700))) == Tokens(600, rewritten=100, cache_write=290, new=10)
    assert tokens_of(turn(usage)) == Tokens(600, cache_write=390, new=10)


def test_a_history_that_was_cut_short_is_no_more_than_the_request() -> None:
    assert tokens_of(turn(Usage(input=40, output=0), Usage(input=900))) == Tokens(resent=40)


def test_the_parts_add_up_to_what_the_api_said() -> None:
    usage = Usage(input=1000, cache_read=999, cache_write=0, output=7, reasoning=7)

    found = tokens_of(turn(usage, Usage(input=1)))

    assert found is not None
    assert (found.input, found.output + found.reasoning, found.total) == (1000, 7, 1007)


def test_what_was_not_said_is_not_0() -> None:
    assert tokens_of(turn(Usage())) is None


def test_the_cost_adds_up_turn_by_turn() -> None:
    grown = list(steps(enumerate(Run.of(loop()).rows.all)))

    # gpt-5: $1.25 a million in, $10 out.
    assert [step.cumulative for step in grown] == [Decimal("0.000225"), Decimal("0.0006125")]
    assert summed(grown) == Tokens(resent=100, new=150, output=30)


def test_the_window_is_known_or_it_is_not() -> None:
    assert context_window("claude-opus-4-5", "anthropic") == 200_000
    assert context_window("my-own-model", None) is None
    assert context_window(None, None) is None


def test_the_fill_counts_what_went_in_and_what_came_out() -> None:
    row = replace(turn(Usage(input=30_000, output=10_000)), model="claude-opus-4-5", provider="anthropic")

    (step,) = steps([(0, row)])

    assert step.fill == 0.2


def test_turns_without_a_known_price_are_counted_up_to_each_step() -> None:
    models = ("gpt-4o", "some-model-of-ours", "gpt-4o", "some-model-of-ours")
    rows = Run.of([chat([user("go")], said("yes"), model=model, index=at) for at, model in enumerate(models)]).rows.all

    assert [step.unpriced for step in steps(enumerate(rows))] == [0, 1, 1, 2]
    assert [turn.unpriced for turn in strip_of(rows).in_order] == [0, 1, 1, 2]


@pytest.mark.parametrize("model", ["gpt-5-2025-08-07", "my-own-finetune-of-something"])
def test_the_second_command_knows_the_window_without_the_list(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_list() -> object:
        raise AssertionError("the price list is loaded")

    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path))
    ask = context_window.__wrapped__
    listed = ask(model, "openai")
    with keeping_prices():
        assert ask(model, "openai") == listed
    monkeypatch.setattr(growth, "price_list", no_list)
    with keeping_prices():
        assert ask(model, "openai") == listed
    with pytest.raises(AssertionError, match="is loaded"):
        ask(model, "openai")
