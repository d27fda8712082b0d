"""What tests can ask of a run."""

from dataclasses import replace

import orjson
import tool_tapes
from conversations import HELLO, chat

from turntape.inspector.pytest_plugin.agent_run import AgentRun


def test_findings_are_selected_by_id_also_by_a_former_one() -> None:
    run = AgentRun.of([chat([HELLO], status=400, error={"error": {"message": "No such word."}})])

    for name in ("request-rejected", "api-invalid-request"):
        assert [found.id for found in run.findings(id=name)] == ["request-rejected"]
    assert run.findings(id="access-refused") == []
    assert run.findings(id="request-rejected", layer="model") == []


def test_tool_runs_are_plain_tuples_in_the_order_of_the_calls() -> None:
    run = AgentRun.of(tool_tapes.story().trips)

    assert run.tool_runs == [
        ("files", "read", {"path": "notes.txt"}, False, "cut"),
        ("files", "search", {"q": "tape"}, False, "structured"),
        ("files", "write", {"path": "out.txt"}, True, "equal"),
        ("files", "stop", {"why": "nobody asked"}, False, None),
    ]
    assert len(run.turns) == 3


def test_a_finding_about_a_message_of_a_tool_server_is_found() -> None:
    run = AgentRun.of(tool_tapes.story().trips)

    [found] = run.findings(id="client-tool-call-unasked")
    assert (found.turn, found.layer) == (0, "client")
    assert [one.turn for one in run.findings(layer="tool")] == [2]


def test_what_the_client_sent_is_asserted_in_plain_values() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    history: list[dict[str, object]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Find Acme."}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "3 people"},
    ]
    trip = chat(history)
    body = orjson.loads(trip.request.body) | {"temperature": 0.5, "tools": [{**call, "function": {"name": "find"}}]}
    request = replace(trip.request, content=orjson.dumps(body), headers=(("X-Team", "sales"),))
    [turn] = AgentRun.of([replace(trip, request=request)]).turns

    assert turn.request.system == "Be brief."
    assert turn.request.messages == [("user", "Find Acme."), ("assistant", ""), ("tool", "3 people")]
    assert turn.request.tool_results == [("find", "3 people")]
    assert turn.request.tools == ["find"]
    assert turn.request.headers["x-team"] == "sales"
    assert turn.request.settings["temperature"] == 0.5
    assert turn.request.body["messages"] == history
