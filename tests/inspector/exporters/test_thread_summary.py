"""A run as conversations: each piece once, results with the turn that asked for them."""

import json
from typing import Any, cast

from conversations import CALL, HELLO, chat, loop, result, said, user
from factories import round_trip
from tool_stories import Story, text

from turntape.cassettes.tape.carried import Carried
from turntape.inspector.exporters.atif import atif
from turntape.inspector.exporters.markdown import markdown
from turntape.inspector.exporters.thread_summary import run_summary
from turntape.inspector.views.text.run_text import story


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


def test_a_run_whose_call_is_in_the_file_before_is_listed_on_its_own() -> None:
    tale = Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 1}, text("3"))
    trips = [Carried(threads=1).mark(trip) for trip in tale.trips[:3]] + tale.trips[3:]

    summary = run_summary(trips)
    assert ([run.call_id for run in summary.of_earlier], summary.unjoined) == (["c1"], ())
    assert "## Tool runs of calls in the file before" in markdown(trips)
    assert [run["call_id"] for run in json.loads(atif(trips))["extra"]["earlier_tool_runs"]] == ["c1"]
    shown = "\n".join("".join(words for words, _ in line) for line in story(trips, width=80))
    assert "1 tool run of calls in the file before" in shown and "without a call" not in shown
