"""The page of the wire."""

from dataclasses import replace

import pytest
from conversations import chat, said, user

from turntape.cassettes.tape.model import Failure, RoundTrip, Side
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.wire_page import wire_page


def shown(trip: RoundTrip) -> list[str]:
    run = Run.of([replace(trip, index=0)])
    return list(wire_page(run.detail(0)).laid_out(100, {}).text())


GONE = Failure("client_gone", "the client closed the connection")


@pytest.mark.parametrize(
    ("side", "finish", "line"),
    [
        ("client", "stop", "the client closed the connection when the whole answer was there"),
        ("server", "stop", "the server closed the connection when the whole answer was there"),
        ("client", "", "the client closed first"),
        ("server", "", "the server closed first"),
    ],
)
def test_who_closed_first_is_only_said_of_an_answer_that_is_not_whole(side: Side, finish: str, line: str) -> None:
    trip = chat([user("go")], said("done"), finish=finish or None)
    assert trip.response is not None
    if not finish:
        trip = replace(trip, response=replace(trip.response, content=trip.response.body[:40]))

    lines = shown(replace(trip, closed_first=side, failure=GONE))
    assert line in lines and "client_gone: the client closed the connection" in lines


def test_without_an_answer_the_page_says_so() -> None:
    lines = shown(replace(chat([user("go")]), closed_first="client", failure=GONE))

    assert "the client closed first" in lines and "━━ response  nothing came back" in lines
