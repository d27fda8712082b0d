"""What tests can ask of a run."""

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
