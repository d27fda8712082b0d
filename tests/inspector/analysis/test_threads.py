from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, loop, result, said, sent, user
from judged import RESPONSES, calls, gemini
from judged import turn as content
from round_trips import exchanged
from sockets import SOCKET, handshake

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.analysis.turn import Turn
from turntape.inspector.wire.parse import read


def sort(*trips: RoundTrip) -> list[Turn]:
    threads = Threads()
    return [threads.add(trip, read(trip)) for trip in trips]


def places(*trips: RoundTrip) -> list[tuple[str, int, str]]:
    return [(turn.thread, turn.number, turn.history) for turn in sort(*trips)]


def edges(*trips: RoundTrip) -> list[tuple[str, str, int | None]]:
    return [(turn.thread, turn.edge.kind, turn.edge.of) for turn in sort(*trips)]


def response(index: int, before: str | None = None, *, text: str = "go on", fails: bool = False) -> RoundTrip:
    """A turn of an API that holds the history."""
    fields = {"model": "gpt-5", "input": text, **({"previous_response_id": before} if before else {})}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
               "content": [{"type": "output_text", "text": "ok"}]}  # fmt: skip
    answer = {"id": f"resp_{index}", "object": "response", "status": "completed", "model": "gpt-5", "output": [message],
              "usage": {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}}  # fmt: skip
    error = {"error": {"message": "overloaded", "type": "server_error"}}
    return replace(exchanged(RESPONSES, fields, error if fails else answer, status=500 if fails else 200), index=index)


def failed(messages: list[Any], index: int = 0, **fields: Any) -> RoundTrip:
    return chat(messages, status=529, error={"error": {"message": "no", "type": "server_error"}}, index=index, **fields)


def test_a_history_that_grows_is_one_thread() -> None:
    assert places(*loop()) == [("t1", 1, "first"), ("t1", 2, "extended")]


def test_two_agents_that_begin_alike_are_two_threads() -> None:
    """The same greeting alone proves nothing: an answer must come between."""
    first, second = loop()

    assert places(first, chat([HELLO], said(None, CALL), index=1)) == [("t1", 1, "first"), ("t2", 1, "first")]
    assert [t for t, _, _ in places(first, first, second, second)] == ["t1", "t2", "t1", "t2"]


def test_the_same_body_after_a_failure_is_another_attempt_of_the_turn() -> None:
    overloaded = chat([HELLO], status=529, error={"error": {"message": "overloaded", "type": "server_error"}})
    refused = chat([HELLO], failure=Failure("refused", "connection refused"))
    again, last = loop()

    for failed in (overloaded, refused):
        assert places(failed, again, last) == [("t1", 1, "first"), ("t1", 1, "first"), ("t1", 2, "extended")]


def test_a_rewritten_history_is_still_the_thread_whose_call_it_names() -> None:
    first, _ = loop()
    rewritten = chat([user("something else"), said(None, CALL), result("call_1", "x")], said("done"), index=1)

    assert places(first, rewritten) == [("t1", 1, "first"), ("t1", 2, "changed")]


def test_runs_do_not_mix() -> None:
    first, second = loop()
    other = chat([HELLO, said(None, CALL), result("call_1", "x")], said("ok"), run="b", index=1)

    assert places(first, other)[1] == ("t2", 1, "first")
    assert places(first, second)[1] == ("t1", 2, "extended")


def test_interleaved_agents_come_apart() -> None:
    a = [user("a"), said(None, ("c1", "look_up", "{}")), result("c1", "ra")]
    b = [user("b"), said(None, ("c1", "look_up", "{}")), result("c1", "rb")]
    trips = [
        chat(a[:1], a[1], index=0),
        chat(b[:1], b[1], index=1),
        chat(b, said("B"), index=2),
        chat(a, said("A"), index=3),
    ]

    assert [t for t, _, _ in places(*trips)] == ["t1", "t2", "t2", "t1"]


def test_what_the_previous_request_held_is_counted() -> None:
    _, second = sort(*loop())

    assert second.shared == 1
    assert second.usage_before is not None and second.usage_before.input == 100
    assert second.messages_before == 1


def test_a_title_call_before_the_main_turn_does_not_take_the_thread() -> None:
    title = chat([HELLO], said("Tapes"), tools=None)
    first = chat([HELLO], said("Let me look.", CALL), index=1)
    second = chat([HELLO, said("Let me look.", CALL), result("call_1", "a strip")], said("done"), index=2)

    assert [thread for thread, _, _ in places(title, first, second)] == ["t1", "t2", "t2"]


