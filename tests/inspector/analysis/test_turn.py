"""A turn, and why it is in its thread."""

from dataclasses import replace

import pytest
from conversations import CALL, HELLO, TOOLS, chat, said

from turntape.cassettes.tape.model import Failure, Response, RoundTrip
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.analysis.turn import Edge, Turn
from turntape.inspector.wire.parse import read


def turn(trip: RoundTrip) -> Turn:
    return Threads().add(trip, read(trip))


def test_an_edge_as_json_has_every_key() -> None:
    assert Edge("main").as_json() == {"kind": "main", "of": None, "thread": None, "reason": "", "tier": "P"}
    assert Edge("fork", 3, "t2", "It begins like #3.", "S").as_json() == {
        "kind": "fork",
        "of": 3,
        "thread": "t2",
        "reason": "It begins like #3.",
        "tier": "S",
    }


WHOLE = chat([HELLO], said("Fine."))
CUT = replace(
    WHOLE, response=Response(200, "OK", content=b'{"object": "chat.completion", "choi'), failure=Failure("cut", "reset")
)


@pytest.mark.parametrize(
    ("trip", "failed"),
    [
        (WHOLE, False),
        (chat([HELLO], said("Fi"), finish="length"), False),
        (chat([HELLO], status=500, error={"error": {"message": "no", "type": "server_error"}}), True),
        (chat([HELLO], failure=Failure("refused", "connection refused")), True),
        (CUT, True),
    ],
    ids=["complete", "at the limit", "an error", "no answer", "cut"],
)
def test_a_turn_has_failed_without_a_complete_answer(trip: RoundTrip, failed: bool) -> None:
    assert turn(trip).failed is failed


def test_tools_are_those_that_were_offered_and_call_ids_those_that_were_made() -> None:
    made = turn(chat([HELLO], said(None, CALL, ("", "look_up", "{}"))))

    assert made.tools == {tool["function"]["name"] for tool in TOOLS}
    assert made.call_ids == {CALL[0]}
    assert turn(chat([HELLO], failure=Failure("refused", "no"), tools=None)).call_ids == frozenset()


def test_the_first_turn_of_a_run_begins_its_main_thread() -> None:
    made = turn(chat([HELLO], said("Fine.")))

    assert (made.number, made.attempt, made.shared, made.messages_before, made.history) == (1, 1, 0, 0, "first")
    assert (made.usage_before, made.edge.kind) == (None, "main")
