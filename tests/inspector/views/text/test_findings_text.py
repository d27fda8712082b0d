"""Findings as text: one after the other, with layer, turn, evidence and fix."""

import pytest
from conversations import chat, loop, result, said, user

from turntape.inspector.views.text.findings_text import findings_text
from turntape.inspector.views.text.terminal_text import plain, width_of

CALLS = (("c1", "look_up", '{"word":"a"}'), ("c2", "look_up", '{"word":"b"}'))


def dropped(at: float = 1_780_000_000.0, first: int = 0) -> list[object]:
    """A client that answers one of two calls."""
    asked = [user(f"go {first}")]
    return [
        chat(asked, said(None, *CALLS), index=first, at=at),
        chat([*asked, said(None, *CALLS), result("c1", "one")], said("done"), index=first + 1, at=at + 1),
    ]


def lines(trips: list[object], **options: object) -> list[str]:
    return [plain(line) for line in findings_text(trips, "run", **options)]  # type: ignore[arg-type]


def test_a_finding_names_layer_turn_evidence_and_fix() -> None:
    shown = lines(dropped())

    assert shown[:2] == ["run", "1 error"]
    assert shown[3].startswith("✗ ▶ client · client-missing-tool-result  turn 1  #0")
    assert "c2" in shown[4]
    assert shown[5].startswith("    fix  ")
    assert shown[-1].startswith("    see  #0 call c2")


def test_the_attempts_of_a_refused_request_say_it_once() -> None:
    refused = {"error": {"type": "server_error", "message": "overloaded", "code": None}}
    shown = lines([chat([user("go")], error=refused, status=503, index=at, at=100.0 + at) for at in range(3)])

    assert shown[3] == "✗ ■ api · api-overloaded  turn 1  #0"
    assert shown[-5:] == [
        "",
        "✗ ■ api · api-overloaded  turn 1·2  #1",
        "    the same as in turn 1 #0  see  #1 status 503",
        "✗ ■ api · api-overloaded  turn 1·3  #2",
        "    the same as in turn 1 #0  see  #2 status 503",
    ]
    assert sum(line.startswith("    fix") for line in shown) == 1


def test_a_healthy_run_has_none() -> None:
    assert lines(loop()) == ["run", "no findings"]  # type: ignore[arg-type]


def test_a_thread_can_be_chosen_and_lines_fit() -> None:
    trips = [*dropped(), *dropped(1_780_000_900.0, 2)]

    assert sum("client-missing-tool-result" in line for line in lines(trips)) == 2
    only = lines(trips, thread="t2")
    assert [line for line in only if "client-missing" in line] == [
        "✗ ▶ client · client-missing-tool-result  turn 1 of t2  #2"
    ]
    assert all(width_of(line) <= 50 for line in lines(trips, width=50))


@pytest.mark.parametrize("width", [40, 50])
def test_evidence_is_wrapped_and_never_cut(width: int) -> None:
    refused = {"error": {"type": "server_error", "message": "overloaded", "code": None}}
    shown = lines(
        [chat([user("go")], error=refused, status=503, index=at, at=100.0 + at) for at in range(3)], width=width
    )

    assert max(map(len, shown)) <= width and not [line for line in shown if line.endswith("…")]
    said = " ".join(" ".join(shown).split())
    assert said.count("the same as in turn 1 #0 see #") == 2 and "see #2 status 503" in said
