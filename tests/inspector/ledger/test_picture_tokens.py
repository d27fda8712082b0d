"""Tokens of pictures by the published rules, some against the data set JOHNISKING/image-token-cost."""

import pytest

from turntape.inspector.ledger.picture_tokens import picture_tokens


@pytest.mark.parametrize(
    ("model", "width", "height", "tokens"),
    [
        ("claude-haiku-4-5", 256, 256, 100),
        ("claude-haiku-4-5", 1024, 1024, 1369),
        ("claude-haiku-4-5", 1920, 1080, 1560),
        ("us.anthropic.claude-opus-5-5", 1280, 720, 1196),
        ("claude-opus-5.5", 1920, 1080, 2691),
        ("claude-3-5-sonnet-20241022", 1000, 750, 1000),
        ("claude-3-opus", 4000, 3000, 1600),
        ("gpt-6", 256, 256, 77),
        ("gpt-6", 1024, 1024, 1229),
        ("gpt-6", 2560, 1440, 2931),
        ("gpt-4o-2024-11-20", 128, 64, 255),
        ("gpt-4o", 1024, 1024, 765),
        ("gpt-4o", 2048, 4096, 1105),
        ("gpt-4o-mini", 128, 64, 8500),
        ("gpt-4.1-mini", 1024, 1024, 1659),
        ("gemini-2.0-flash", 384, 200, 258),
        ("gemini-2.5-flash", 960, 540, 1548),
        ("gemini-3-flash-preview", 4032, 3024, 1120),
    ],
)
def test_a_picture_has_the_tokens_of_its_providers_rule(model: str, width: int, height: int, tokens: int) -> None:
    assert picture_tokens(model, width, height) == tokens


def test_a_picture_that_need_not_be_seen_closely_has_few() -> None:
    assert picture_tokens("gpt-4o", 4000, 3000, "low") == 85
    assert picture_tokens("gemini-3-pro", 4000, 3000, "medium") == 560


def test_nothing_is_said_of_other_models_and_of_pictures_without_a_size() -> None:
    assert picture_tokens("llama-4", 100, 100) is None
    assert picture_tokens("gpt-4o", 0, 100) is None