def test_a_title_call_between_two_turns_does_not_take_the_thread() -> None:
    first = chat([HELLO], said("Let me look.", CALL))
    title = chat([HELLO], said("Tapes"), index=1, tools=None)
    second = chat([HELLO, said("Let me look.", CALL), result("call_1", "a strip")], said("done"), index=2)

    assert [thread for thread, _, _ in places(first, title, second)] == ["t1", "t2", "t1"]


def test_every_edge_says_why_and_how_sure_it_is() -> None:
    turns = sort(*loop())

    assert [turn.edge.kind for turn in turns] == ["main", "continuation"]
    assert turns[1].edge.reason == "its history begins with the whole of #0's"
    assert {turn.edge.tier for turn in turns} == {"P"}


def test_another_attempt_is_the_same_turn() -> None:
    failed = chat([HELLO], status=529, error={"error": {"message": "overloaded", "type": "server_error"}})
    first, second = sort(failed, chat([HELLO], said("x"), index=1))

    assert (second.number, second.attempt, second.edge.kind, second.edge.of) == (1, 2, "attempt", 0)
    assert (first.number, first.attempt) == (1, 1)


def test_a_history_that_goes_another_way_is_a_fork() -> None:
    first = [HELLO, said(None, CALL), result("call_1", "a")]
    trips = (
        chat([HELLO], said(None, CALL)),
        chat(first, said("it is a tape"), index=1),
        chat([*first, said("it is a tape"), user("more")], said("no more"), index=2),
        chat([*first, said("it is a strip"), user("why")], said("because"), index=3),
    )

    assert edges(*trips)[2:] == [("t1", "continuation", 1), ("t2", "fork", 1)]


ANSWER = "It is a strip of film."


@pytest.mark.parametrize("answer", [ANSWER, "A strip."])
def test_a_changed_history_that_holds_the_last_answer_is_still_the_thread(answer: str) -> None:
    """Whoever goes back to an earlier point leaves the last answer out."""
    first = [HELLO, said(None, CALL), result("call_1", "a")]
    changed = [HELLO, said(None, CALL), result("call_1", "b"), said(answer), user("why?")]
    trips = chat([HELLO], said(None, CALL)), chat(first, said(answer), index=1), chat(changed, said("x"), index=2)

    assert edges(*trips)[2] == ("t1", "continuation", 1)
    gone_back = chat([*changed[:3], said("Another."), user("why?")], said("x"), index=2)
    assert edges(*trips[:2], gone_back)[2] == ("t2", "fork", 0)


def test_a_history_in_another_order_is_still_the_thread() -> None:
    """It holds the last answer: nobody went back."""
    first = [said(None, CALL), result("call_1", "a strip")]
    second = [said(None, ("call_2", "look_up", "{}")), result("call_2", "a reel")]
    trips = [
        chat([HELLO], first[0], index=0),
        chat([HELLO, *first], second[0], index=1),
        chat([HELLO, *second, *first], said("done"), index=2),
    ]

    assert edges(*trips)[1:] == [("t1", "continuation", 0), ("t1", "continuation", 1)]


def test_a_request_that_is_repeated_in_a_branch_stays_in_it() -> None:
    """Where the branch's own history is known, that of a thread which was left behind does not count."""
    front, other = [HELLO, said("Yes."), user("And?")], said(None, ("call_7", "look_up", '{"word":"b"}'))
    branch = [*front, other, result("call_7", "b")]
    trips = (
        chat(front, said(None, CALL)),
        chat(front, other, index=1),
        chat(branch, said("x"), index=2),
        chat(branch, said("y"), index=3),
    )

    assert edges(*trips)[1:] == [("t2", "fork", 0), ("t2", "continuation", 1), ("t3", "fork", 2)]


def test_two_requests_that_answer_the_first_call_are_branches() -> None:
    trips = (
        chat([HELLO], said(None, CALL)),
        chat([HELLO, said(None, CALL), result("call_1", "a")], said("It is an a."), index=1),
        chat([HELLO, said(None, CALL), result("call_1", "b")], said("It is a b."), index=2),
    )

    assert edges(*trips)[2] == ("t2", "fork", 0)


