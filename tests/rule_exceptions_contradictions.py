"""Rules about streams that contradict themselves. Rows are as in `rule_exceptions_model_api`."""

from dataclasses import replace
from typing import Any

from conversations import CALL, HELLO, chat, result, said, user
from judged import anthropic, asked, given, use, words
from rule_exceptions_model_api import BASE, Row, chunk, stream

from turntape.cassettes.tape.model import RoundTrip

LONG = "A tape is a long strip that holds what was said, in order."
PARTS = [LONG[: 10 * (n + 1)] for n in range(6)]
SEARCHED: list[dict[str, Any]] = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tape"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
]


def renamed(*answers: dict[str, Any]) -> list[RoundTrip]:
    """A stream that repeats the name of a call in each chunk, and what the client then says."""
    pieces = ['{"wo', 'rd":"', 'tape"}']
    deltas = [
        {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "look_up", "arguments": piece}}]}
        for piece in pieces
    ]
    first = stream(*map(chunk, deltas), chunk({}, "tool_calls"), done=True)
    return [first, chat([HELLO, *answers], said("A strip."), index=1)]


def exchanged(first: str, second: str, other: str = "look_up") -> list[RoundTrip]:
    """Two calls, and a result for each."""
    calls = (("call_1", "look_up", '{"word":"Paris"}'), ("call_2", other, '{"word":"Oslo"}'))
    answer = said(None, *calls)
    back = [result("call_1", first), result("call_2", second)]
    return [chat([HELLO], answer), chat([HELLO, answer, *back], said("Paris is warmer."), index=1)]


def worker(first: str) -> list[RoundTrip]:
    """Two calls that a worker and the main thread answer at the same time; this is the worker's first result."""
    calls = [use(name, f"the order {name} of the customer") for name in ("toolu_1", "toolu_2")]
    opened = [asked("Look both up.")]

    def answered(texts: tuple[str, str], index: int) -> RoundTrip:
        results = [given(call["id"], text) for call, text in zip(calls, texts, strict=True)]
        history = [*opened, {"role": "assistant", "content": calls}, asked(*results)]
        return replace(
            anthropic(history, [words(f"Done, in turn {index}.")], index, at=10.0 + index), ended_at=5_000_000
        )

    worked = answered((first, "It runs elsewhere."), 1)
    return [anthropic(opened, calls), worked, answered(("two lamps", "a chair"), 2)]


def run_twice(gap: float) -> list[RoundTrip]:
    """A call that two requests answer, each with another result; the first takes five seconds."""
    called = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"word": "the order of the customer"}}
    opened = [
        asked("Hello."),
        {"role": "assistant", "content": [words("What may I look up for you?")]},
        asked("Orders."),
    ]

    def answered(text: str, index: int, at: float) -> RoundTrip:
        given = asked({"type": "tool_result", "tool_use_id": "toolu_1", "content": text})
        history = [*opened, {"role": "assistant", "content": [called]}, given]
        one = anthropic(history, [words(f"The customer has ordered {text}, and it is on its way.")], index, at=at)
        return replace(one, ended_at=5_000_000)

    return [anthropic(opened, [called]), answered("a lamp", 1, 10.0), answered("two lamps", 2, 10.0 + gap)]


EXCHANGED = exchanged("Oslo: 4 degrees", "Paris: 21 degrees")

CONTRADICTIONS: list[Row] = [
    ("client-results-exchanged", "The calls are of different tools", EXCHANGED,
     exchanged("Oslo: 4 degrees", "Paris: 21 degrees", "add")),
    ("client-results-exchanged", "A result does not name what its call asked for", EXCHANGED,
     exchanged("4 degrees", "Paris: 21 degrees")),
    ("client-results-exchanged", "One result speaks of both", EXCHANGED,
     exchanged("Oslo, unlike Paris: 4 degrees", "Paris: 21 degrees")),
    ("client-tool-result-rewritten", "Another request gave the call another result, and had its answer before: then it "
     "is an info", run_twice(1.0), run_twice(60.0), "info"),
    ("client-tool-result-rewritten",
     "That request gave several calls the same text, as a forked worker gets it for calls that run elsewhere",
     worker("a lamp"), worker("It runs elsewhere.")),
    ("api-stream-contradiction", "The calls are understood and were run all the same: then it is an info",
     renamed(user("And?")), renamed(said(None, CALL), result("call_1", "a strip")), "info"),
    ("api-text-twice", "The text is short",
     anthropic([asked("hi")], [words(LONG), words(LONG)]), anthropic([asked("hi")], [words("Done."), words("Done.")])),
    ("api-text-twice", "Something else is between the two",
     anthropic([asked("hi")], [words(LONG), words(LONG)]),
     anthropic([asked("hi")], [words(LONG), *SEARCHED, words(LONG)])),
    ("api-text-twice", "The two are sampled answers",
     anthropic([asked("hi")], [words(LONG), words(LONG)]), stream(
        *({**BASE, "choices": [{"index": n, "delta": {"content": LONG}, "finish_reason": "stop"}]} for n in (0, 1)),
        done=True)),
]  # fmt: skip
