"""Recordings of a tool server without a model: what the server did is judged all the same."""

from dataclasses import replace
from typing import Any

import pytest
from tool_stories import ADD, SAY, Story, text
from tool_wire import asks, fails

from turntape.cassettes.tape.model import Failure

OUT: dict[str, Any] = {
    "outputSchema": {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
}


def alone(gives: object, **tool: Any) -> Story:
    return Story(tools=[{**ADD, **tool}, SAY]).start().call("add", {"a": 1}, gives)


@pytest.mark.parametrize(
    ("gives", "tool", "found"),
    [
        (text("3"), {}, []),
        (text("3", structuredContent={"sum": 3}), OUT, []),
        (text("no", isError=True), OUT, [("tool-reported-error", "info")]),
        (text("3"), OUT, [("tool-invalid-result", "warning")]),
        (text("3", structuredContent={"sum": "three"}), OUT, [("tool-invalid-result", "warning")]),
        ({"content": "3"}, {}, [("tool-invalid-result", "warning")]),
        ({"content": [{"type": "error", "text": "no"}]}, {}, [("tool-invalid-result", "info")]),
        ("it broke", {}, [("tool-server-error", "warning")]),
        (None, {}, [("tool-server-died", "error")]),
        (text("Error: no such file"), {}, [("tool-error-unmarked", "info")]),
    ],
)
def test_what_a_server_gives_without_a_model(gives: object, tool: dict[str, Any], found: list[tuple[str, str]]) -> None:
    story = alone(gives, **tool)

    assert story.found() == [(2, name, "tool", severity) for name, severity in found]


def test_a_refused_call_is_the_servers_only_where_it_follows_the_schema() -> None:
    strict = {"inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}}
    for given, severity in (({"a": 1}, "warning"), ({"a": "one"}, "info")):
        story = Story(tools=[{**ADD, **strict}]).start()
        story.exchange(
            asks(12, "tools/call", name="add", arguments=given), fails(12, "a: input should be a number", -32602)
        )

        assert story.found() == [(2, "tool-server-error", "tool", severity)]


@pytest.mark.parametrize(
    ("seconds", "found"),
    [(60, [("tool-server-silent", "tool", "warning")]), (1, [("client-tool-gave-up", "client", "info")])],
)
def test_a_call_that_is_open_when_the_client_goes(seconds: int, found: list[tuple[str, str, str]]) -> None:
    story = alone(None)
    gone = Failure("client_gone", "the client went")
    story.trips[-1] = replace(story.trips[-1], failure=gone, closed_first="client", ended_at=seconds * 1_000_000)

    assert story.found() == [(2, *one) for one in found]


def test_a_run_of_the_client_itself_beside_a_model_is_judged_once() -> None:
    story = Story(tools=[{**ADD, **OUT}]).start().call("add", {"a": 1}, text("3")).turn()

    assert story.found() == [(2, "tool-invalid-result", "tool", "warning")]