def test_agents_of_two_sessions_with_one_history_come_apart() -> None:
    first, second = loop()
    trips = (
        sent(first, session_id="a"),
        sent(replace(first, index=1), session_id="b"),
        sent(replace(second, index=2), session_id="b"),
        sent(replace(second, index=3), session_id="a"),
    )

    assert [(turn.thread, turn.number) for turn in sort(*trips)] == [("t1", 1), ("t2", 1), ("t2", 2), ("t1", 2)]


def test_two_that_begin_alike_are_separated_by_what_they_answered() -> None:
    one, two = said(None, ("call_1", "look_up", "{}")), said(None, ("call_2", "look_up", "{}"))
    trips = (
        chat([HELLO], one),
        chat([HELLO], two, index=1),
        chat([HELLO, two, result("call_2", "b")], said("B"), index=2),
        chat([HELLO, one, result("call_1", "a")], said("A"), index=3),
    )

    assert [turn.thread for turn in sort(*trips)] == ["t1", "t2", "t2", "t1"]


def test_where_the_answers_are_alike_too_the_trace_decides() -> None:
    first, second = loop()
    a, b = f"00-{'a' * 32}-{'1' * 16}-01", f"00-{'b' * 32}-{'2' * 16}-01"
    trips = (
        sent(first, traceparent=a),
        sent(replace(first, index=1), traceparent=b),
        sent(replace(second, index=2), traceparent=b.replace("2" * 16, "3" * 16)),
        sent(replace(second, index=3), traceparent=a),
    )

    assert [turn.thread for turn in sort(*trips)] == ["t1", "t2", "t2", "t1"]


def test_a_response_that_is_continued_by_its_id_needs_no_history() -> None:
    trips = (response(0), response(1, "resp_0"), response(2, "resp_1"), response(3, "resp_0"))

    assert edges(*trips) == [
        ("t1", "main", None),
        ("t1", "continuation", 0),
        ("t1", "continuation", 1),
        ("t2", "fork", 0),
    ]
    assert [(turn.history, turn.shared) for turn in sort(*trips)][1:] == [("extended", 0)] * 3


def test_a_response_that_is_continued_twice_in_a_row_forks() -> None:
    assert edges(response(0), response(1, "resp_0"), response(2, "resp_0"))[2] == ("t2", "fork", 0)


def test_an_id_that_was_not_recorded_starts_a_thread() -> None:
    assert edges(response(0), response(1, "resp_of_yesterday"))[1] == ("t2", "main", None)


def test_a_changed_second_try_after_a_failure_is_not_a_fork() -> None:
    """The failed turn continued the same answer."""
    failed = response(1, "resp_0", fails=True)

    assert edges(response(0), failed, response(2, "resp_0", text="other words"))[2] == ("t1", "continuation", 1)


def test_a_request_that_goes_back_behind_a_failed_turn_is_a_fork() -> None:
    failed = response(2, "resp_1", fails=True)

    assert edges(response(0), response(1, "resp_0"), failed, response(3, "resp_0", text="back"))[3] == ("t2", "fork", 0)


