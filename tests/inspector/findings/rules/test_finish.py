"""How the API finished an answer."""

from typing import Any

import pytest
from conversations import CALL, HELLO, chat, said
from judged import anthropic, calls, gemini, ids, item_call, judged, only, responses, trip, turn, use, words
from round_trips import CHAT, sse

HALF = ("call_1", "look_up", '{"word":"ta')


def test_the_cap_is_named_with_what_was_spent() -> None:
    one = only("api-length-truncated", chat([HELLO], said("It holds"), finish="length", max_tokens=10))

    assert (one.layer, one.severity) == ("api", "warning")
    assert "10" in one.message


def test_a_ping_that_asks_for_one_token_is_not_a_warning() -> None:
    ping = chat([HELLO], said("It"), finish="length", max_tokens=1)

    assert only("api-length-truncated", ping).severity == "info"


def test_a_call_under_the_cap_is_more_severe_than_a_text() -> None:
    assert only("api-length-truncated-tool-call", chat([HELLO], said(None, HALF), finish="length")).severity == "error"
    assert only("api-length-truncated-tool-call", chat([HELLO], said(None, CALL), finish="length")).severity == "error"


@pytest.mark.parametrize(
    ("spent", "cap", "tier"),
    [(50, 50, "P"), (0, 50, "S"), (None, None, "S"), (30, 50, None)],
    ids=["exactly the cap", "nothing counted", "no cap", "below the cap"],
)
def test_a_cut_call_is_known_by_its_count_or_by_its_end(spent: int | None, cap: int | None, tier: str | None) -> None:
    fields: dict[str, Any] = {} if cap is None else {"max_completion_tokens": cap}
    cut = chat([HELLO], said(None, HALF), usage=None if spent is None else (100, spent), **fields)

    reported = [one for one in judged(cut) if one.id == "api-truncated-call-mislabelled"]

    assert [one.tier for one in reported] == ([tier] if tier else [])


def test_broken_json_that_ends_is_the_models_and_not_a_cut() -> None:
    reported = ids(chat([HELLO], said(None, ("call_1", "look_up", '{"word": tape}'))))

    assert "api-truncated-call-mislabelled" not in reported
    assert "model-args-not-json" in reported


TOO_LONG = "This model's maximum context length is 131072 tokens. However, your messages resulted in 152204 tokens."


def test_a_full_window_is_known_by_the_label_and_by_the_rejection() -> None:
    rejected = chat([HELLO], status=400, error={"error": {"message": TOO_LONG, "code": "context_length_exceeded"}})
    labelled = anthropic([turn_of("hi")], [words("so")], stop="model_context_window_exceeded")

    assert only("api-context-full", rejected).severity == "error"
    assert only("api-context-full", labelled).layer == "api"


def turn_of(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_too_many_tokens_a_minute_is_not_a_full_window() -> None:
    text = "Too many tokens, please wait before trying again."
    throttled = chat([HELLO], status=429, error={"error": {"message": text, "type": "throttled"}})

    assert "api-context-full" not in ids(throttled)
    assert "api-rate-limited" in ids(throttled)


def test_a_filter_names_the_side_that_it_stopped() -> None:
    assert "the answer" in only("api-content-filter", chat([HELLO], said("x"), finish="content_filter")).message
    assert "the prompt" in only("api-content-filter", chat([HELLO], said(""), finish="content_filter")).message


HI = turn("user", {"text": "hi"})


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("MALFORMED_FUNCTION_CALL", "api-malformed-output"),
        ("TOO_MANY_TOOL_CALLS", "api-server-limit"),
        ("SAFETY", "api-content-filter"),
        ("MAX_TOKENS", "api-length-truncated"),
    ],
)
def test_geminis_words_mean_what_they_mean(finish: str, expected: str) -> None:
    assert ids(gemini([HI], [{"text": "x"}], finish=finish)) == {expected}


def test_a_pause_is_not_a_fault_of_the_api() -> None:
    one = only("api-pause", anthropic([turn_of("hi")], [words("x")], stop="pause_turn"))

    assert (one.layer, one.severity) == ("api", "info")


@pytest.mark.parametrize(
    ("answer", "finish", "severity"),
    [
        (said(None, CALL), "stop", "warning"),
        (said("x"), "tool_calls", "warning"),
        (said(None, CALL), "content_filter", "warning"),
        (said(None, CALL), "tool_calls", None),
        (said("x"), "stop", None),
    ],
)
def test_word_and_content_fit_together(answer: dict[str, Any], finish: str, severity: str | None) -> None:
    reported = [one for one in judged(chat([HELLO], answer, finish=finish)) if one.id == "api-finish-label-disagrees"]

    assert [one.severity for one in reported] == ([severity] if severity else [])


def test_a_forced_tool_under_stop_is_known_behaviour() -> None:
    choice = {"type": "function", "function": {"name": "look_up"}}
    forced = chat([HELLO], said(None, CALL), finish="stop", tool_choice=choice)

    assert only("api-finish-label-disagrees", forced).severity == "info"


def test_apis_without_a_word_for_calls_are_right_as_they_are() -> None:
    assert ids(gemini([HI], [calls()])) == set()
    assert ids(responses([turn_of("hi")], [item_call()])) == set()
    assert ids(anthropic([turn_of("hi")], [use()])) == set()


def streamed(text: str, output: int) -> Any:
    base = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-5"}
    usage = {"prompt_tokens": 10 if output else 0, "completion_tokens": output, "total_tokens": output and 10 + output}
    events = [
        {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**base, "choices": [], "usage": usage},
    ]
    asked = {"model": "gpt-5", "messages": [HELLO], "stream": True, "stream_options": {"include_usage": True}}
    return trip(CHAT, asked, sse(*events, done=True))


@pytest.mark.parametrize(
    ("text", "output", "fabricated"),
    [
        ("It is a strip that holds a recor", 0, True),
        ("It is a strip that holds a recording.", 0, False),
        ("It is a strip that holds a recor", 9, False),
    ],
)
def test_an_ending_is_made_up_when_nothing_was_counted_and_a_word_is_cut(
    text: str, output: int, fabricated: bool
) -> None:
    assert ("api-fabricated-finish" in ids(streamed(text, output))) is fabricated
