"""Where requests have cache marks, and the reason that an API gives for a missed cache."""

from typing import Any

import pytest
from cached_turns import HOUR, MARK, asks, text
from round_trips import exchanged

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.shared.cache_marks import cache_diagnosis
from turntape.inspector.wire.values import CacheMark

POINT = {"cachePoint": {"type": "default"}}
LONG = {"cachePoint": {"type": "default", "ttl": "1h"}}
BREAK = {"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}
HOST = "https://api.openai.com/v1/"


def marks(url: str, body: dict[str, Any]) -> tuple[CacheMark, ...]:
    return read(exchanged(url, body, {})).request.cache_marks


def test_anthropic_marks_pieces() -> None:
    body = {
        "model": "claude",
        "max_tokens": 9,
        "tools": [{"name": "a"}, {"name": "b", **HOUR}],
        "system": [text("one", HOUR), text("two")],
        "messages": [asks(text("x")), {"role": "assistant", "content": "y"}, asks(text("z"), text("end", MARK))],
    }
    found = marks("https://api.anthropic.com/v1/messages", body)
    assert found == (
        CacheMark("/tools/1", "1h"),
        CacheMark("/system/0", "1h"),
        CacheMark("/messages/2/content/1"),
    )


def test_anthropic_marks_the_whole_request() -> None:
    body = {"model": "claude", "max_tokens": 9, "messages": [asks(text("x"))], **MARK}
    assert marks("https://api.anthropic.com/v1/messages", body) == (CacheMark(""),)


def test_converse_marks_what_is_before_the_point() -> None:
    body = {
        "toolConfig": {"tools": [{"toolSpec": {"name": "a"}}, LONG]},
        "system": [{"text": "one"}, POINT, {"text": "two"}],
        "messages": [{"role": "user", "content": [{"text": "x"}, {"text": "y"}, POINT]}],
    }
    assert marks("https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", body) == (
        CacheMark("/toolConfig/tools/0", "1h"),
        CacheMark("/system/0"),
        CacheMark("/messages/0/content/1"),
    )


def test_chat_and_responses_mark_contents() -> None:
    chat = {"model": "m", "messages": [asks(text("x", MARK)), asks(text("y"), text("z", BREAK))]}
    assert marks(f"{HOST}chat/completions", chat) == (
        CacheMark("/messages/0/content/0"),
        CacheMark("/messages/1/content/1", "12h"),
    )
    responses = {"model": "m", "input": [asks({"type": "input_text", "text": "x", **BREAK})]}
    assert marks(f"{HOST}responses", responses) == (CacheMark("/input/0/content/0", "12h"),)


def test_a_request_without_marks_has_none() -> None:
    assert marks(f"{HOST}chat/completions", {"model": "m", "messages": [asks(text("x"))], "cache_control": None}) == ()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            {"diagnostics": {"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 9}}},
            "tools_changed",
        ),
        ({"diagnostics": {"cache_miss_reason": None}}, None),
        (
            {
                "prompt_cache_diagnostics": {
                    "type": "cache_miss",
                    "reason": "prompt_cache_key_changed",
                    "cache_missed_tokens": 9,
                }
            },
            "prompt_cache_key_changed",
        ),
        ({"prompt_cache_diagnostics": {"type": "cache_hit"}}, None),
        ({}, None),
    ],
)
def test_the_reason_of_the_api(answer: dict[str, Any], reason: str | None) -> None:
    assert cache_diagnosis(answer) == reason


def test_the_reason_is_read_from_answers() -> None:
    said = {"diagnostics": {"cache_miss_reason": {"type": "system_changed", "cache_missed_input_tokens": 9}}}
    message = {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn", **said}
    trip = exchanged("https://api.anthropic.com/v1/messages", {"model": "c", "max_tokens": 1, "messages": []}, message)
    assert read(trip).cache_diagnosis == "system_changed"
    missed = {"type": "cache_miss", "reason": "input_changed", "cache_missed_tokens": 9}
    response = {"object": "response", "status": "completed", "output": [], "prompt_cache_diagnostics": missed}
    assert (
        read(exchanged(f"{HOST}responses", {"model": "m", "input": "x"}, response)).cache_diagnosis == "input_changed"
    )
