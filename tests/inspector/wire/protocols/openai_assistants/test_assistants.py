"""Runs of OpenAI's Assistants: the API holds the thread, and a request brings only the outputs of tools."""

from typing import Any

import pytest
from round_trips import exchanged, sse

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import label_all

URL = "https://api.openai.com/v1/threads"
CALL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
OUTPUT = {"tool_call_id": "call_1", "output": "a strip"}


def ran(path: str, fields: dict[str, Any], status: str, *calls: object, streamed: bool = True) -> RoundTrip:
    """A request for a run, answered with that run."""
    run: dict[str, Any] = {"id": "run_1", "object": "thread.run", "thread_id": "thread_1", "status": status}
    if calls:
        action = {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": calls}}
        run["required_action"] = action
    body = sse(run, "[DONE]") if streamed else run
    return exchanged(URL + path, {"assistant_id": "asst_1", "stream": streamed, **fields}, body)


@pytest.mark.parametrize("start", ["/runs", "/thread_1/runs"])
@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ([OUTPUT], []),
        ([{**OUTPUT, "tool_call_id": "call_9"}], ["client-missing-tool-result", "client-orphan-tool-result"]),
        ([], ["client-missing-tool-result"]),
        ([OUTPUT, OUTPUT], ["client-duplicate-tool-result"]),
    ],
    ids=["paired", "wrong id", "none", "twice"],
)
def test_outputs_are_matched_with_the_calls_of_the_run(start: str, outputs: list[Any], expected: list[str]) -> None:
    opened = ran(start, {}, "requires_action", CALL)
    done = ran("/thread_1/runs/run_1/submit_tool_outputs", {"tool_outputs": outputs}, "completed")
    labels: list[Any] = [one.label for one in label_all([opened, done])]

    assert [(label["thread"], label["client"]["history"]) for label in labels] == [("t1", "first"), ("t1", "extended")]
    assert [f["id"] for label in labels for f in label["findings"] if "tool-result" in f["id"]] == expected


def test_outputs_of_a_run_whose_calls_were_fetched_later_are_not_judged() -> None:
    opened = ran("/thread_1/runs", {}, "queued", streamed=False)
    outputs = {"tool_outputs": [OUTPUT]}
    done = ran("/thread_1/runs/run_1/submit_tool_outputs", outputs, "queued", streamed=False)
    labels: list[Any] = [one.label for one in label_all([opened, done])]

    assert [label["thread"] for label in labels] == ["t1", "t1"]
    assert not [f["id"] for label in labels for f in label["findings"] if "tool-result" in f["id"]]
