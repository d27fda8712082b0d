"""Models without a price, and the line that gives them one."""

import tomllib
from dataclasses import replace
from typing import Any

import pytest
from conversations import HELLO, chat, said
from judged import trip

from turntape.inspector.run.unpriced import PriceReport, Unpriced, listed_like


def acme(index: int, model: str = "acme-7b", **more: Any) -> Any:
    return chat([HELLO], said("hi"), model=model, index=index, **more)


def test_models_without_a_price_are_summed_up_by_provider() -> None:
    report = PriceReport()
    elsewhere = acme(1)
    elsewhere = replace(
        elsewhere, upstream="gateway", request=replace(elsewhere.request, url="http://x/v1/chat/completions")
    )
    report.add("a.jsonl", [acme(0), chat([HELLO], said("hi")), acme(2, usage=(5, 3))])
    report.add("b.jsonl", [acme(0), elsewhere])

    first, second = report.models.values()

    assert report.turns == 5
    assert (first.model, first.provider, first.turns) == ("acme-7b-2025-08-07", "openai", 3)
    assert (first.input, first.output, first.files) == (205, 23, ["a.jsonl", "b.jsonl"])
    assert (second.model, second.provider, second.turns) == ("acme-7b-2025-08-07", "gateway", 1)
    assert second.files == ["b.jsonl"]


def test_what_can_have_no_price_is_not_listed() -> None:
    report = PriceReport()
    report.add("a.jsonl", [acme(0, usage=None), acme(1, status=500, error={"error": {"message": "no"}})])

    assert (report.turns, report.models) == (0, {})


def test_a_model_with_a_price_is_listed_with_the_fees_that_have_none() -> None:
    report = PriceReport()
    code = {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1", "container_id": "c"}
    text = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "1"}]}
    for output in ([code, code, text], [text]):
        answer = {"id": "r", "object": "response", "status": "completed", "model": "gpt-5", "output": output}
        counts = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}
        asked = {
            "model": "gpt-5",
            "input": "hi",
            "tools": [{"type": "code_interpreter", "container": {"type": "auto"}}],
        }
        report.add("a.jsonl", [trip("https://api.openai.com/v1/responses", asked, {**answer, "usage": counts})])

    (one,) = report.models.values()

    assert (report.turns, one.turns, one.fees, one.line) == (2, 1, ["code interpreter"], None)


def test_a_stated_cost_needs_no_price() -> None:
    report = PriceReport()
    choice = {"index": 0, "message": said("hi"), "finish_reason": "stop"}
    counts = {"prompt_tokens": 3, "completion_tokens": 2, "cost": 0.25}
    report.add("a.jsonl", [chat([HELLO], error={"model": "acme-1", "choices": [choice], "usage": counts})])

    assert (report.turns, report.models) == (1, {})


@pytest.mark.parametrize(
    ("model", "like"),
    [
        ("anthropic/claude-haiku-4.5", "anthropic/claude-haiku-4-5"),
        ("team/anthropic/claude-haiku-4.5", "anthropic/claude-haiku-4-5"),
        ("acme/claude-haiku-4.5", None),
        ("anthropic/acme", None),
        ("acme-7b", None),
    ],
)
def test_a_listed_model_of_the_same_name(model: str, like: str | None) -> None:
    assert listed_like(model) == like


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("acme-7b", {"input": "?", "output": "?"}),
        ('a"b\\c', {"input": "?", "output": "?"}),
        ("anthropic/claude-haiku-4.5", {"like": "anthropic/claude-haiku-4-5"}),
    ],
)
def test_the_line_is_toml_that_waits_for_its_amounts(model: str, row: dict[str, str]) -> None:
    assert tomllib.loads(f"[prices]\n{Unpriced(model, None).line}") == {"prices": {model: row}}
