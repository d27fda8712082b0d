"""The page of the wire."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import chat, said, user

from turntape.cassettes.tape.model import Failure, Frame, Request, Response, RoundTrip, Side
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


@pytest.mark.parametrize(
    ("route", "words"),
    [("base_url", "to the base URL"), ("forward", "through the forward proxy"), ("import", "imported"), (None, "")],
)
def test_how_it_came_is_said_in_words(route: Any, words: str) -> None:
    line = next(line for line in shown(replace(chat([user("go")], said("done")), route=route)) if "HTTP/1.1" in line)
    assert words in line and "route" not in line and "base_url" not in line


def test_without_an_answer_the_page_says_so() -> None:
    lines = shown(replace(chat([user("go")]), closed_first="client", failure=GONE))

    assert "the client closed first" in lines and "━━ response  nothing came back" in lines


def test_a_long_url_is_shown_whole() -> None:
    trip = chat([user("go")], said("done"))
    trip = replace(trip, request=replace(trip.request, url=f"{trip.request.url}?{'x' * 150}"))

    assert "".join(shown(trip)[:3]).startswith(f"POST {trip.request.url}")


def test_a_turn_of_a_session_shows_the_messages_that_passed() -> None:
    sent: list[tuple[Side, str]] = [
        ("server", '{"type":"session.created","session":{}}'),
        ("client", '{"type":"response.create","model":"gpt-5","input":"go"}'),
        ("server", '{"type":"response.created","response":{"id":"r1"}}'),
        ("server", '{"type":"response.completed","response":{"id":"r1","output":[]}}'),
        ("client", '{"type":"response.create","model":"gpt-5","input":"on","previous_response_id":"r1"}'),
        ("server", '{"type":"response.completed","response":{"id":"r2","output":[]}}'),
        ("client", '{"type":"bye"}'),
    ]
    frames = tuple(Frame(sender, 100_000 * at, data.encode(), text=True) for at, (sender, data) in enumerate(sent, 1))
    request = Request("GET", "wss://api.openai.com/v1/responses", (("upgrade", "websocket"),))
    run = Run.of([RoundTrip(request, Response(101), 100.0, frames=frames[1:])])

    first, second = (list(wire_page(run.detail(place)).laid_out(100, {}).text()) for place in (0, 1))

    assert first[0] == "GET wss://api.openai.com/v1/responses"
    narrow = list(wire_page(run.detail(0)).laid_out(60, {}).text())
    assert narrow[1:3] == ["WebSocket session: 101  turn 1 of 2;", "times since the session's start"]
    assert first[1].startswith("WebSocket session: 101  turn 1 of 2") and "upgrade: websocket" not in first
    assert [line.split()[5:7] for line in first if " ms " in line] == [
        ["client", "response.create"],
        ["server", "response.created"],
        ["server", "response.completed"],
    ]
    assert [line.split()[1:6] for line in second if " ms " in line] == [
        ["0.500", "s", "+0", "ms", "client"],
        ["0.600", "s", "+100", "ms", "server"],
        ["0.700", "s", "+100", "ms", "client"],
    ]
