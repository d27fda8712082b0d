"""Counts that a stream gives twice."""

from typing import Any

import pytest

from turntape.inspector.wire.stream_counts import count_breaks


@pytest.mark.parametrize(
    ("holder", "key"),
    [
        (("usage",), "completion_tokens"),
        (("message", "usage"), "output_tokens"),
        (("response", "usage"), "output_tokens"),
        (("usageMetadata",), "candidatesTokenCount"),
        (("response", "usageMetadata"), "candidatesTokenCount"),
        (("usage",), "outputTokens"),
    ],
)
def test_a_count_that_falls_is_named(holder: tuple[str, ...], key: str) -> None:
    def counts(*numbers: object) -> list[str]:
        events: list[dict[str, Any]] = []
        for number in numbers:
            value: dict[str, Any] = {key: number}
            for name in reversed(holder):
                value = {name: value}
            events.append(value)
        return list(count_breaks(events))

    assert counts(1, 40, 12) == [f"`{key}` is 12 at the end of the stream and 40 before it"]
    assert counts(1, 12, 12, 40) == []
    assert counts(40, 0, None, "1", True) == []


def test_a_chat_stream_has_one_prompt() -> None:
    def prompts(*numbers: int) -> list[str]:
        return list(count_breaks({"usage": {"prompt_tokens": number}} for number in numbers))

    assert prompts(77, 25) == ["`prompt_tokens` is 25 at the end of the stream and 77 before it"]
    assert prompts(25, 77) == ["`prompt_tokens` is 25 in the stream and then 77"]
    assert prompts(0, 25, 25, 0) == []


@pytest.mark.parametrize(
    "path",
    [
        ("cache_read_input_tokens",),
        ("cache_creation_input_tokens",),
        ("prompt_tokens_details", "cached_tokens"),
        ("input_tokens_details", "cached_tokens"),
        ("cachedContentTokenCount",),
    ],
    ids=".".join,
)
def test_what_the_cache_held_is_known_before_the_answer_and_stays_the_same(path: tuple[str, ...]) -> None:
    def breaks(*numbers: object) -> list[str]:
        events: list[dict[str, Any]] = []
        for number in numbers:
            value: Any = number
            for name in reversed(path):
                value = {name: value}
            events.append({"usageMetadata" if path[0].endswith("Count") else "usage": value})
        return list(count_breaks(events))

    assert breaks(900, 0) == [f"`{path[-1]}` is 0 at the end of the stream and 900 before it"]
    assert breaks(900, 940) == [f"`{path[-1]}` is 900 in the stream and then 940"]
    assert breaks(0, 900, 900, None) == []
