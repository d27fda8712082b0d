import json
from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, loop, result, said, user
from judged import calls, gemini, gives, turn
from round_trips import exchanged

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.analysis.dispatch import Dispatch, answers, dispatch, retold_calls, taken_as_text
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Message, Part, ToolCall, ToolResult

OTHER = ("call_2", "look_up", '{"word":"reel"}')


ASK = turn("user", {"text": "what is a tape?"})
CALLED = turn("model", calls())


def after(first: RoundTrip, following: RoundTrip | None) -> Dispatch:
    threads = Threads()
    made = threads.add(first, read(first))
    return dispatch(made, threads.add(following, read(following)) if following else None)


def answered(done: Dispatch) -> list[tuple[str | None, str]]:
    """The id of each call that has a result, and the text of that result."""
    return [(found.call_id, found.text) for found in done.results]


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


@pytest.mark.parametrize("continued", [False, True])
@pytest.mark.parametrize(
    ("first", "outcome"),
    [
        (chat([HELLO], said("bye")), "ended"),
        (chat([HELLO], said("bye"), finish="content_filter"), "ended"),
        (chat([HELLO], {"role": "assistant", "content": None, "refusal": "I will not."}), "ended"),
        (
            exchanged(
                "https://api.anthropic.com/v1/messages",
                {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [HELLO]},
                {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "a"}],
                 "stop_reason": "stop_sequence", "stop_sequence": "x"},
            ),
            "ended",
        ),
        (chat([HELLO], said("by"), finish="length"), "open"),
        (chat([HELLO], failure=Failure("refused", "connection refused")), "open"),
        (chat([HELLO], status=500, error={"error": {"message": "no", "type": "server_error"}}), "open"),
    ],
    ids=["complete", "content_filter", "refusal", "stop_sequence", "length", "no answer", "error"],
)  # fmt: skip
def test_a_turn_without_calls_has_ended_if_a_client_may_stop_at_its_answer(
    first: RoundTrip, outcome: str, continued: bool
) -> None:
    following = chat([HELLO, said("bye"), user("one more")], said("x"), index=1) if continued else None

    assert after(first, following) == Dispatch((), (), outcome)


def test_an_answer_outside_the_api_is_open() -> None:
    """Nothing that was read has a finish."""
    listing = exchanged("https://api.openai.com/v1/models", "", {"data": []}, method="GET")

    assert after(listing, None) == Dispatch((), (), "open")


def test_a_call_with_only_an_id_or_only_a_name_is_to_be_answered_and_one_with_neither_is_not() -> None:
    without_name, without_id = said(None, ("call_1", "", "{}")), turn("model", calls())
    by_id = after(chat([HELLO], without_name), chat([HELLO, without_name, result("call_1", "r")], said("x"), index=1))
    by_name = after(gemini([ASK], [calls()]), gemini([ASK, without_id, turn("user", gives())], [{"text": "x"}], 1))
    neither = after(chat([HELLO], said("well", ("", "", "")), finish="content_filter"), None)

    assert (by_id.outcome, by_name.outcome, neither.outcome) == ("dispatched", "dispatched", "ended")
    assert after(chat([HELLO], said(None, CALL), finish="content_filter"), None).outcome == "open"


def test_each_of_two_equal_calls_keeps_its_own_result_when_the_client_reorders_them() -> None:
    first = said(None, ("call_1", "look_up", "{}"), ("call_2", "look_up", "{}"))
    turned = said(None, ("call_2", "look_up", "{}"), ("call_1", "look_up", "{}"))
    history = [HELLO, turned, result("call_2", "two"), result("call_1", "one")]

    assert answered(after(chat([HELLO], first), chat(history, said("x"), index=1))) == [
        ("call_1", "one"),
        ("call_2", "two"),
    ]


def test_a_client_that_gives_the_calls_its_own_ids_is_followed() -> None:
    """Two calls are equal, and each is one call in the history; an earlier equal call is not one of them."""
    old = [HELLO, said(None, ("own_0", "look_up", "{}")), result("own_0", "zero")]
    first = said(None, ("call_1", "look_up", "{}"), OTHER, ("call_3", "look_up", "{}"))
    renamed = said(None, ("own_2", OTHER[1], OTHER[2]), ("own_1", "look_up", "{}"), ("own_3", "look_up", "{}"))
    results = [result("own_3", "three"), result("own_2", "two"), result("own_1", "one")]
    done = after(chat(old, first), chat([*old, renamed, *results], said("x"), index=1))

    assert answered(done) == [("own_1", "one"), ("own_2", "two"), ("own_3", "three")]
    assert done.missing == ()


