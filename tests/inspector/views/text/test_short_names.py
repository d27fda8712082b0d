"""Short names of models and addresses."""

import pytest

from turntape.inspector.views.text.short_names import address, distinct_models, model_names


def test_a_model_is_named_once_with_its_date_or_without() -> None:
    models = [
        "claude-haiku-4-5-20251001",
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "gpt-5-2025-08-07",
        "gpt-5",
    ]

    assert distinct_models(models) == ["claude-haiku-4-5-20251001", "claude-sonnet-4-5-20250929", "gpt-5-2025-08-07"]
    assert model_names(models) == ["claude-haiku-4-5", "claude-sonnet-4-5", "gpt-5"]
    assert distinct_models(["gpt-5", "gpt-5-mini"]) == ["gpt-5", "gpt-5-mini"]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example/v1:embed?key=REDACTED-e40b6155", "https://a.example/v1:embed"),
        ("https://a.example/v1?key=REDACTED-e40b&alt=sse", "https://a.example/v1?alt=sse"),
        ("https://a.example/v1?alt=sse&key=REDACTED", "https://a.example/v1?alt=sse"),
        ("https://a.example/v1?limit=20", "https://a.example/v1?limit=20"),
    ],
)
def test_an_address_has_no_redacted_parameters(url: str, shown: str) -> None:
    assert address(url) == shown
