from conversations import CALL, HELLO, chat, loop, result, said, user

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.dispatch import Dispatch, answers, dispatch
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import ToolCall, ToolResult

OTHER = ("call_2", "look_up", '{"word":"reel"}')


def after(first: RoundTrip, following: RoundTrip | None) -> Dispatch:
    threads = Threads()
    turn = threads.add(first, read(first))
    return dispatch(turn, threads.add(following, read(following)) if following else None)


def test_all_calls_answered_is_dispatched() -> None:
    done = after(*loop())

    assert (done.outcome, [r.call_id for r in done.results], done.missing) == ("dispatched", ["call_1"], ())


def test_some_calls_answered_is_partly() -> None:
    first = said(None, CALL, OTHER)
    done = after(chat([HELLO], first), chat([HELLO, first, result("call_2", "r")], said("x"), index=1))

    assert (done.outcome, [call.id for call in done.missing]) == ("partly", ["call_1"])


def test_no_call_answered_is_not_dispatched() -> None:
    first = said(None, CALL)
    done = after(chat([HELLO], first), chat([HELLO, first, user("go on")], said("x"), index=1))

    assert done.outcome == "not_dispatched"


def test_a_plain_answer_ends_and_a_pending_call_is_open() -> None:
    assert after(chat([HELLO], said("bye")), None).outcome == "ended"
    assert after(chat([HELLO], said(None, CALL)), None).outcome == "open"
    assert after(chat([HELLO], said("by"), finish="length"), None).outcome == "open"


def test_calls_without_ids_are_answered_by_name_in_order() -> None:
    calls = tuple(ToolCall(name, None, {}, "{}") for name in ("a", "b", "a"))
    results = tuple(ToolResult(None, name, False, text) for name, text in (("a", "1"), ("b", "2"), ("a", "3")))

    assert {place: r.text for place, r in answers(calls, results).items()} == {0: "1", 1: "2", 2: "3"}


def test_a_client_that_drops_the_ids_is_read_by_name() -> None:
    """What litellm does with Gemini: the API gave ids, and neither the history nor the results have them."""
    calls = tuple(ToolCall(name, name * 3, {}, "{}") for name in ("a", "b"))
    results = tuple(ToolResult(None, name, False, name) for name in ("b", "a"))

    assert {place: r.text for place, r in answers(calls, results).items()} == {0: "a", 1: "b"}
    assert answers(calls, (ToolResult(None, "c", False, "x"),)) == {}


def test_calls_and_results_that_are_retold_as_text_are_dispatched() -> None:
    """What smolagents does: the history has the call and its result only as text."""
    retold = said("Calling tools:\n[{'id': 'call_1', 'function': {'name': 'look_up', 'arguments': {'word': 'jig'}}}]")
    history = [HELLO, retold, user("Observation:\na dance")]
    done = after(chat([HELLO], said(None, CALL)), chat(history, said("x"), index=1))

    assert (done.outcome, [(r.call_id, r.text) for r in done.results]) == (
        "dispatched",
        [("call_1", "Observation:\na dance")],
    )


def test_a_call_that_is_retold_and_followed_by_nothing_is_not_dispatched() -> None:
    retold = said("I called look_up (call_1).")
    turn = chat([HELLO], said(None, CALL))

    assert after(turn, chat([HELLO, retold], said("x"), index=1)).outcome == "not_dispatched"
    assert after(turn, chat([HELLO, said("I called it."), user("so?")], said("x"), index=1)).outcome == "not_dispatched"