def test_a_call_that_keeps_its_id_does_not_stop_the_search_for_one_that_lost_it() -> None:
    first = said(None, OTHER, CALL)
    renamed = said(None, OTHER, ("own_1", CALL[1], CALL[2]))
    history = [HELLO, renamed, result("own_1", "one"), result("call_2", "two")]
    done = after(chat([HELLO], first), chat(history, said("x"), index=1))

    assert answered(done) == [("call_2", "two"), ("own_1", "one")]


def test_a_call_that_another_call_replaced_is_not_answered_by_its_result() -> None:
    replaced = said(None, ("own_1", "look_up", '{"word":"reel"}'))
    done = after(chat([HELLO], said(None, CALL)), chat([HELLO, replaced, result("own_1", "r")], said("x"), index=1))

    assert done.outcome == "not_dispatched"


def test_a_result_of_an_earlier_call_without_id_does_not_answer_a_new_one() -> None:
    history = [ASK, CALLED, turn("user", gives("old"))]
    ignored = [*history, turn("model", calls("reel")), turn("user", {"text": "never mind"})]
    done = after(gemini(history, [calls("reel")]), gemini(ignored, [{"text": "x"}], 1))

    assert (done.outcome, [call.name for call in done.missing]) == ("not_dispatched", ["look_up"])


def test_a_result_behind_the_last_answer_is_new_even_if_the_history_was_cut() -> None:
    long = [ASK, CALLED, turn("user", gives("old")), CALLED, turn("user", gives("older"))]
    cut = [ASK, turn("model", calls("reel")), turn("user", gives("new"))]
    done = after(gemini(long, [calls("reel")]), gemini(cut, [{"text": "x"}], 1))

    assert answered(done) == [(None, "new")]


def test_where_the_api_holds_the_history_every_result_is_new() -> None:
    """Calls of this API have no ids, and each request has only what is new."""

    def cohere(results: list[dict[str, Any]]) -> RoundTrip:
        call = {"name": "look_up", "parameters": {"word": "tape"}}
        given = [{"call": call, "outputs": [{"text": text}]} for text in results]
        asked = {"model": "command-r", "message": "hi", "conversation_id": "c1", "tool_results": given}
        answer = {"generation_id": "g", "text": "", "tool_calls": [call], "finish_reason": "COMPLETE"}
        return exchanged("https://api.cohere.com/v1/chat", asked, answer)

    assert after(cohere([{"a": 1}]), cohere([{"b": 2}])).outcome == "dispatched"


def test_a_history_with_results_and_no_answer_can_be_read() -> None:
    assert after(chat([HELLO], said(None, CALL)), chat([result("call_1", "r")], said("x"), index=1)).outcome == (
        "dispatched"
    )


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


def test_a_call_that_lost_its_id_or_never_had_one_is_answered_by_name_whatever_the_id_of_the_result() -> None:
    named, other = ToolResult("own_1", "a", False, "1"), ToolResult("own_1", "b", False, "1")
    lost, never = ToolCall("a", "call_1", {}, "{}"), ToolCall("a", None, {}, "{}")

    for call, history in ((lost, {0: None}), (never, {0: None}), (never, {0: "own_2"}), (never, {})):
        assert answers((call,), (named,), history) == {0: named}
        assert answers((call,), (other,), history) == {}


def test_a_result_with_another_id_does_not_answer_a_call_that_kept_its_id() -> None:
    call, found = ToolCall("a", "call_1", {}, "{}"), ToolResult("call_9", "a", False, "1")

    assert answers((call,), (found,)) == {}
    assert answers((call,), (found,), {0: "call_9"}) == {0: found}


def test_a_result_answers_one_call() -> None:
    calls = tuple(ToolCall("a", None, {}, "{}") for _ in range(2))
    twice = tuple(ToolCall("a", "call_1", {}, "{}") for _ in range(2))
    one, other = ToolResult(None, "a", False, "1"), ToolResult("call_1", None, False, "1")

    assert answers(calls, (one,)) == {0: one}
    assert answers(twice, (other,)) == {0: other}


