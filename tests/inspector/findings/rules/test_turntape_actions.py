"""What turntape itself did to a round trip."""

from dataclasses import replace

import pytest
from conversations import HELLO, chat, said
from judged import lines
from sockets import LIVE, REALTIME, SOCKET, completed, create, handshake, say, session

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.findings.rules.turntape_actions import IDS


def marked(**extra: object) -> list[str]:
    return lines(replace(chat([HELLO], said("It is a strip.")), extra=extra))


def test_a_limit_is_reported_with_its_message() -> None:
    assert marked(guard={"limit": "max-turns", "message": "ended after 3 turns"}) == [
        "#0 run-ended-by-limit (client, info, P): ended after 3 turns | #0 request"
    ]
    assert marked(guard={}) == []


def test_what_a_person_did_at_a_breakpoint_is_reported() -> None:
    assert marked(breakpoint={"did": "refused", "on": "finish=stop", "message": "not now"}) == [
        "#0 answer-refused-by-hand (client, info, P): a person refused the answer at the breakpoint finish=stop: "
        "not now | #0 response"
    ]
    assert marked(breakpoint={"did": "edited", "on": "finish=stop"}) == [
        "#0 answer-edited-by-hand (client, info, P): a person changed the answer at the breakpoint finish=stop "
        "| #0 response"
    ]
    assert marked(breakpoint={"did": "passed", "on": "finish=stop"}) == []
    assert marked() == []


def failed(kind: str) -> RoundTrip:
    return chat([HELLO], status=404, error={"error": {"message": "no recorded round trip", "type": kind}})


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("turntape_replay_miss", "replay-missed (client, error, P): no recorded round trip | #0 request"),
        ("turntape_no_cassette", "replay-missed (client, error, P): no recorded round trip | #0 request"),
        ("turntape_loop", "request-led-back (client, error, P): no recorded round trip | #0 request"),
        ("turntape_no_answer", "replay-without-answer (api, info, P): no recorded round trip | #0 response"),
    ],
)
def test_an_answer_of_turntape_is_reported_and_nothing_else(kind: str, expected: str) -> None:
    assert lines(failed(kind)) == [f"#0 {expected}"]


def test_an_error_of_the_api_is_not_the_replays() -> None:
    assert not [one for one in lines(failed("not_found_error")) if "replay-" in one]


def test_what_explains_the_whole_answer_is_listed() -> None:
    assert IDS == (
        "run-ended-by-limit", "answer-refused-by-hand", "replay-missed", "replay-without-answer", "request-led-back",
    )  # fmt: skip


MISSED = {"type": "turntape_replay_miss", "code": "turntape_replay_miss", "message": "not recorded", "param": "/input"}


@pytest.mark.parametrize(
    "one",
    [
        session(create(1), say("server", 2, type="error", status=404, error=MISSED)),
        session(
            say("server", 1, type="session.created", session={"model": "gpt-realtime"}),
            say("client", 2, type="response.create"),
            say("server", 3, type="error", status=404, error=MISSED),
            url=REALTIME,
        ),
        handshake(SOCKET, 404, error=MISSED),
        handshake(REALTIME, 404, error=MISSED),
        handshake(LIVE, 404, error=MISSED),
    ],
    ids=["responses", "realtime", "handshake", "handshake of realtime", "handshake of live"],
)
def test_a_miss_over_a_websocket_is_the_replays(one: RoundTrip) -> None:
    assert lines(one) == ["#0 replay-missed (client, error, P): not recorded | #0 request"]


def test_a_limit_within_a_session_ended_only_the_turn_that_was_refused() -> None:
    refused = say("server", 4, type="error", error={"type": "turntape_max_turns", "message": "2 turns"})
    one = session(create(1), completed(2), create(3, previous_response_id="r1"), refused)
    limited = replace(one, extra={"guard": {"message": "2 turns"}})

    assert [line for line in lines(limited) if "no-max-tokens" not in line] == [
        "#0 run-ended-by-limit (client, info, P): 2 turns | #0 request"
    ]
