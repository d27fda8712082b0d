from conversations import CALL, HELLO, chat, loop, result, said, user

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.analysis.turn import Turn
from turntape.inspector.wire.parse import read


def sort(*trips: RoundTrip) -> list[Turn]:
    threads = Threads()
    return [threads.add(trip, read(trip)) for trip in trips]


def places(*trips: RoundTrip) -> list[tuple[str, int, str]]:
    return [(turn.thread, turn.number, turn.history) for turn in sort(*trips)]


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
