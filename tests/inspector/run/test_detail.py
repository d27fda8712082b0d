"""A round trip with its neighbours: what was sent before, what was called, whether the answer is whole."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import orjson
import pytest
from conversations import HELLO, chat, loop, said, user

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.analysis.turn import Edge
from turntape.inspector.run.detail import Detail, history_diff_with
from turntape.inspector.run.run_index import Run

LOST = Failure("cut", "the upstream closed the connection")


def detail(trips: list[RoundTrip], place: int = 0) -> Detail:
    return Run.of(trips).detail(place)


def test_nothing_of_a_first_request_was_sent_before() -> None:
    first = detail([chat([user("one"), user("two")], said("hi"))])

    assert first.sent == 0
    assert [message.role for message in first.new] == ["user", "user"]


def test_a_request_that_is_shorter_than_the_one_before_was_sent_as_far_as_it_goes() -> None:
    run = Run.of(loop())
    first = replace(run.detail(0), previous=run.reading(1))

    assert (first.sent, list(first.new)) == (1, [])


def test_messages_that_say_something_else_were_not_sent_before() -> None:
    """Where the row does not know how many came before, the messages themselves decide."""
    edited = chat([user("one"), user("TWO"), said("x"), user("three")], said("done"), index=1)
    run = Run.of([chat([user("one"), user("two")], said("x")), edited])
    known, unknown = Run.of(loop()).detail(1), replace(run.detail(1), previous=run.reading(0))

    assert (known.row.messages_before, known.sent) == (1, 1)
    assert (unknown.row.messages_before, unknown.sent) == (0, 1)


def test_a_call_is_named_by_the_answer_before_and_by_the_history() -> None:
    assert detail(loop(), 1).call_names == {"call_1": "look_up"}
    assert detail(loop(), 0).call_names == {}


@pytest.mark.parametrize("finish", ["stop", "length", "content_filter"])
def test_an_answer_with_a_finish_word_is_whole(finish: str) -> None:
    assert detail([chat([HELLO], said("hi"), finish=finish)]).whole


def test_an_error_and_an_answer_that_was_lost_are_not_whole() -> None:
    busy = chat([HELLO], status=529, error={"error": {"message": "busy"}})
    lost = chat([HELLO], said("hi"), failure=LOST)

    assert [detail([one]).whole for one in (busy, replace(lost, response=None))] == [False, False]


def test_what_is_not_a_turn_is_whole_when_it_was_answered() -> None:
    trip = chat([HELLO], said("hi"))
    other = replace(
        trip, request=replace(trip.request, method="GET", url="https://api.openai.com/v1/models", content=b"")
    )
    variants = (
        other,
        replace(other, failure=LOST),
        replace(other, response=None),
        replace(other, response=None, failure=LOST),
    )

    assert [detail([one]).whole for one in variants] == [True, False, False, False]


def ollama(messages: Sequence[Mapping[str, object]], answer: Mapping[str, object], index: int) -> RoundTrip:
    """A turn of an API whose calls and results have no ids."""
    trip = chat([], said("x"), index=index)
    asked = {"model": "llama3", "messages": messages, "stream": False}
    body = {"model": "llama3", "message": answer, "done": True, "done_reason": "stop"}
    assert trip.response
    return replace(
        trip,
        upstream="ollama",
        request=replace(trip.request, url="http://localhost:11434/api/chat", content=orjson.dumps(asked)),
        response=replace(trip.response, content=orjson.dumps(body), chunks=()),
    )


def test_calls_without_ids_have_the_results_that_are_new() -> None:
    first, second = (
        {"role": "assistant", "tool_calls": [{"function": {"name": "look_up", "arguments": {"word": word}}}]}
        for word in "ab"
    )
    of_a, of_b = ({"role": "tool", "tool_name": "look_up", "content": f"of {word}"} for word in "ab")
    trips = [
        ollama([HELLO], first, 0),
        ollama([HELLO, first, of_a], second, 1),
        ollama([HELLO, first, of_a, second, of_b], {"role": "assistant", "content": "done"}, 2),
    ]

    found = [{at: one.text for at, one in detail(trips, n).results.items()} for n in range(3)]

    assert found == [{0: "of a"}, {0: "of b"}, {}]


def test_a_call_that_no_request_followed_has_no_result() -> None:
    assert detail(loop()[:1]).results == {}


def test_the_next_request_repeats_a_turn_as_it_was_and_adds_the_result() -> None:
    run = Run.of(loop())

    found = history_diff_with(run.detail(0), run.reading(1))

    assert found is not None
    assert (found.state, found.changes) == ("verbatim", ())
    assert [(unit.kind, unit.call_id) for unit in found.new] == [("result", "call_1")]


def test_a_prompt_that_was_built_again_has_the_history_as_text() -> None:
    run = Run.of(loop())

    found = history_diff_with(run.detail(0), run.reading(1), Edge("rebuilt"))

    assert found is not None
    assert found.state == "respelled"


def test_a_failed_turn_and_a_round_trip_without_a_turn_are_not_compared() -> None:
    run = Run.of(loop())
    following = run.reading(1)
    failed = chat([HELLO], status=529, error={"error": {"message": "busy"}})
    other = replace(failed, request=replace(failed.request, method="GET", url="https://api.openai.com/v1/models"))

    assert [history_diff_with(detail([one]), following) for one in (failed, other)] == [None, None]