def test_one_call_may_be_answered_by_id_and_the_next_by_name() -> None:
    calls = ToolCall("a", "call_1", {}, "{}"), ToolCall("b", "call_2", {}, "{}")
    results = ToolResult("call_1", None, False, "1"), ToolResult(None, "b", False, "2")

    assert answers(calls, results) == {0: results[0], 1: results[1]}


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
    assert after(turn, chat([HELLO, said("I called look_up."), user("so?")], said("x"), index=1)).missing
    assert after(turn, chat([HELLO, said("I did call_1."), user("so?")], said("x"), index=1)).missing


def retold(role: Any, text: str, kind: Any = "text") -> Message:
    return Message(role, (Part(kind, "", text),), "")


def test_what_a_history_retells_is_read_from_its_texts_in_order() -> None:
    calls = tuple(ToolCall(name, i, {}, "{}") for name, i in (("a", "c1"), ("b", "c2"), ("c", None)))
    messages = (
        retold("user", "begin"),
        retold("assistant", "a is c1"),
        retold("user", ""),
        Message("user", (Part("text", "", "one"), Part("media", "", "[image]"), Part("text", "", "two")), ""),
        retold("assistant", "a was c1, now b as c2, and c"),
        retold("user", "three"),
    )

    assert retold_calls(calls, messages) == {
        0: ToolResult("c1", "a", False, "one\ntwo"),
        1: ToolResult("c2", "b", False, "three"),
    }
    assert retold_calls(calls, (retold("assistant", "a is c1", "reasoning"), retold("user", "so?"))) == {}


FORM = ToolCall("answer", "c1", {"city": "Rome", "people": [1, 2]}, "{}")
WRAPPED = ToolCall("answer", "c2", {"result": {"city": "Rome"}}, "{}")


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ('{"people": [1, 2], "city": "Rome"}', [FORM]),
        ('  {"city": "Rome"}', [WRAPPED]),
        ('{"result": {"city": "Rome"}}', [WRAPPED]),
        ('{"city": "Oslo"}', []),
        ("Rome", []),
        ('"Rome"', []),
    ],
)
def test_a_call_whose_arguments_the_client_took_as_the_answer_is_found(text: str, taken: list[ToolCall]) -> None:
    assert taken_as_text([FORM, WRAPPED], [retold("user", text), retold("assistant", text)]) == taken
    assert taken_as_text([FORM, WRAPPED], [retold("user", text)]) == []
    assert taken_as_text([FORM, WRAPPED], [retold("assistant", text, "reasoning")]) == []


def test_a_list_may_be_the_answer_and_a_call_without_arguments_is_none() -> None:
    rows, none = ToolCall("rows", "c1", {"rows": [1, 2]}, "{}"), ToolCall("rows", "c2", {}, "{}")
    broken = ToolCall("rows", "c3", None, '{"rows": [1, 2')

    assert taken_as_text([rows, none, broken], [retold("assistant", "[1,2]")]) == [rows]
    assert taken_as_text([none, broken], [retold("assistant", "{}")]) == []


def sampled(*choices: dict[str, Any], n: int | None) -> RoundTrip:
    fields: dict[str, Any] = {"n": n} if n else {}
    trip = chat([HELLO], choices[0], **fields)
    assert trip.response is not None
    body = json.loads(trip.response.body)
    body["choices"] = [
        {"index": number, "message": message, "finish_reason": "tool_calls"} for number, message in enumerate(choices)
    ]
    return replace(trip, response=replace(trip.response, content=json.dumps(body).encode()))


def test_of_several_sampled_answers_only_the_one_that_was_continued_has_calls_to_answer() -> None:
    first, second = said(None, CALL), said(None, OTHER)
    kept = chat([HELLO, second, result("call_2", "r")], said("x"), index=1)
    neither = chat([HELLO, user("Something else?")], said("x"), index=1)

    done = after(sampled(first, second, n=2), kept)
    assert (done.outcome, answered(done), done.missing) == ("dispatched", [("call_2", "r")], ())
    assert after(sampled(first, second, n=None), kept).missing == ()
    assert after(sampled(first, second, n=2), neither) == Dispatch((), (), "open")
    assert after(sampled(first, n=2), neither) == Dispatch((), (), "open")
    assert after(sampled(first, n=1), neither).outcome == "not_dispatched"


def test_each_call_is_beside_its_result() -> None:
    first = said(None, CALL, OTHER)
    done = after(chat([HELLO], first), chat([HELLO, first, result("call_2", "r")], said("x"), index=1))

    assert [(call.id, found.text) for call, found in done.given] == [("call_2", "r")]
