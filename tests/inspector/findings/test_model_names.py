"""Which names are names of one model. The spellings are those of real APIs."""

import pytest

from turntape.inspector.findings.model_names import model_name, same_model

SAME = [
    ("gpt-5", "gpt-5-2025-08-07"),
    ("gpt-4", "gpt-4-0613"),
    ("gpt-4-turbo-preview", "gpt-4-0125-preview"),
    ("gpt-4-32k", "gpt-4-0613"),
    ("gpt-3.5-turbo-instruct", "gpt-3.5-turbo-instruct:20230824-v2"),
    ("gpt-35-turbo", "gpt-3.5-turbo-0125"),
    ("claude-opus-4-6", "us.anthropic.claude-opus-4-6-v1"),
    ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet-20241022"),
    ("anthropic.claude-3-5-sonnet-20241022-v2-0", "claude-3-5-sonnet-20241022"),
    ("eu.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4.5"),
    ("anthropic/claude-sonnet-4.5", "anthropic/claude-4.5-sonnet-20250929"),
    ("us-gov.anthropic.claude-3-haiku-20240307-v1:0", "claude-3-haiku-20240307"),
    ("amazon.nova-micro-v1:0", "nova-micro"),
    ("claude-sonnet-4", "claude-sonnet-4@20250514"),
    ("qwen3-235b-a22b-instruct-2507", "qwen/qwen3-235b-a22b-instruct-07-25"),
    ("Qwen/Qwen3-32B:cerebras", "qwen-3-32b"),
    ("qwen3:8b", "Qwen3-8B-Q4_K_M.gguf"),
    ("qwen3", "qwen3:8b"),
    ("accounts/fireworks/models/glm-4p6", "glm-4.6"),
    ("models/gemini-2.5-flash", "gemini-2.5-flash-preview-05-20"),
    ("gemini-2.5-flash-lite", "gemini-2.5-flash-lite-preview-09-2025"),
    ("gemini-1.5-flash", "gemini-1.5-flash-002"),
    ("gemini-2-flash", "gemini-2.0-flash"),
    ("gemini-flash", "gemini-2.5-flash"),
    ("mistral-large", "mistral-large-2411"),
    ("mixtral-8x7b-instruct", "mixtral-8x7b-instruct-v0.1"),
    ("deepseek-v3", "deepseek.v3-v1:0"),
    ("meta-llama/Llama-3.3-70B-Instruct-Turbo", "llama-3.3-70b-versatile"),
    ("llama3.2", "llama3.2:latest"),
    ("Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b"),
    ("gpt-oss-120b", "gpt-oss:120b"),
    ("claude", "claude-sonnet-4-5"),
    ("llama-3.1-8b-instruct", "llama-3.1-8b-instruct-fp8"),
    ("llama-3.1-8b-instruct-4bit", "llama-3.1-8b-instruct"),
    ("llama-3.1-8b-instruct-int4", "llama-3.1-8b-instruct-bf16"),
    ("claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ("eu.meta.llama3-70b", "llama3-70b"),
    ("apac.amazon.nova-pro", "nova-pro"),
    ("global.cohere.command-r", "command-r"),
    ("mistral.mistral-large", "mistral-large"),
    ("openai.gpt-oss-20b", "openai/gpt-oss-20b"),
    ("google.gemma-3", "gemma-3"),
    ("models.gemini-3", "models/gemini-3"),
    ("ai21.jamba-2", "jamba-2"),
    ("us.mini-3", "mini-3"),
    ("GPT-5", "gpt-5"),
    ("gemini-3-preview-05-20", "gemini-3"),
    ("command-r-08-2024", "command-r"),
    ("qwen3-32k", "qwen3"),
    ("gpt-4-0613", "gpt-4"),
    ("mistral-large-2411", "mistral-large"),
    ("llama-3.0", "llama-3"),
    ("gemini-3-001", "gemini-3"),
    ("claude-3-5-sonnet", "claude-sonnet-3-5"),
    ("llama3-400b", "llama3"),
]
OTHER = [
    ("gpt-5", "gpt-5-mini-2025-08-07"),
    ("gpt-5", "gpt-5.1-2025-11-13"),
    ("gpt-4", "gpt-4o-2024-08-06"),
    ("gpt-4", "gpt-4.1"),
    ("gpt-4o", "gpt-4o-mini"),
    ("o4-mini", "gpt-4-mini"),
    ("claude-opus-4", "claude-opus-4-6"),
    ("claude-opus-4-6", "claude-sonnet-4-6"),
    ("claude-3-sonnet-20240229", "claude-3-5-sonnet-20241022"),
    ("gemini-2.5-flash", "gemini-2.5-flash-lite"),
    ("gemini-2.0-flash", "gemini-2.5-flash"),
    ("grok-3-mini", "grok-4.3"),
    ("grok-4-0709", "grok-4.3"),
    ("qwen3:8b", "qwen3:4b"),
    ("qwen3-235b-a22b", "qwen3-30b-a3b"),
    ("mixtral-8x7b", "mixtral-8x22b"),
    ("llama-4-scout-17b-16e", "llama-4-maverick-17b-128e"),
    ("deepseek-v3", "deepseek-v3.1"),
    ("deepseek-v3", "deepseek-r1"),
    ("llama3.1", "llama3.2"),
    ("gpt-5", "claude-5"),
    ("claude", "gpt-5"),
    ("qwen3-32kb", "qwen3"),
    ("llama3-70b", "llama3-8b"),
    ("gpt-4o", "gpt-4"),
]


@pytest.mark.parametrize(("asked", "served"), SAME)
def test_another_spelling_is_the_same_model(asked: str, served: str) -> None:
    assert same_model(asked, served)
    assert same_model(served, asked)


@pytest.mark.parametrize(("asked", "served"), OTHER)
def test_another_version_family_or_size_is_another_model(asked: str, served: str) -> None:
    assert not same_model(asked, served)
    assert not same_model(served, asked)


@pytest.mark.parametrize(
    "word",
    ["mini", "nano", "micro", "lite", "flash", "pro", "max", "plus", "ultra", "small", "medium", "large", "tiny",
     "haiku", "sonnet", "opus", "fable", "codex", "vision"],
)  # fmt: skip
def test_each_word_of_a_size_makes_another_model(word: str) -> None:
    assert not same_model("acme-5", f"acme-5-{word}")


@pytest.mark.parametrize("region", ["us", "eu", "apac", "global", "jp", "au", "ca", "us-gov"])
def test_each_region_is_packaging(region: str) -> None:
    assert model_name(f"{region}.anthropic.claude-opus-4-6-v1") == model_name("claude-opus-4-6")


def test_the_parts_of_a_name() -> None:
    name = model_name("us.meta.llama4-scout-17b-instruct-v1:0")

    assert (name.words, name.versions, name.parameters) == (("llama", "scout", "instruct"), {"4"}, {"17b"})
