"""What tests can ask of a run."""

from conversations import HELLO, chat

from turntape.inspector.pytest_plugin.agent_run import AgentRun


def test_findings_are_selected_by_id_also_by_a_former_one() -> None:
    run = AgentRun.of([chat([HELLO], status=400, error={"error": {"message": "No such word."}})])

    for name in ("request-rejected", "api-invalid-request"):
        assert [found.id for found in run.findings(id=name)] == ["request-rejected"]
    assert run.findings(id="access-refused") == []
    assert run.findings(id="request-rejected", layer="model") == []
