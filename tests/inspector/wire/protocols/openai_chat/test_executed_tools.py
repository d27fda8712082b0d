"""The tools that an API ran itself for an answer are fees beside its tokens."""

import json
from dataclasses import replace
from typing import Any

import pytest
from factories import round_trip

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.pricing import cost_of
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.openai_chat.executed_tools import executed_once, with_executed
from turntape.inspector.wire.protocols.openai_chat.usage import chat_usage
from turntape.inspector.wire.values import Usage

SEARCH = {"index": 0, "type": "search", "arguments": "{}"}
VISIT = {"index": 1, "type": "visit", "arguments": "{}"}
USAGE: dict[str, object] = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
URL = "https://api.groq.com/openai/v1/chat/completions"


def answered(*tools: dict[str, Any]) -> RoundTrip:
    """An answer of a model with a listed price, for which these tools ran."""
    message = {"role": "assistant", "content": "Sunny.", **({"executed_tools": list(tools)} if tools else {})}
    body = {
        "model": "openai/gpt-oss-120b",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": USAGE,
    }
    sent = {"model": "openai/gpt-oss-120b", "messages": [{"role": "user", "content": "Is it sunny?"}]}
    return round_trip(json.dumps(sent).encode(), json.dumps(body).encode(), url=URL)


@pytest.mark.parametrize(
    ("tools", "searches", "fees"),
    [
        ([SEARCH, {**SEARCH, "index": 2}], 2, ()),
        ([SEARCH, VISIT, {**VISIT, "index": 2}], 1, ("website visits",)),
        ([{"type": "browser_search"}, {"type": "code_interpreter"}], 1, ("code interpreter",)),
        ([{"type": "something new"}, {}, "text"], 0, ("built-in tools",)),
        ([], 0, ()),
        ("not a list", 0, ()),
    ],
)
def test_each_kind_has_words_and_searches_are_counted(tools: Any, searches: int, fees: tuple[str, ...]) -> None:
    assert with_executed(Usage(5), [{"message": {"executed_tools": tools}}]) == Usage(
        5, web_searches=searches, other_fees=fees
    )


def test_a_tool_of_a_stream_counts_once() -> None:
    assert executed_once([SEARCH, {**SEARCH, "output": "found"}, VISIT]) == [{**SEARCH, "output": "found"}, VISIT]
    assert executed_once([{"type": "search"}, {"type": "search"}]) == [{"type": "search"}, {"type": "search"}]


def test_the_cost_names_what_has_no_price() -> None:
    with_tools, without = (cost_of(trip, read(trip)) for trip in (answered(SEARCH, VISIT), answered()))

    assert with_tools is not None and without is not None
    assert with_tools.unpriced_fees == ("web search", "website visits")
    assert (without.unpriced_fees, without.amount) == ((), with_tools.amount)


def test_a_streamed_tool_is_one_call_and_one_search() -> None:
    chunks = [
        {"executed_tools": [SEARCH]},
        {"executed_tools": [{**SEARCH, "output": "found"}]},
        {"content": "Sunny."},
    ]
    events = [{"choices": [{"index": 0, "delta": delta}]} for delta in chunks]
    events += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "x_groq": {"usage": USAGE}}]
    sent = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    trip = round_trip(b'{"model": "groq/compound", "stream": true}', sent, url=URL)
    assert trip.response is not None
    streamed = replace(trip, response=replace(trip.response, headers=(("content-type", "text/event-stream"),)))
    reading = read(streamed)

    assert reading.usage is not None and reading.usage.web_searches == 1
    assert reading.emission is not None
    assert [call.name for call in reading.emission.server_calls] == ["search"]


def test_sources_of_a_live_search_are_a_fee() -> None:
    assert chat_usage({**USAGE, "num_sources_used": 7}).other_fees == ("live search",)
    assert chat_usage({**USAGE, "num_sources_used": 0}).other_fees == ()
    assert chat_usage(USAGE).other_fees == ()
