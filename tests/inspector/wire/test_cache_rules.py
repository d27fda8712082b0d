"""Which cache rule a model has."""

import pytest
from round_trips import exchanged

from turntape.inspector.wire.cache_rules import CLAUDE, FAMILIES, GEMINI, NOVA, OPENAI, CacheRule, Grid, Marks, rule_for
from turntape.inspector.wire.caching import rule_of
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.providers import PROVIDERS, provider_of


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("claude-opus-5", 512),
        ("claude-opus-5-20260801", 512),
        ("claude-opus-5-5", 1024),
        ("claude-opus-5.5", 1024),
        ("claude-fable-5-1", 512),
        ("claude-opus-4-8", 1024),
        ("claude-opus-4-7", 2048),
        ("claude-opus-4-6", 4096),
        ("claude-opus-4-5-20251101", 4096),
        ("claude-opus-4-1", 1024),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", 4096),
        ("claude-3-5-haiku-latest", 2048),
        ("anthropic/claude-sonnet-4.6", 1024),
    ],
)
def test_claude_keeps_prefixes_from_a_minimum_on(model: str, minimum: int) -> None:
    rule = rule_for(CLAUDE, model)
    assert isinstance(rule, Marks)
    assert (rule.minimum, rule.look_back, rule.promised) == (minimum, 20, True)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o-mini", "grid of 128"),
        ("gpt-4.1", "grid of 128"),
        ("gpt-5", "grid of 128"),
        ("gpt-5-nano", "grid of 128"),
        ("gpt-5.5", "grid of 128"),
        ("gpt-5.6-sol", "marks"),
        ("gpt-6.1", "marks"),
        ("o4-mini", "grid of 128"),
        ("openai.gpt-5.6-luna", "marks"),
    ],
)
def test_openai_changed_its_cache_with_gpt_5_6(model: str, name: str) -> None:
    rule = rule_for(OPENAI, model)
    assert rule is not None and rule.name == name


def test_models_without_a_cache_have_no_rule() -> None:
    assert rule_for(OPENAI, "gpt-3.5-turbo") is None
    assert rule_for(CLAUDE, None) is None
    assert rule_for(provider_of("groq").cache or (), "llama-3.3-70b") is None


@pytest.mark.parametrize(
    ("provider", "model", "name"),
    [
        ("xai", "grok-4.3", "grid of 64"),
        ("mistral", "magistral-small", "grid of 16"),
        ("deepseek", "deepseek-chat", "units"),
        ("groq", "openai/gpt-oss-120b", "grid of 128"),
        ("vertex", "claude-sonnet-4@20250514", "marks"),
        ("gemini", "gemini-2.5-flash", "none promised"),
        ("bedrock", "us.amazon.nova-lite-v1:0", "marks"),
        ("openrouter", "deepseek/deepseek-v3.2", "units"),
        ("vllm", "any", "grid of 16"),
        ("ollama", "qwen3", "one slot"),
    ],
)
def test_each_provider_has_its_rules(provider: str, model: str, name: str) -> None:
    rule = rule_for(provider_of(provider).cache or (), model)
    assert rule is not None and rule.name == name


def test_xai_reads_whole_steps_for_responses_alone() -> None:
    named = {
        path: rule.name
        for path in ("/v1/responses", "/v1/chat/completions")
        if (rule := rule_of(read(exchanged(f"https://api.x.ai{path}", {"model": "grok-4.3"}, {})))) is not None
    }
    assert list(named.values()) == ["grid of 64", "none promised"]


def test_what_is_not_promised_is_never_promised() -> None:
    tables = [table for row in PROVIDERS for table in (row.cache or (), *row.caches.values())]
    rules: list[CacheRule] = [rule for table in tables for _, rule in table]
    assert {type(rule).__name__ for rule in rules if rule.promised} == {"Marks"}
    vague = rule_for(GEMINI, "gemini-3-pro")
    assert vague is not None and vague.vague


def test_nova_loses_all_with_another_tool_choice() -> None:
    rule = rule_for(NOVA, "us.amazon.nova-lite-v1:0")
    assert rule is not None and rule.minimum == 1000
    assert [(one.cause, one.level) for one in rule.settings] == [("tool-choice", "tools")]


def test_gateways_have_the_rules_of_the_vendor() -> None:
    rule = rule_for(FAMILIES, "mistralai/codestral-2508")
    assert isinstance(rule, Grid) and rule.step == 16
