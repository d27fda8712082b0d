"""Answers with several choices: each is readable, and the turn's finish is the most severe of theirs."""

from itertools import pairwise
from typing import Any, get_args

import pytest
from round_trips import CHAT, GEMINI, exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.shared.choices import MOST_SEVERE_FIRST, choices_of, most_severe
from turntape.inspector.wire.values import Choice, FinishLabel, Part, Reading

COMPLETIONS = "http://localhost/v1/completions"


@pytest.mark.parametrize(("worse", "milder"), pairwise(MOST_SEVERE_FIRST))
def test_the_worse_finish_counts_in_any_order(worse: FinishLabel, milder: FinishLabel) -> None:
    assert most_severe([("a", milder), ("b", worse)]) == ("b", worse)
    assert most_severe([("b", worse), ("a", milder)]) == ("b", worse)


def test_failures_are_worse_than_caps_and_caps_than_ordinary_ends() -> None:
    rank = MOST_SEVERE_FIRST.index

    assert max(map(rank, ("error", "malformed", "content_filter", "refusal"))) < rank("length")
    assert max(map(rank, ("length", "context_full", "limit"))) < rank("tool_calls")
    assert rank("tool_calls") < rank("stop_sequence") < rank("complete")


def test_a_choice_without_a_word_counts_last_and_of_equals_the_first() -> None:
    assert most_severe([(None, None), ("stop", "complete")]) == ("stop", "complete")
    assert most_severe([("a", "length"), ("b", "length")]) == ("a", "length")
    assert most_severe([("", None)]) == ("", None)
    assert most_severe([]) == (None, None)


def test_a_choice_has_the_parts_below_its_place() -> None:
    parts = [Part("text", f"/choices/{place}/message/content", text) for place, text in ((0, "a"), (1, "b"), (10, "c"))]
    verdicts: list[tuple[str | None, FinishLabel | None]] = [("stop", "complete"), ("length", "length")]

    assert choices_of(parts, verdicts, "/choices") == (
        Choice(0, "stop", "complete", (parts[0],)),
        Choice(1, "length", "length", (parts[1],)),
    )
    assert choices_of(parts, verdicts[:1], "/choices") == ()


def texts(reading: Reading) -> list[tuple[int, str, str | None]]:
    """Place, text and label of each choice."""
    assert reading.emission is not None
    return [(one.index, one.text, one.finish) for one in reading.emission.choices]


def delta(index: int, content: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": {"content": content}, "finish_reason": finish}]}


def message(index: int, content: str, finish: str) -> dict[str, Any]:
    return {"index": index, "message": {"role": "assistant", "content": content}, "finish_reason": finish}


def candidate(text: str, finish: str | int) -> dict[str, Any]:
    return {"content": {"parts": [{"text": text}]}, "finishReason": finish}


@pytest.mark.parametrize(
    ("url", "answer", "raw"),
    [
        (CHAT, {"choices": [message(0, "a", "stop"), message(1, "b", "content_filter")]}, "content_filter"),
        (
            CHAT,
            sse(delta(1, "b"), delta(0, "a"), delta(1, "", "content_filter"), delta(0, "", "stop"), done=True),
            "content_filter",
        ),
        (GEMINI, {"candidates": [candidate("a", "STOP"), candidate("b", "SAFETY")]}, "SAFETY"),
        (
            COMPLETIONS,
            {"choices": [{"text": "a", "finish_reason": "stop"}, {"text": "b", "finish_reason": "content_filter"}]},
            "content_filter",
        ),
    ],
)
def test_every_choice_is_read_and_the_most_severe_finish_is_the_turns(url: str, answer: Any, raw: str) -> None:
    reading = read(exchanged(url, {"messages": [], "prompt": "x", "n": 2}, answer))

    assert texts(reading) == [(0, "a", "complete"), (1, "b", "content_filter")]
    assert reading.emission is not None and reading.finish is not None
    assert reading.emission.text == "a"
    assert (reading.finish.raw, reading.finish.label) == (raw, "content_filter")


def test_gemini_names_the_number_of_the_most_severe_candidate() -> None:
    reading = read(exchanged(GEMINI, {}, {"candidates": [candidate("a", 1), candidate("b", 2)]}))

    assert reading.finish is not None
    assert (reading.finish.raw, reading.finish.label, reading.finish.detail) == ("2", "length", "MAX_TOKENS")


def test_a_single_choice_is_not_listed() -> None:
    for url, answer in (
        (CHAT, {"choices": [message(0, "a", "stop")]}),
        (GEMINI, {"candidates": [candidate("a", "STOP")]}),
        (COMPLETIONS, {"choices": [{"text": "a", "finish_reason": "stop"}]}),
    ):
        assert texts(read(exchanged(url, {"messages": [], "prompt": "x"}, answer))) == []


def test_a_native_word_is_of_its_own_choice() -> None:
    answer = {
        "choices": [
            message(0, "a", "stop"),
            {**message(1, "b", "stop"), "native_finish_reason": "MAX_TOKENS"},
        ]
    }

    assert texts(read(exchanged(CHAT, {"messages": []}, answer))) == [(0, "a", "complete"), (1, "b", "length")]


def test_a_choice_has_its_own_reasoning_and_refusal() -> None:
    refusal = {"index": 1, "message": {"refusal": "no", "reasoning": "hm"}, "finish_reason": "stop"}
    reading = read(exchanged(CHAT, {"messages": []}, {"choices": [message(0, "a", "stop"), refusal]}))

    assert reading.emission is not None
    first, second = reading.emission.choices
    assert (first.refusal, first.reasoning) == (None, "")
    assert (second.refusal, second.reasoning, second.text, second.calls) == ("no", "hm", "", ())


def test_every_label_has_its_rank() -> None:
    assert sorted(MOST_SEVERE_FIRST) == sorted(get_args(FinishLabel.__value__))