REFUND = [{"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}]
GREETING = said("Good day.")
LONG = "The tape is a strip that holds a recording."


def test_what_is_tried_again_keeps_its_place_in_the_thread() -> None:
    first, second = loop()
    history = [HELLO, said(None, CALL), result("call_1", "a strip that holds a recording")]
    session = {"session_id": "s", "thread_id": "a"}
    trips = [first, failed(history, 1), failed(history, 2, temperature=0), failed(history, 3, temperature=0)]
    turns = sort(*(sent(trip, **session) for trip in (*trips, replace(second, index=4))))

    assert [(turn.thread, turn.number, turn.attempt, turn.edge.kind, turn.edge.of) for turn in turns[1:]] == [
        ("t1", 2, 1, "continuation", 0),
        ("t1", 2, 2, "attempt", 1),
        ("t1", 2, 3, "attempt", 2),
        ("t1", 2, 4, "attempt", 3),
    ]
    assert [turn.edge.reason for turn in turns[2:]] == [
        "it repeats the history that failed",
        "it repeats the request that failed",
        "it repeats the history that failed",
    ]
    for turn in turns[1:]:
        assert (turn.history, turn.shared, turn.messages_before) == ("extended", 1, 1)
        assert turn.usage_before is not None and turn.usage_before.input == 100
        assert (turn.identity.session, turn.identity.agent) == ("s", "a")


def test_the_first_request_of_a_thread_is_compared_with_its_second_try() -> None:
    first, again = sort(failed([HELLO]), failed([HELLO], 1))

    assert (first.shared, again.edge.reason) == (0, "it repeats the request that failed")


def test_a_turn_that_succeeded_in_the_end_is_not_tried_again() -> None:
    first, _ = loop()

    assert edges(failed([HELLO]), replace(first, index=1), replace(first, index=2))[2] == ("t2", "main", None)


def test_a_failed_request_that_the_client_gave_up_is_not_tried_again_later() -> None:
    """The thread has gone on with another history: the old request is a way back to before."""
    history = [HELLO, said(None, CALL), result("call_1", "a strip")]
    trips = (
        chat([HELLO], said(None, CALL)),
        failed(history, 1),
        chat([user("shorter"), said(None, CALL), result("call_1", "a strip")], said("done"), index=2),
        chat(history, said("a strip"), index=3),
    )

    assert edges(*trips)[2:] == [("t1", "continuation", 1), ("t2", "fork", 1)]


def test_a_request_that_only_adds_the_answer_extends_the_history() -> None:
    """What a client sends after a pause, or to let the model go on from its own words."""
    trips = (chat([HELLO], said(LONG)), chat([HELLO, said(LONG)], said("More."), index=1))

    assert places(*trips)[1] == ("t1", 2, "extended")


def test_two_that_begin_alike_are_separated_by_the_text_that_they_answered() -> None:
    one, two = said("It is one."), said("It is two.")
    trips = (
        chat([HELLO], one),
        chat([HELLO], two, index=1),
        chat([HELLO, two, user("go on")], said("B"), index=2),
        chat([HELLO, one, user("go on")], said("A"), index=3),
    )

    assert [turn.thread for turn in sort(*trips)] == ["t1", "t2", "t2", "t1"]


def test_a_twin_that_failed_is_not_continued() -> None:
    trips = (
        chat([HELLO], said("It is one.")),
        failed([HELLO], 1),
        chat([HELLO, said("It is one."), user("go on")], said("x"), index=2),
    )

    assert [thread for thread, _, _ in places(*trips)] == ["t1", "t2", "t1"]


def test_an_answer_that_the_client_rewrote_still_continues_the_thread() -> None:
    first = chat([HELLO], said("It is one."))

    assert places(first, chat([HELLO, said("One."), user("go on")], said("x"), index=1))[1] == ("t1", 2, "extended")


def test_a_request_without_a_trace_continues_the_first_of_two_equal_threads() -> None:
    first, second = loop()
    traced = sent(first, traceparent=f"00-{'a' * 32}-{'1' * 16}-01")

    assert [turn.thread for turn in sort(traced, replace(first, index=1), replace(second, index=2))] == [
        "t1",
        "t2",
        "t1",
    ]


def test_a_rewritten_history_is_proven_by_the_id_of_a_call_or_of_its_result() -> None:
    first, _ = loop()
    gone = [user("so far: nothing"), said(None, CALL), said(None, ("call_9", "look_up", "{}"))]
    only_result = chat([user("something else"), result("call_1", "x")], said("done"), index=1)
    other_calls = chat(gone, said("done"), index=1)

    for trip in (only_result, other_calls):
        turn = sort(first, trip)[1]
        assert (turn.thread, turn.history, turn.shared, turn.edge.tier) == ("t1", "changed", 0, "P")
        assert turn.edge.reason == "its history holds the call call_1"


def test_a_rewritten_history_goes_to_the_thread_of_its_own_agent() -> None:
    rewritten = [user("so far: nothing"), said(None, CALL), result("call_1", "x")]
    trips = (
        sent(chat([user("a")], said(None, CALL)), session_id="s", thread_id="a"),
        sent(chat([user("b")], said(None, CALL), index=1), session_id="s", thread_id="b"),
        sent(chat(rewritten, said("done"), index=2), session_id="s", thread_id="b"),
    )

    assert [thread for thread, _, _ in places(*trips)] == ["t1", "t2", "t2"]


def test_of_two_threads_with_one_call_id_a_history_goes_to_the_one_that_it_begins_like() -> None:
    front = [user("a"), GREETING]
    trips = (
        chat([*front, user("one")], said(None, CALL)),
        chat([user("b")], said(None, CALL), index=1),
        chat([*front, user("one, shorter"), said(None, CALL), result("call_1", "x")], said("done"), index=2),
    )
    turns = sort(*trips)

    assert [(turn.thread, turn.shared) for turn in turns] == [("t1", 0), ("t2", 0), ("t1", 2)]


def test_a_rewritten_history_without_ids_is_found_by_what_the_model_said_last() -> None:
    ask = content("user", {"text": "what is a tape?"})
    by_text = (
        chat([HELLO], said(LONG)),
        chat([user("so far: nothing"), said(LONG), user("and then?")], said("x"), index=1),
    )
    shorter = [content("user", {"text": "shorter"}), content("model", calls()), content("user", {"text": "well?"})]
    by_call = (gemini([ask], [calls()]), gemini(shorter, [{"text": "x"}], 1))

    for trips in (by_text, by_call):
        second = sort(*trips)[1]
        assert (second.thread, second.history, second.edge.tier) == ("t1", "changed", "S")
        assert second.edge.reason == "its history holds the answer of #0"


def test_a_history_that_is_edited_in_the_middle_and_has_the_last_call_continues() -> None:
    first = [HELLO, said(None, CALL), result("call_1", "a strip")]
    second, third = ("call_2", "look_up", '{"word":"reel"}'), ("call_3", "look_up", '{"word":"jig"}')
    whole = [*first, said(None, second), result("call_2", "a spool")]
    edited = [*first, said(None, second), result("call_2", "[cut]"), said(None, third), result("call_3", "a dance")]
    trips = (
        chat([HELLO], said(None, CALL)),
        chat(first, said(None, second), index=1),
        chat(whole, said(None, third), index=2),
        chat(edited, said("done"), index=3),
    )

    assert edges(*trips)[3] == ("t1", "continuation", 2)


def test_a_history_that_goes_back_to_an_older_call_is_still_the_thread() -> None:
    """No earlier request had this front, so there is no place where it diverged."""
    second = ("call_2", "look_up", '{"word":"reel"}')
    trips = (
        chat([HELLO], said(None, CALL)),
        chat([HELLO, said(None, CALL), result("call_1", "a strip")], said(None, second), index=1),
        chat([user("shorter"), said(None, CALL), result("call_1", "a strip")], said("done"), index=2),
    )

    assert edges(*trips)[2] == ("t1", "continuation", 1)


def test_an_answer_that_is_made_again_is_a_fork_with_the_whole_history() -> None:
    first, second = loop()
    turns = sort(first, second, replace(second, index=2))

    assert (turns[2].edge.kind, turns[2].edge.of, turns[2].history, turns[2].shared) == ("fork", 1, "extended", 3)


@pytest.mark.parametrize("more", [[user("q")], [user("q"), user("and q")]])
def test_a_fork_is_found_at_the_latest_request_that_both_share(more: list[Any]) -> None:
    front = [GREETING, user("hi")]
    trips = (
        chat(front, said("One.")),
        chat([*front, said("One."), user("go on")], said("x"), index=1),
        chat([*front, said("Two."), *more], said("y"), index=2),
    )

    assert edges(*trips)[2] == ("t2", "fork", 0)
    assert sort(*trips)[2].shared == 2


def test_a_forked_worker_with_fewer_tools_does_not_get_the_thread() -> None:
    """Qwen Code answers the call for the worker in both histories, and the worker gets its task behind them."""
    call = said(None, ("call_1", "agent", '{"task":"look it up"}'))
    trips = (
        chat([HELLO], call, tools=[*TOOLS, *REFUND]),
        chat([HELLO, call, result("call_1", "started"), user("You are the worker.")], said("x"), index=1, tools=REFUND),
        chat([HELLO, call, result("call_1", "It runs.")], said("y"), index=2, tools=[*TOOLS, *REFUND]),
    )

    assert edges(*trips)[2] == ("t2", "fork", 0)


def test_another_agent_with_the_same_front_and_other_tools_is_not_a_fork() -> None:
    front = [GREETING, user("hi")]
    trips = (
        chat(front, said("One.")),
        chat([*front, said("One."), user("go on")], said("x"), index=1),
        chat([*front, said("Two."), user("q")], said("y"), index=2, tools=REFUND),
    )

    assert edges(*trips)[2] == ("t2", "main", None)


@pytest.mark.parametrize(
    ("name", "tools", "kind"),
    [
        ("transfer_to_billing", REFUND, "handoff"),
        ("transfer-to-billing", REFUND, "handoff"),
        ("handoff_to_billing", REFUND, "handoff"),
        ("transfer_to_billing", TOOLS, "continuation"),
        ("ask_about_transfer_to", REFUND, "continuation"),
        ("look_up", REFUND, "continuation"),
    ],
)
def test_a_handoff_is_a_call_that_says_so_and_other_tools_after_it(name: str, tools: list[Any], kind: str) -> None:
    answer = said(None, ("call_8", "note", "{}"), ("call_9", name, "{}"))
    history = [HELLO, answer, result("call_8", "ok"), result("call_9", "ok")]
    second = sort(chat([HELLO], answer), chat(history, said("hello"), index=1, tools=tools))[1]

    assert (second.thread, second.edge.kind, second.edge.of) == ("t1", kind, 0)
    if kind == "handoff":
        assert (second.edge.tier, second.edge.reason) == ("S", f"the tools change after the call of {name!r}")


ASKED = {"model": "gpt-5", "input": "hi", "tools": []}


def answered(index: int, url: str = SOCKET, **fields: Any) -> RoundTrip:
    answer = {"id": f"resp_{index}", "object": "response", "status": "completed", "output": [], "model": "gpt-5"}
    return replace(exchanged(url, {**ASKED, **fields}, answer), index=index)


def attempts_at(*trips: RoundTrip) -> list[tuple[str, int, int]]:
    threads = Threads()
    turns = [threads.add(one, read(one)) for one in trips]
    return [(turn.thread, turn.number, turn.attempt) for turn in turns]


def test_the_request_after_a_handshake_that_failed_is_another_attempt() -> None:
    threads = Threads()
    first, second = (threads.add(one, read(one)) for one in (handshake(status=426), answered(1)))

    assert (second.thread, second.number, second.attempt) == (first.thread, 1, 2)
    assert (second.edge.kind, second.edge.of) == ("attempt", 0)
    assert second.edge.reason == "it follows a WebSocket handshake that failed"


def test_handshakes_that_fail_one_after_the_other_are_attempts() -> None:
    assert attempts_at(handshake(), handshake(index=1), answered(2)) == [("t1", 1, 1), ("t1", 1, 2), ("t1", 1, 3)]


def test_a_handshake_elsewhere_or_of_another_run_is_not_repeated() -> None:
    other = answered(1, "https://gateway.example/v1/responses")

    assert attempts_at(handshake(), other) == [("t1", 1, 1), ("t2", 1, 1)]
    assert attempts_at(handshake(run="a"), replace(answered(1), run="b")) == [("t1", 1, 1), ("t2", 1, 1)]


def test_only_the_next_request_follows_a_handshake() -> None:
    assert attempts_at(handshake(), answered(1), answered(2, input="and?")) == [
        ("t1", 1, 1),
        ("t1", 1, 2),
        ("t2", 1, 1),
    ]


def test_a_handshake_within_a_thread_does_not_interrupt_it() -> None:
    following = answered(2, previous_response_id="resp_0")

    assert attempts_at(answered(0), handshake(index=1), following) == [("t1", 1, 1), ("t2", 1, 1), ("t1", 2, 1)]


def test_a_prompt_that_is_rebuilt_with_the_last_answer_continues_the_thread() -> None:
    ask, answer = "Which river is longer?", "Thought: I should look up the Loire first."
    trips = (
        chat([user(ask)], said(answer), tools=None),
        chat([user(f"{ask} {answer} Observation: 1,006 km.")], said("x"), index=1, tools=None),
    )

    assert edges(*trips)[1] == ("t1", "rebuilt", 0)
    assert places(*trips)[1] == ("t1", 2, "changed")


def test_a_conversation_over_several_traces_is_one_thread() -> None:
    """A recorder names a run by its trace, and a chat server begins a trace with each message."""
    first, second = loop()
    traces = ["0af7651916cd43dd8448eb211c80319c", "1bf7651916cd43dd8448eb211c80319c"]
    trips = [
        replace(sent(trip, traceparent=f"00-{trace}-b7ad6b7169203331-01"), run=trace)
        for trip, trace in zip((first, second), traces, strict=True)
    ]
    named = [replace(trip, run=name) for trip, name in zip((first, second), ("a", "b"), strict=True)]

    assert [turn.thread for turn in sort(*trips)] == ["t1", "t1"]
    assert [turn.thread for turn in sort(*named)] == ["t1", "t2"]
