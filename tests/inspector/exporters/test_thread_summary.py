"""A run as conversations: each piece once, results with the turn that asked for them."""

from typing import Any, cast

from conversations import CALL, HELLO, chat, loop, result, said, user
from factories import round_trip

from turntape.inspector.exporters.thread_summary import run_summary


def test_a_turn_has_only_what_is_new_in_its_request() -> None:
    [thread] = run_summary(loop()).threads

    first, second = thread.turns
    assert [(s.role, s.text) for s in first.said] == [("user", "what is a tape?")]
    assert second.said == ()
    assert [(r.call_id, r.text) for r in first.results] == [("call_1", "a strip that holds a recording")]
    assert cast(Any, first.label["client"])["outcome"] == "dispatched"  # as it is once the next request is known


def test_an_attempt_says_nothing_again() -> None:
    trips = [chat([HELLO], error={"error": {"message": "busy"}}, status=503), chat([HELLO], said("Hi."), index=1)]

    [thread] = run_summary(trips).threads

    assert [len(turn.said) for turn in thread.turns] == [1, 0]


def test_threads_are_separate_and_other_round_trips_are_left_out() -> None:
    trips = [*loop(), chat([user("a title, please")], said("Tapes"), index=2), round_trip(url="https://x.example/y")]

    assert [len(thread.turns) for thread in run_summary(trips).threads] == [2, 1]


def test_after_a_rewrite_only_what_was_never_said_is_shown() -> None:
    first = said(None, CALL)
    rewritten = [user("summary: tapes"), HELLO, first, result("call_1", "x"), user("go on")]

    [thread] = run_summary([chat([HELLO], first), chat(rewritten, said("ok"), index=1)]).threads

    assert [s.text for s in thread.turns[1].said] == ["summary: tapes", "go on"]
