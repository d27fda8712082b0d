"""The prompts of a run: which requests are held for the next ones."""

from dataclasses import replace

import pytest
from cached_turns import asks, claude, text

from turntape.inspector.ledger.cache import prompt
from turntape.inspector.ledger.cache.prefix_tree import PrefixTree
from turntape.inspector.ledger.cache.prompt import Prompts
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.caching import rule_of


def prompts_of(*words: str) -> tuple[Prompts, list[str]]:
    """The prompts of requests that begin a thread each, and the names of the threads."""
    trips = [claude([asks(text(one))], (0, 0, 100), at=at) for at, one in enumerate(words)]
    prompts, threads = Prompts(PrefixTree()), list[str]()
    for at, one in enumerate(label_all([replace(trip, index=index) for index, trip in enumerate(trips)])):
        assert one.turn is not None and (rule := rule_of(one.reading)) is not None
        prompts.add(one.turn, at, ("a",), rule)
        prompts.keep(one.turn.thread)
        threads.append(one.turn.thread)
    return prompts, threads


def test_the_latest_requests_are_held_until_no_more_follow() -> None:
    prompts, threads = prompts_of("one", "two")
    assert all(prompts.latest_blocks(thread) for thread in threads)

    prompts.forget()
    assert not any(prompts.latest_blocks(thread) for thread in threads) and not prompts.made_blocks()


def test_of_large_requests_only_the_latest_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt, "HELD", 5_000)
    prompts, threads = prompts_of("one" * 2000, "two" * 2000, "three" * 2000)

    assert [bool(prompts.latest_blocks(thread)) for thread in threads] == [False, False, True]
