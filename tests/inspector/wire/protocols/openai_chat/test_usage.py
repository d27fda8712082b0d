"""Tokens of Chat Completions: the answer's own total decides what its counts contain."""

from typing import Any

import pytest
from round_trips import CHAT, exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.openai_chat.mistral import mistral_usage
from turntape.inspector.wire.protocols.openai_chat.usage import chat_usage
from turntape.inspector.wire.values import Usage


def counted(prompt: int, completion: int, total: int | None = None, **details: int) -> dict[str, Any]:
    """A usage object; details are `cached`, `written`, `heard`, `thought`, `spoken`."""
    names = {
        "cached": ("prompt_tokens_details", "cached_tokens"),
        "written": ("prompt_tokens_details", "cache_write_tokens"),
        "heard": ("prompt_tokens_details", "audio_tokens"),
        "thought": ("completion_tokens_details", "reasoning_tokens"),
        "spoken": ("completion_tokens_details", "audio_tokens"),
    }
    usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}
    for name, count in details.items():
        place, key = names[name]
        usage.setdefault(place, {})[key] = count
    return usage


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        # All parts are inside: the rule for most servers.
        (counted(100, 20, 120, cached=60, thought=5), Usage(100, 60, None, 20, 5)),
        (counted(100, 20, 120, cached=60, written=30), Usage(100, 60, 30, 20)),
        # Reasoning is beside the output.
        (counted(100, 20, 125, cached=60, thought=5), Usage(100, 60, None, 25, 5)),
        # Cached tokens are beside the prompt, both kinds or one of them.
        (counted(40, 20, 120, cached=60), Usage(100, 60, None, 20)),
        (counted(40, 20, 150, cached=60, written=30), Usage(130, 60, 30, 20)),
        (counted(40, 20, 120, cached=60, written=30), Usage(100, 60, 30, 20)),
        (counted(70, 20, 120, cached=60, written=30), Usage(100, 60, 30, 20)),
        # Sound is beside the prompt, cached tokens are inside.
        (counted(12, 20, 332, cached=9, heard=300), Usage(312, 9, None, 20, input_audio=300, input_media=300)),
        # Cached tokens and reasoning are both beside.
        (counted(40, 20, 125, cached=60, thought=5), Usage(100, 60, None, 25, 5)),
        # Sound is inside.
        (
            counted(100, 20, 120, heard=80, spoken=15),
            Usage(100, None, None, 20, input_audio=80, output_audio=15, input_media=80),
        ),
        # Without a total, more cached tokens than prompt cannot be inside it.
        (counted(40, 20, cached=60), Usage(100, 60, None, 20)),
        (counted(40, 20, written=60), Usage(100, None, 60, 20)),
        (counted(60, 20, cached=60), Usage(60, 60, None, 20)),
        # A total below its parts explains nothing.
        (counted(100, 20, 90, cached=60), Usage(100, 60, None, 20)),
        # What only the total counts was read from a cache, unless the answer says what was.
        (counted(40, 20, 500), Usage(480, 440, None, 20, unexplained=440)),
        (counted(40, 20, 500, cached=30), Usage(40, 30, None, 20, unexplained=440)),
        # Zero is zero.
        (counted(0, 0, 0), Usage(0, None, None, 0)),
        ({"prompt_tokens": 5}, Usage(5)),
        ({"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}, Usage(5, None, None, 2)),
    ],
)
def test_input_contains_cached_tokens_and_output_reasoning(usage: dict[str, Any], expected: Usage) -> None:
    assert chat_usage(usage) == expected


