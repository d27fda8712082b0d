"""ATIF: the rules of its schema, and what a run becomes."""

import json
from typing import Any

import tool_tapes
from conversations import CALL, HELLO, chat, loop, result, said, user

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.exporters.atif import atif


def document(trips: list[RoundTrip]) -> dict[str, Any]:
    return json.loads(atif(trips))


def test_a_loop_is_a_user_step_and_a_step_a_turn() -> None:
    shown = document(loop())

    assert shown["schema_version"] == "ATIF-v1.7"
    assert [(step["step_id"], step["source"]) for step in shown["steps"]] == [(1, "user"), (2, "agent"), (3, "agent")]
    _, call, answer = shown["steps"]
    assert call["tool_calls"] == [{"tool_call_id": "call_1", "function_name": "look_up", "arguments": {"word": "tape"}}]
    assert call["observation"] == {
        "results": [{"source_call_id": "call_1", "content": "a strip that holds a recording"}]
    }
    assert answer["message"] == "It holds a recording."
    assert answer["metrics"]["prompt_tokens"] == 150
    assert shown["final_metrics"]["total_prompt_tokens"] == 250
    assert shown["final_metrics"]["total_steps"] == 3
    assert shown["agent"]["tool_definitions"][0]["function"]["name"] == "look_up"


def test_what_only_an_agent_step_may_have_is_nowhere_else() -> None:
    steps = document(loop())["steps"]

    only = {"model_name", "reasoning_content", "tool_calls", "metrics", "llm_call_count"}
    assert not [step for step in steps if step["source"] != "agent" and only & step.keys()]


def test_further_threads_are_embedded_under_their_ids() -> None:
    shown = document([*loop(), chat([user("a title")], said("Tapes"), index=2, run=None)])

    assert shown["trajectory_id"] == "t1"
    assert [sub["trajectory_id"] for sub in shown["subagent_trajectories"]] == ["t2"]


def test_an_answer_that_the_client_brought_along_is_copied_context() -> None:
    shown = document([chat([HELLO, said("Hi."), user("and now?")], said("Bye."))])

    assert [(s["source"], s.get("is_copied_context")) for s in shown["steps"]] == [
        ("user", None),
        ("agent", True),
        ("user", None),
        ("agent", None),
    ]


def test_arguments_that_are_not_an_object_are_kept_beside() -> None:
    broken = ("call_1", "look_up", '{"word":')

    shown = document([chat([HELLO], said(None, broken)), chat([HELLO, said(None, broken), result("call_1", "?")])])

    step = shown["steps"][1]
    assert step["tool_calls"][0]["arguments"] == {}
    assert step["extra"]["arguments_raw"] == {"call_1": '{"word":'}


def test_a_result_of_no_call_of_this_turn_is_not_its_observation() -> None:
    shown = document([chat([HELLO], said(None, CALL)), chat([HELLO, said(None, CALL), result("other", "x")], index=1)])

    assert "observation" not in shown["steps"][1]


def test_a_cassette_without_turns_is_a_document_without_steps() -> None:
    assert document([])["steps"] == []


def test_tool_runs_are_extras_of_their_step() -> None:
    document = json.loads(atif(tool_tapes.story().trips))

    step = next(step for step in document["steps"] if step.get("tool_calls"))
    assert [(run["name"], run["seen_as"], run["returned"]) for run in step["extra"]["tool_runs"]] == [
        ("read", "cut", tool_tapes.LINES),
        ("search", "structured", "2 hits: tape, reel"),
    ]
    assert [run["name"] for run in document["extra"]["unjoined_tool_runs"]] == ["stop"]
