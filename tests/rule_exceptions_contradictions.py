"""Rules about streams that contradict themselves. Rows are as in `rule_exceptions_model_api`."""

from typing import Any

from conversations import CALL, HELLO, chat, result, said, user
from judged import anthropic, asked, words
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


CONTRADICTIONS: list[Row] = [
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
