"""The loop: calls dispatched, partial answers kept out, pauses resumed, the end seen as the end."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from judged import anthropic, asked, given, ids, judged, only, spoke, steps, trip, use, words
from round_trips import CHAT, sse

from turntape.cassettes.tape.model import RoundTrip

ASKED = {"role": "user", "content": "what is a tape?"}


def test_a_loop_that_ran_and_then_left_its_calls_is_reported() -> None:
    assert only("client-tool-calls-not-dispatched", *steps(3, word=None)).at == 2


@pytest.mark.parametrize("name", ["final_answer", "ask_human"])
def test_a_call_that_is_the_output_or_asks_a_person_may_stay(name: str) -> None:
    trips = steps(2, word=None)
    history = [HELLO, *_history(2)]
    tool = {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    last = chat(history, said(None, ("c9", name, "{}")), index=2, tools=[tool])

    assert "client-tool-calls-not-dispatched" not in ids(*trips, last)


def _history(count: int) -> list[dict[str, Any]]:
    return [
        message
        for n in range(count)
        for message in (said(None, (f"call_{n}", "look_up", f'{{"word":"{n}"}}')), result(f"call_{n}", f"a strip {n}"))
    ]


def test_a_single_call_that_nobody_answers_may_be_all_that_was_wanted() -> None:
    assert ids(chat([HELLO], said(None, CALL))) == set()


def test_a_loop_that_believes_a_wrong_label_echoes_the_apis_fault() -> None:
    one = only("client-tool-calls-not-dispatched", chat([HELLO], said(None, CALL), finish="stop"))

    assert one.because_of == ("api-finish-label-disagrees",)


def test_a_cut_call_that_the_label_hides_must_not_be_dispatched() -> None:
    cut = chat([HELLO, *_history(2)], said(None, ("c9", "look_up", '{"word":"ta')), index=2, usage=(100, 0))

    reported = ids(*steps(2, word=None), cut)

    assert "api-truncated-call-mislabelled" in reported
    assert "client-tool-calls-not-dispatched" not in reported


@pytest.mark.parametrize(
    ("turns", "expected"), [(10, "client-max-iterations"), (9, "client-tool-calls-not-dispatched")]
)
def test_a_round_number_of_turns_looks_like_a_limit(turns: int, expected: str) -> None:
    reported = ids(*steps(turns, word=None))

    assert reported == {expected}


def capped(error: str | None) -> list[RoundTrip]:
    cut = said(None, ("call_1", "look_up", '{"word":"ta'))
    answered = result("call_1", error or "a strip")
    return [chat([HELLO], cut, finish="length"), chat([HELLO, cut, answered], said("done"), index=1)]


def test_a_call_that_hit_the_cap_must_not_be_run() -> None:
    assert only("client-dispatched-partial-call", *capped(None)).layer == "client"
    assert "client-dispatched-partial-call" not in ids(*capped("error: the call was cut off and not run"))


def test_a_call_under_an_id_that_came_again_whole_may_be_run() -> None:
    half = b'"tool_calls":[{"index":0,"id":"call_1","function":{"name":"look_up","arguments":"{\\"wo"}}]'
    first = said(None, CALL)
    following = chat([HELLO, first, result("call_1", "a strip")], said("done"), index=2)

    reported = ids(cut_short(half), chat([HELLO], first, index=1), following)

    assert "api-stream-cut" in reported
    assert "client-dispatched-partial-call" not in reported


def test_a_call_beside_a_filter_must_not_be_run() -> None:
    first = said(None, CALL)
    filtered = chat([HELLO], first, finish="content_filter")

    assert "client-executed-filtered-call" in ids(
        filtered, chat([HELLO, first, result("call_1", "x")], said("x"), index=1)
    )


def test_a_capped_answer_is_not_the_last_word() -> None:
    first = said(None, CALL)
    history = [HELLO, first, result("call_1", "x")]
    half = chat(history, said("It holds a"), index=1, finish="length")
    kept = [*history, said("It holds a")]

    assert "client-treated-truncated-as-final" in ids(chat([HELLO], first), half)
    assert "client-treated-truncated-as-final" in ids(
        chat([HELLO], first), half, chat([*kept, user("and rope?")], said("x"), index=2)
    )
    assert "client-treated-truncated-as-final" not in ids(
        chat([HELLO], first), half, chat([*kept, user("please continue")], said("x"), index=2)
    )


PAUSED = anthropic([ASKED], [words("Looking.")], stop="pause_turn")


@pytest.mark.parametrize(
    ("history", "resumed"),
    [
        ([spoke(words("Looking."))], True),
        ([spoke(words("Looking.")), asked("well?")], False),
        ([spoke(words("I looked."))], False),
    ],
)
def test_a_paused_answer_goes_back_as_it_is(history: list[dict[str, Any]], resumed: bool) -> None:
    reported = ids(PAUSED, anthropic([ASKED, *history], [words("done")], 1))

    assert ("client-pause-not-resumed" in reported) is not resumed


def test_a_pause_that_nobody_resumes_is_the_clients() -> None:
    assert only("client-pause-not-resumed", PAUSED).tier == "S"


def cut_short(delta: bytes = b'"content":"It holds a long"') -> RoundTrip:
    trip = chat([HELLO], None, error={}, stream=True)
    assert trip.response is not None
    body = b'data: {"choices":[{"index":0,"delta":{"role":"assistant",' + delta + b"}}]}\n\n"
    response = replace(trip.response, headers=(("content-type", "text/event-stream"),), content=body)
    return replace(trip, response=response)


def test_half_an_answer_must_not_be_kept_as_a_whole_one() -> None:
    kept = chat([HELLO, said("It holds a long"), user("go on")], said("x"), index=1)

    assert "client-stored-failed-turn" in ids(cut_short(), kept)
    assert "client-stored-failed-turn" not in ids(cut_short(), chat([HELLO], said("It holds a long record."), index=1))


@pytest.mark.parametrize(
    ("more", "nothing_new"),
    [([user("continue")], True), ([], True), ([user("and rope?")], False)],
)
def test_asking_on_after_the_end_with_nothing_new_is_reported(more: list[dict[str, Any]], nothing_new: bool) -> None:
    opened = chat([HELLO], said("It holds a recording."))
    following = chat([HELLO, said("It holds a recording."), *more], said("x"), index=1)

    assert ("client-continued-after-end" in ids(opened, following)) is nothing_new


def test_a_step_by_design_does_not_continue_after_the_end() -> None:
    opened = chat([HELLO], said("It holds a recording."))
    shaped = chat([HELLO, said("It holds a recording."), user("continue")], said("{}"), index=1,
                  response_format={"type": "json_object"})  # fmt: skip

    assert "client-continued-after-end" not in ids(opened, shaped)


def timed(header: str, gap: float) -> list[RoundTrip]:
    both = [use("toolu_1", "a"), use("toolu_2", "b")]
    following = anthropic([ASKED, spoke(*both), asked(given(), given("toolu_2"))], [words("done")], 1, at=0.25 + gap)
    request = replace(
        following.request, headers=(*following.request.headers, ("x-claude-code-prev-tool-durations", header))
    )
    return [anthropic([ASKED], both), replace(following, request=request)]


def test_calls_that_could_have_run_at_once_are_reported_by_the_clients_own_header() -> None:
    assert "client-parallel-run-serially" in ids(*timed("look_up=2000;look_up=2100", 4.2))
    assert "client-parallel-run-serially" not in ids(*timed("look_up=2000;look_up=2100", 2.2))


def test_the_end_of_a_healthy_loop_says_nothing() -> None:
    trips = steps(3, word=None)
    last = chat([HELLO, *_history(3)], said("It is a strip."), index=3)

    assert judged(*trips, last) == []


def test_a_call_that_was_run_out_of_a_failed_stream_echoes_the_failure() -> None:
    call = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": "look_up", "arguments": '{"word":"a"}'},
    }
    base = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-5"}
    begun = {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}]}
    failed = {"error": {"message": "The server had an error", "type": "server_error"}}
    request = {"model": "gpt-5", "messages": [HELLO], "tools": TOOLS, "stream": True}
    opened = trip(CHAT, request, sse(begun, failed))
    history = [HELLO, said(None, ("call_1", "look_up", '{"word":"a"}')), result("call_1", "a strip")]

    one = only("client-dispatched-partial-call", opened, chat(history, said("done"), index=1))

    assert one.because_of == ("api-error-in-200-stream",)


def waited(milliseconds: tuple[int, int], gap: float) -> list[RoundTrip]:
    """Two calls whose results come after a gap in seconds; the client reports how long each tool took."""
    two = [use(), use("toolu_2", "strip")]
    following = anthropic([ASKED, spoke(*two), asked(given(), given("toolu_2"))], [words("x")], 1, at=0.25 + gap)
    header = ("x-claude-code-prev-tool-durations", f"a={milliseconds[0]}, b={milliseconds[1]}")
    request = replace(following.request, headers=(*following.request.headers, header))
    return [anthropic([ASKED], two), replace(following, request=request)]


@pytest.mark.parametrize(
    ("milliseconds", "gap", "serial"),
    [((1000, 1000), 2.0, True), ((1000, 1000), 1.7, False), ((2000, 1100), 3.2, True), ((2000, 900), 3.2, False)],
)
def test_tools_ran_one_by_one_when_the_gap_is_their_sum_and_the_sum_is_well_above_the_longest(
    milliseconds: tuple[int, int], gap: float, serial: bool
) -> None:
    assert ("client-parallel-run-serially" in ids(*waited(milliseconds, gap))) is serial


def test_a_usual_limit_of_turns_counts_only_when_nearly_every_turn_was_dispatched() -> None:
    history: list[dict[str, Any]] = [HELLO]
    trips: list[RoundTrip] = []
    for n in range(9):
        trips.append(chat(history, said(f"Answer {n}."), index=n))
        history = [*history, said(f"Answer {n}."), user(f"Question {n}?")]
    last = chat(history, said(None, CALL), index=9)

    assert "client-max-iterations" not in ids(*trips, last)


def test_a_pause_that_is_resumed_by_the_id_of_the_answer_is_resumed() -> None:
    paused = anthropic([ASKED], [words("Let me search.")], stop="pause_turn")
    by_id = anthropic([asked("go")], [words("Done.")], 1, thread={"type": "continue", "previous_message_id": "msg_0"})
    by_another = anthropic([ASKED, spoke(words("Let me search.")), asked("go")], [words("Done.")], 1)

    assert "client-pause-not-resumed" not in ids(paused, by_id)
    assert "client-pause-not-resumed" in ids(paused, by_another)