@pytest.mark.parametrize(
    ("usage", "read", "written"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 3}}, 3, None),
        ({"input_tokens_details": {"cached_tokens": 3}}, 3, None),
        ({"cached_tokens": 3}, 3, None),
        ({"prompt_cache_hit_tokens": 3}, 3, None),
        ({"cache_read_input_tokens": 3}, 3, None),
        ({"prompt_tokens_details": {"cache_write_tokens": 3}}, None, 3),
        ({"prompt_tokens_details": {"cache_creation_tokens": 3}}, None, 3),
        ({"input_tokens_details": {"cache_write_tokens": 3}}, None, 3),
        ({"input_tokens_details": {"cache_creation_tokens": 3}}, None, 3),
        ({"cache_creation_input_tokens": 3}, None, 3),
    ],
)
def test_every_name_of_cached_tokens(usage: dict[str, Any], read: int | None, written: int | None) -> None:
    assert chat_usage({"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10, **usage}) == Usage(
        9, read, written, 1
    )


@pytest.mark.parametrize(
    "usage",
    [
        {"completion_tokens_details": {"reasoning_tokens": 3}},
        {"output_tokens_details": {"reasoning_tokens": 3}},
        {"reasoning_tokens": 3},
    ],
)
def test_every_name_of_reasoning(usage: dict[str, Any]) -> None:
    assert chat_usage({"prompt_tokens": 9, "completion_tokens": 4, **usage}).reasoning == 3


def test_a_server_that_hides_thoughts_counts_them_in_the_total_alone() -> None:
    hidden = counted(35, 12, 109)
    google = "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}
    answer = {"object": "chat.completion", "choices": [choice], "usage": hidden}

    assert read(exchanged(google, {"messages": []}, answer)).usage == Usage(35, None, None, 74, 62, unexplained=62)
    assert read(exchanged(CHAT, {"messages": []}, answer)).usage == Usage(97, 62, None, 12, unexplained=62)


def test_stated_reasoning_is_not_hidden() -> None:
    assert chat_usage(counted(35, 12, 109, thought=4), "thoughts") == Usage(35, None, None, 12, 4, unexplained=62)


@pytest.mark.parametrize(
    ("prompt", "total", "whole", "twice"),
    [
        (1900, 1920, 1000, True),
        (1900, 1020, 1000, True),
        (1900, None, 1000, True),
        (1000, 1020, 1000, False),
        (100, 1020, 1000, False),
        # Neither once nor twice: nothing is proven.
        (1500, 1520, 1500, False),
    ],
)
def test_cached_tokens_that_are_counted_twice_are_taken_off(
    prompt: int, total: int | None, whole: int, twice: bool
) -> None:
    usage = chat_usage({**counted(prompt, 20, total, cached=900), "prompt_cache_miss_tokens": 100})

    assert (usage.input, usage.cache_read, usage.output) == (whole, 900, 20)
    assert usage.problems == (
        ("The input is counted as 1900 tokens, with 900 cached ones in it twice.",) if twice else ()
    )


def test_a_total_alone_does_not_show_that_the_cache_is_counted_twice() -> None:
    assert chat_usage(counted(1900, 20, 1020, cached=900)).input == 1900


def test_mistral_counts_the_seconds_of_sound_and_its_tokens_in_the_total() -> None:
    seconds = {**counted(11, 15, 401, cached=9), "prompt_audio_seconds": 5}

    assert mistral_usage(seconds) == Usage(386, 9, None, 15, input_audio=375, input_media=375)
    assert mistral_usage({**counted(11, 15, 26), "prompt_audio_seconds": None}) == Usage(11, None, None, 15)


def test_a_negative_field_is_reported_and_the_others_are_used() -> None:
    usage = chat_usage({"prompt_tokens": 9, "completion_tokens": "4", "total_tokens": -1, "cached_tokens": 2.5})

    assert usage.input == 9
    assert (usage.output, usage.cache_read) == (None, None)
    assert usage.problems == (
        "usage.completion_tokens is '4', which is not a count of tokens.",
        "usage.total_tokens is -1, which is not a count of tokens.",
        "usage.cached_tokens is 2.5, which is not a count of tokens.",
    )


@pytest.mark.parametrize("last", [counted(0, 0, 0), {"prompt_tokens": None}, counted(100, 20, 120)])
def test_a_last_chunk_of_zeros_does_not_take_back_what_was_counted(last: dict[str, Any]) -> None:
    delta = {"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}
    chunks = [{"choices": [delta], "usage": counted(100, 20, 120)}, {"choices": [], "usage": last}]
    usage = read(exchanged(CHAT, {"model": "m", "messages": []}, sse(*chunks, done=True))).usage

    assert usage is not None
    assert (usage.input, usage.output) == (100, 20)
