"""The loop: calls dispatched, partial answers kept out, pauses resumed, the end seen as the end."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from judged import (
    anthropic,
    asked,
    calls,
    context_of,
    gemini,
    given,
    gives,
    ids,
    item_call,
    item_output,
    judged,
    lines,
    only,
    responses,
    spoke,
    steps,
    trip,
    turn,
    use,
    words,
)
from round_trips import CHAT, sse

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.dispatch import Dispatch
from turntape.inspector.findings.memory import ThreadMemory
from turntape.inspector.findings.rules.loop import max_iterations

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


CALL2 = ("call_2", "look_up", '{"word":"reel"}')
LEFT = "client-tool-calls-not-dispatched"


def left(*names: str, tools: list[Any] | None = None, **fields: Any) -> list[RoundTrip]:
    """A loop of two turns, then calls that nobody answers."""
    made = [(f"c{n}", name, "{}") for n, name in enumerate(names)]
    return [
        *steps(2, word=None),
        chat([HELLO, *_history(2)], said(None, *made), index=2, tools=tools or TOOLS, **fields),
    ]


def test_calls_that_nobody_answered_are_listed() -> None:
    last = chat([user("Another question, of another run.")], said("Well."), index=3)

    assert lines(*left("look_up")) == [
        (
            "#2 model-args-break-schema (model, error, P): the arguments of 'look_up' break its schema "
            '(missing-required): "word" is a required property | #2 call c0, #2 request /tools/0'
        ),
        (
            "#2 client-tool-calls-not-dispatched (client, info, S): the thread ends with 1 call that nobody "
            "answered: c0 | #2 call c0"
        ),
    ]
    assert lines(*left("look_up", "look_up", "look_up", "look_up", "look_up"), only=LEFT) == [
        (
            "#2 client-tool-calls-not-dispatched (client, info, S): the thread ends with 5 calls that "
            "nobody answered: c0, c1, c2, c3 and 1 more | #2 call c0, #2 call c1, #2 call c2, #2 call c3"
        ),
    ]
    assert lines(*left("look_up"), last, only=LEFT) == [
        (
            "#2 client-tool-calls-not-dispatched (client, error, S): the thread ends with 1 call that nobody "
            "answered: c0 | #2 call c0"
        ),
    ]
    assert lines(chat([HELLO], said(None, CALL), finish="stop"), only=LEFT) == [
        (
            "#0 client-tool-calls-not-dispatched (client, error, S): the thread ends with 1 call that nobody "
            "answered: call_1 | #0 call call_1 | because of api-finish-label-disagrees"
        ),
    ]


def test_a_client_that_hangs_up_leaves_its_calls_on_purpose() -> None:
    *first, last = left("look_up")

    assert LEFT not in ids(*first, replace(last, closed_first="client"))
    assert LEFT in ids(*first, replace(last, closed_first="server"))


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": "x", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    "name",
    ["Final", "submit_it", "finish", "the_answer", "output", "respond", "complete", "done", "structured", "extract",
     "result", "needs_approval", "confirm", "human", "ask_me", "request_input", "user_input"],
)  # fmt: skip
def test_a_call_by_such_a_name_is_left_on_purpose(name: str) -> None:
    tools = [function(name), function("look_up")]

    assert LEFT not in ids(*left(name, tools=tools))
    assert LEFT not in ids(*left("look_up", name, tools=tools))
    assert LEFT in ids(*left("look_up", tools=tools))


def test_a_loop_with_only_a_final_tool_is_left_on_purpose() -> None:
    assert LEFT not in ids(*left("other", tools=[function("final_answer")]))
    assert LEFT in ids(*left("other", tools=[function("final_answer"), function("look_up")]))
    assert LEFT in ids(*left("other", tools=[function("look_up")]))


@pytest.mark.parametrize(
    ("choice", "open_on_purpose"),
    [("required", True), ({"type": "function", "function": {"name": "look_up"}}, True), ("auto", False)],
)
def test_a_call_that_was_forced_may_be_the_output(choice: object, open_on_purpose: bool) -> None:
    assert (LEFT not in ids(*left("look_up", tool_choice=choice))) is open_on_purpose


def test_calls_that_the_next_request_leaves_out_are_blamed_on_the_label_that_hid_them() -> None:
    answer = said("I will look it up.", CALL)
    passed = chat([HELLO, said("I will look it up."), user("Well?")], said("x"), index=1)
    several = said("I will look it up.", *((f"c{n}", "look_up", "{}") for n in range(5)))

    assert lines(chat([HELLO], answer, finish="stop"), passed, only=LEFT) == [
        (
            "#0 client-tool-calls-not-dispatched (client, error, S): the next request continues without the "
            "call call_1 | #0 call call_1, #1 request | because of api-finish-label-disagrees"
        ),
    ]
    assert LEFT not in ids(chat([HELLO], answer), passed)
    assert (
        "continues without the calls c0, c1, c2, c3"
        in only(LEFT, chat([HELLO], several, finish="stop"), passed).message
    )
    kept = chat([HELLO, answer, user("Well?")], said("x"), index=1)
    assert LEFT not in ids(chat([HELLO], answer, finish="stop"), kept)
    taken = chat([HELLO, said('{"word": "tape"}'), user("Well?")], said("x"), index=1)
    assert LEFT not in ids(chat([HELLO], answer, finish="stop"), taken), "the client took the call as the answer"
    inner = chat([HELLO, said('{"title": "tape"}'), user("Well?")], said("x"), index=1)
    wrapped = said("I will look it up.", ("c", "look_up", '{"data":{"title":"tape"}}'))
    assert LEFT not in ids(chat([HELLO], wrapped, finish="stop"), inner)
    beside = said("I will look it up.", ("c", "look_up", '{"data":{"title":"tape"},"more":1}'))
    assert LEFT in ids(chat([HELLO], beside, finish="stop"), inner)


@pytest.mark.parametrize("turns", [10, 15, 20, 25, 30, 40, 50, 60, 75, 100, 150, 200])
def test_a_usual_limit_is_known(turns: int) -> None:
    def stops(turns: int, dispatched: int) -> bool:
        thread = ThreadMemory(turns=turns, dispatched=dispatched)
        unanswered = Dispatch((), (), "open")
        return bool(
            [*max_iterations.check(context_of(chat([HELLO], said(None, CALL)), thread=thread, dispatch=unanswered))]
        )

    assert stops(turns, turns - 2)
    assert not stops(turns, turns - 3)
    assert not stops(turns + 1, turns)
    assert not stops(turns - 1, turns)


def test_a_limit_of_turns_is_reported_with_the_open_calls() -> None:
    assert lines(*steps(10, word=None)) == [
        (
            "#9 client-max-iterations (client, warning, S): the thread stops after 10 turns with open calls, "
            "as at a turn limit | #9 call call_9"
        ),
    ]


def forced(text: str, **last: Any) -> list[str]:
    history = [HELLO, *_history(2), user(text)]
    return lines(*steps(2, word=None), chat(history, said("x"), index=2, **last), only="client-max")


def test_a_last_request_without_tools_that_speaks_of_a_limit_is_reported() -> None:
    words = "You have reached the maximum number of steps."

    assert forced(words, tools=None) == [
        (
            "#2 client-max-iterations (client, warning, S): the last request offers no tools and mentions "
            "a limit of steps | #2 request /messages/5/content"
        ),
    ]
    assert forced(words, tool_choice="none") != []
    assert forced(words, tool_choice="auto") == []
    assert forced(words) == []
    assert forced("And rope?", tools=None) == []
    assert forced(words + " " * 400 + ".", tools=None) == [], "only the end of the message is looked at"
    for phrase in ("maximum iterations", "maximum number of turns", "Step limit", "no more tool", "final answer now"):
        assert forced(phrase, tools=None) != []


def test_a_thread_that_never_had_tools_was_not_forced_to_end() -> None:
    first = chat([HELLO], said("x"), tools=None)
    second = chat([HELLO, said("x"), user("The step limit, what is it?")], said("y"), index=1, tools=None)

    assert lines(first, second, only="client-max") == []


def ran(finish: str, text: str = "a strip") -> list[str]:
    call = said(None, CALL)
    following = chat([HELLO, call, result("call_1", text)], said("done"), index=1)
    return lines(chat([HELLO], call, finish=finish), following, only="client-executed")


def test_a_call_that_was_run_out_of_an_unfit_answer_is_reported_with_its_finish() -> None:
    assert ran("content_filter") == [
        (
            "#1 client-executed-filtered-call (client, error, P): the call call_1 was run although its answer "
            "was refused, filtered or malformed (content_filter) | #0 finish content_filter, #1 request "
            "/messages/2 | because of api-content-filter"
        ),
    ]
    assert lines(*capped(None), only="client-dispatched") == [
        (
            "#1 client-dispatched-partial-call (client, error, P): the call call_1 was run although its answer "
            "was cut (length) | #0 finish length, #1 request /messages/2 | because of "
            "api-length-truncated-tool-call"
        ),
    ]


@pytest.mark.parametrize(
    "text",
    ["error: no", "[Exception] x", "Traceback (most recent call last)", "failed", "Invalid arguments", "truncated",
     "incomplete", "cancelled by the user", "interrupted", "not run", "Not executed", "skipped", "rejected",
     "The call was truncated.", "It was not executed."],
)  # fmt: skip
def test_a_result_that_says_that_the_call_was_not_run_is_fine(text: str) -> None:
    assert ran("content_filter", text) == []
    assert ran("content_filter", "A strip; no error.") != []
    assert ran("content_filter", "x" * 300 + "truncated") != []


def test_a_result_that_is_marked_as_an_error_is_fine() -> None:
    first = anthropic([ASKED], [use()], stop="refusal")
    failed = anthropic([ASKED, spoke(use()), asked(given("toolu_1", "no", is_error=True))], [words("x")], 1)
    fine = anthropic([ASKED, spoke(use()), asked(given("toolu_1", "a strip"))], [words("x")], 1)

    assert "client-executed-filtered-call" not in ids(first, failed)
    assert "client-executed-filtered-call" in ids(first, fine)


def nameless(finish: str, *results: dict[str, Any]) -> list[str]:
    ask, call = turn("user", {"text": "hi"}), calls()
    history = [ask, turn("model", call), turn("user", *results)]
    found = lines(gemini([ask], [call], finish=finish), gemini(history, [{"text": "x"}], 1))
    return [one for one in found if "was run" in one]


def test_a_call_without_an_id_that_was_run_is_known_by_its_name() -> None:
    assert nameless("MAX_TOKENS", gives()) == [
        (
            "#1 client-dispatched-partial-call (client, error, P): the call of 'look_up' was run although its "
            "answer was cut (length) | #0 finish MAX_TOKENS, #1 request | because of api-length-truncated-tool-call"
        ),
    ]
    assert nameless("SAFETY", gives()) == [
        (
            "#1 client-executed-filtered-call (client, error, P): the call of 'look_up' was run although its "
            "answer was refused, filtered or malformed (content_filter) | #0 finish SAFETY, #1 request | "
            "because of api-content-filter"
        ),
    ]
    assert nameless("SAFETY", gives(), gives("twice")) == nameless("SAFETY", gives())
    assert nameless("SAFETY", gives(name="other")) == []
    assert nameless("SAFETY", gives("error: not run")) == []
    assert nameless("STOP", gives()) == []


def test_a_call_with_an_id_that_its_result_does_not_repeat_is_known_by_its_name() -> None:
    ask, call = turn("user", {"text": "hi"}), calls()
    call["functionCall"]["id"] = "call_1"
    history = [ask, turn("model", calls()), turn("user", gives())]

    found = lines(gemini([ask], [call], finish="MAX_TOKENS"), gemini(history, [{"text": "x"}], 1))

    assert [one.split(" ")[1] for one in found if "was run" in one] == ["client-dispatched-partial-call"]


def ended(finish: str, *, cap: int | None = None, turns: int = 2, calls: bool = False, **fields: Any) -> list[str]:
    first = said(None, CALL)
    history = [HELLO, first, result("call_1", "x")] if turns > 1 else [HELLO]
    answer = said("It holds a", *([CALL] if calls else []))
    capped: dict[str, Any] = {"max_tokens": cap} if cap else {}
    last = chat(history, answer, index=turns - 1, finish=finish, **capped)
    trips = [chat([HELLO], first), last] if turns > 1 else [last]
    return lines(*(replace(one, **fields) if one is last else one for one in trips), only="client-treated")


def test_an_incomplete_answer_at_the_end_is_reported_with_its_finish() -> None:
    assert ended("length") == [
        (
            "#1 client-treated-truncated-as-final (client, warning, S): the thread ends with an incomplete "
            "answer (length) | #1 finish length | because of api-length-truncated"
        ),
    ]
    assert ended("stop") == []
    assert ended("length", turns=1) == []
    assert ended("length", calls=True) == []
    assert ended("length", closed_first="client") == []
    assert ended("length", cap=64) == []
    assert ended("length", cap=65) != []


def test_a_cut_answer_at_the_end_is_reported() -> None:
    first = chat([HELLO], said(None, CALL))
    cut = cut_short()
    request = chat([HELLO, said(None, CALL), result("call_1", "x")], None, error={}, stream=True).request

    assert lines(first, replace(cut, request=request, index=1), only="client-treated") == [
        (
            "#1 client-treated-truncated-as-final (client, warning, S): the thread ends with an incomplete "
            "answer (cut) | #1 finish | because of api-stream-cut"
        ),
    ]


def went_on(text: str, *, cap: int | None = None, kept: str = "It holds a", finish: str = "length") -> list[str]:
    capped: dict[str, Any] = {"max_tokens": cap} if cap else {}
    first = chat([HELLO], said("It holds a"), finish=finish, **capped)
    return lines(first, chat([HELLO, said(kept), user(text)], said("x"), index=1), only="client-treated")


def test_a_request_that_continues_after_an_incomplete_answer_is_reported_with_its_place() -> None:
    assert went_on("And rope?") == [
        (
            "#0 client-treated-truncated-as-final (client, warning, S): the next request continues after an "
            "incomplete answer (length) | #0 finish length, #1 request /messages/2/content | because of "
            "api-length-truncated"
        ),
    ]
    assert went_on("And rope?", finish="stop") == []
    assert went_on("And rope?", cap=64) == []
    assert went_on("And rope?", kept="It holds a recording.") == [], "the client completed the answer"
    for text in ("Continue", "go on", "carry on", "It was truncated", "you were cut off", "Resume please"):
        assert went_on(text) == []


def test_a_paused_turn_is_reported_with_what_the_client_did() -> None:
    changed = anthropic([ASKED, spoke(words("I looked."))], [words("done")], 1)
    behind = anthropic([ASKED, spoke(words("Looking.")), asked("well?")], [words("done")], 1)

    assert lines(PAUSED, only="client-pause") == [
        (
            "#0 client-pause-not-resumed (client, error, S): the API paused the turn (pause_turn) and the client "
            "did not send the answer back | #0 finish pause_turn"
        ),
    ]
    assert lines(PAUSED, changed, only="client-pause") == [
        (
            "#0 client-pause-not-resumed (client, error, P): the API paused the turn and the next request "
            "changes the answer instead of sending it back unchanged | #0 finish pause_turn, #1 request"
        ),
    ]
    assert lines(PAUSED, behind, only="client-pause") == [
        (
            "#0 client-pause-not-resumed (client, error, P): the API paused the turn and the next request adds "
            "something after the answer instead of sending it back unchanged | #0 finish pause_turn, #1 request"
        ),
    ]
    not_paused = anthropic([ASKED], [words("Looking.")])
    assert lines(not_paused, behind, only="client-pause") == []


def stored(*history: dict[str, Any], delta: bytes = b'"content":"It holds a long"') -> list[str]:
    return lines(cut_short(delta), chat([HELLO, *history], said("x"), index=1), only="client-stored")


def test_half_an_answer_in_the_history_is_reported_with_its_place() -> None:
    assert stored(said("It holds a long"), user("go on")) == [
        (
            "#1 client-stored-failed-turn (client, error, P): the partial answer of #0 (cut) is in the history "
            "as if it were complete | #0 response, #1 request /messages/1 | because of api-stream-cut"
        ),
    ]
    assert stored(said("It holds a long recording."), user("go on")) == []
    assert stored(user("It holds a long")) == []
    assert stored(said("Hello you"), user("go on"), delta=b'"content":"Hello you"') != []
    assert stored(said("Hello yo"), user("go on"), delta=b'"content":"Hello yo"') == [], "too short to be sure"


def test_half_a_call_in_the_history_is_reported() -> None:
    delta = b'"tool_calls":[{"index":0,"id":"call_1","function":{"name":"look_up","arguments":"{}"}}]'
    kept, other = said(None, ("call_1", "look_up", "{}")), said(None, ("call_1", "look_up", '{"word":"x"}'))

    assert stored(kept, result("call_1", "error: cut off"), delta=delta) != []
    assert stored(other, result("call_1", "error: cut off"), delta=delta) == []
    assert stored(said("Nothing."), user("go on"), delta=delta) == []


def asked_on(
    *more: dict[str, Any], finish: str = "stop", kept: str = "It holds a recording.", **second: Any
) -> list[str]:
    first = chat([HELLO], said("It holds a recording."), finish=finish)
    return lines(first, chat([HELLO, said(kept), *more], said("x"), index=1, **second), only="client-continued")


def test_a_request_that_adds_nothing_after_the_end_is_reported_with_its_words() -> None:
    assert asked_on(user("continue")) == [
        (
            "#0 client-continued-after-end (client, info, S): the model had finished and the next request "
            "adds only 'continue' | #0 finish stop, #1 request"
        ),
    ]
    assert asked_on() == [
        (
            "#0 client-continued-after-end (client, info, S): the model had finished and the next request "
            "adds nothing | #0 finish stop, #1 request"
        ),
    ]
    for nudge in ("Please continue.", "go on", "proceed!", "keep going", "next"):
        assert asked_on(user(nudge)) != []
    assert asked_on(user("continue with rope")) == []
    assert asked_on(user("continue"), kept="It holds a film.") == []
    assert asked_on(user("continue"), finish="length") == []
    assert asked_on(user("continue"), model="gpt-4o") == []
    assert asked_on(user("continue"), tools=None) == []
    assert asked_on(user("continue"), temperature=0) == []


def test_the_same_request_at_another_endpoint_is_another_step() -> None:
    first = chat([HELLO], said("It holds a recording."))
    second = chat([HELLO, said("It holds a recording."), user("continue")], said("x"), index=1)
    elsewhere = replace(second, request=replace(second.request, url="https://api.openai.com/v2/chat/completions"))

    assert "client-continued-after-end" in ids(first, second)
    assert "client-continued-after-end" not in ids(first, elsewhere)


def test_a_held_history_that_gets_nothing_new_is_reported() -> None:
    text = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Well."}]}
    first = responses([{"role": "user", "content": "hi"}], [text])
    nudge = responses([{"role": "user", "content": "go on"}], [text], 1, previous_response_id="resp_0")
    called = responses([{"role": "user", "content": "hi"}], [text, item_call()])
    given_back = responses([item_output()], [text], 1, previous_response_id="resp_0")

    assert "client-continued-after-end" in ids(first, nudge)
    assert "client-continued-after-end" not in ids(called, given_back)


def test_tools_that_ran_one_by_one_are_reported_with_their_times() -> None:
    assert lines(*waited((1000, 1000), 2.0), only="client-parallel") == [
        (
            "#1 client-parallel-run-serially (client, info, S): 2 tools took 2000 ms in all and 2000 ms "
            "passed: they ran one after the other | #0 response, #1 request header "
            "x-claude-code-prev-tool-durations"
        ),
    ]
    assert lines(*waited((1000, 1000), 1.81), only="client-parallel") != []
    assert lines(*timed("look_up=2000", 4.2), only="client-parallel") == []
    assert lines(*timed("look_up=1000.5;look_up=1000", 2.5), only="client-parallel") != []
    first, second = waited((1000, 1000), 2.0)
    alone = anthropic([ASKED], [use()])
    single = anthropic([ASKED, spoke(use()), asked(given())], [words("x")], 1, at=2.25)
    single = replace(single, request=replace(single.request, headers=second.request.headers))
    assert lines(alone, single, only="client-parallel") == []
    assert lines(second, only="client-parallel") == [], "the turn with the calls was not recorded"


def test_a_thread_that_stops_for_no_known_reason_is_a_hint() -> None:
    def stopped(*trips: RoundTrip) -> list[str]:
        return lines(*trips, only="client-stopped", hints=True)

    first, last = said(None, CALL), [HELLO, said(None, CALL), result("call_1", "x")]
    paused = [anthropic([ASKED], [use()]), anthropic([ASKED, spoke(use()), asked(given())], [words("x")], 1, stop="hm")]

    gone = replace(chat(last, said(None, CALL2), index=1), closed_first="client")
    assert stopped(chat([HELLO], first), gone) == [
        (
            "#1 client-stopped-silently (client, info, H): the thread ends with `tool_calls` and nothing "
            "explains it | #1 finish tool_calls"
        ),
    ]
    assert stopped(replace(chat([HELLO], first), closed_first="client")) == []
    assert stopped(chat([HELLO], first), chat(last, said("x"), index=1)) == []
    assert stopped(*paused) == []


def test_an_answer_with_a_call_or_a_tool_of_the_api_did_not_end_the_run() -> None:
    search = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}
    searched = [search, words("It holds a recording.")]
    first = anthropic([ASKED], searched)
    following = anthropic([ASKED, spoke(*searched), asked("continue")], [words("x")], 1)
    called = chat([HELLO], said("It holds.", CALL), finish="stop")
    after = chat([HELLO, said("It holds.", CALL), result("call_1", ""), user("continue")], said("x"), index=1)

    assert "client-continued-after-end" not in ids(first, following)
    assert "client-continued-after-end" not in ids(called, after)


def test_a_last_request_is_judged_by_its_last_words() -> None:
    history = [HELLO, *_history(2), user("You have reached the step limit."), user("And rope?")]
    last = chat(history, said("x"), index=2, tools=None)

    assert lines(*steps(2, word=None), last, only="client-max") == []


def test_what_the_assistant_adds_after_an_incomplete_answer_is_not_the_users() -> None:
    first = chat([HELLO], said("It holds a"), finish="length")
    second = chat([HELLO, said("It holds a"), said("And more.")], said("x"), index=1)

    assert lines(first, second, only="client-treated") == []


def test_calls_that_were_answered_are_not_passed_over() -> None:
    answer = said("I will look it up.", CALL)
    answered = chat([HELLO, answer, result("call_1", "a strip")], said("x"), index=1)

    assert LEFT not in ids(chat([HELLO], answer, finish="stop"), answered)


def test_a_request_after_an_answer_that_a_full_window_cut_is_because_of_the_window() -> None:
    [line] = went_on("And rope?", finish="model_context_window_exceeded")

    assert "incomplete answer (model_context_window_exceeded)" in line
    assert line.endswith("| because of api-context-full")


def test_half_an_answer_beside_other_words_is_in_the_history_too() -> None:
    pieces = [{"type": "text", "text": "It holds a long"}, {"type": "text", "text": "and so on"}]

    assert stored({"role": "assistant", "content": pieces}, user("go on")) != []
    assert stored({"role": "assistant", "content": pieces[1:]}, user("go on")) == []


def test_asking_on_with_nothing_new_is_worse_the_second_time() -> None:
    history: list[dict[str, Any]] = [HELLO]
    trips: list[RoundTrip] = []
    for n in range(3):
        trips.append(chat(history, said(f"It holds a recording, part {n}."), index=n))
        history = [*history, said(f"It holds a recording, part {n}."), user("continue")]
    found = [one.severity for one in judged(*trips) if one.id == "client-continued-after-end"]

    assert found == ["info", "warning"]


def test_a_thread_that_ends_with_its_output_as_a_call_needs_no_reason() -> None:
    tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("find", "submit")]
    first = said(None, ("call_1", "find", "{}"))

    def stopped(name: str) -> list[str]:
        last = chat([HELLO, first, result("call_1", "x")], said(None, ("call_2", name, "{}")), index=1, tools=tools)
        left = replace(last, closed_first="client")
        return lines(chat([HELLO], first, tools=tools), left, only="client-stopped", hints=True)

    assert stopped("find") != []
    assert stopped("submit") == []


def test_one_call_of_a_tool_that_was_answered_before_is_enough_to_blame_the_client() -> None:
    tools = [function("look_up"), function("find")]
    later = chat([user("Another question, of another run.")], said("Well."), index=3)

    assert "(client, error, S)" in lines(*left("look_up", "find", tools=tools), later, only=LEFT)[0]
    assert "(client, info, S)" in lines(*left("find", tools=tools), later, only=LEFT)[0]


def test_a_call_without_an_id_that_nobody_answered_is_named_by_its_tool() -> None:
    history = [turn("user", {"text": "hi"}), turn("model", calls()), turn("user", gives())]

    assert lines(gemini(history[:1], [calls()]), gemini(history, [calls("reel")], 1), only=LEFT) == [
        "#1 client-tool-calls-not-dispatched (client, info, S): the thread ends with 1 call that nobody answered: "
        "look_up | #1 call look_up",
    ]


def test_three_of_the_open_calls_are_shown_at_a_limit_of_turns() -> None:
    trips = steps(10, word=None)
    many = [(f"c{n}", "look_up", f'{{"word":"{n}"}}') for n in range(4)]
    last = chat([HELLO, *_history(9)], said(None, *many), index=9)

    [line] = lines(*trips[:9], last, only="client-max")
    assert line.endswith("| #9 call c0, #9 call c1, #9 call c2")


def test_a_call_that_was_run_out_of_a_refusal_is_because_of_the_refusal() -> None:
    first = anthropic([ASKED], [use()], stop="refusal")
    fine = anthropic([ASKED, spoke(use()), asked(given())], [words("x")], 1)
    [line] = lines(first, fine, only="client-executed")

    assert line.endswith("| because of model-refusal")


@pytest.mark.parametrize(("gap", "serial"), [(1.799, False), (1.801, True)])
def test_tools_ran_one_by_one_from_nine_tenths_of_their_sum(gap: float, serial: bool) -> None:
    assert bool(lines(*waited((1000, 1000), gap), only="client-parallel")) is serial


def test_without_times_in_the_header_nothing_ran_one_by_one() -> None:
    assert lines(*timed("none", 4.2), only="client-parallel") == []


def test_a_tool_of_the_client_beside_the_apis_own_is_its_only_tool() -> None:
    def stays(*tools: dict[str, Any]) -> bool:
        declared = [*tools, {"type": "web_search_20250305", "name": "web_search"}]
        history = [ASKED, spoke(use()), asked(given())]
        trips = [anthropic([ASKED], [use()], tools=declared), anthropic(history, [use("toolu_2")], 1, tools=declared)]
        return LEFT in ids(*trips)

    assert not stays({"name": "final_answer", "input_schema": {"type": "object"}})
    assert stays({"name": "look_up", "input_schema": {"type": "object"}})


@pytest.mark.parametrize(("name", "limited"), [("final_answer", False), ("ask_human", False), ("look_up", True)])
def test_a_call_left_on_purpose_does_not_look_like_a_limit_of_turns(name: str, limited: bool) -> None:
    last = chat([HELLO, *_history(9)], said(None, ("c9", name, "{}")), index=9, tools=[*TOOLS, function(name)])

    assert bool(lines(*steps(10, word=None)[:9], last, only="client-max")) is limited


def test_a_failed_result_does_not_hide_another_that_was_run() -> None:
    both = [use("toolu_1", "a"), use("toolu_2", "b")]
    results = asked(given("toolu_1", "no", is_error=True), given("toolu_2"))
    following = anthropic([ASKED, spoke(*both), results], [words("x")], 1)
    [line] = lines(anthropic([ASKED], both, stop="refusal"), following, only="client-executed")

    assert "the call toolu_2 was run" in line


def test_half_an_answer_after_another_message_is_in_the_history_too() -> None:
    [line] = stored(user("well?"), said("It holds a long"), user("go on"))

    assert "#1 request /messages/2 |" in line


def test_the_message_with_the_limit_is_shown() -> None:
    history = [HELLO, *_history(2), user("And rope?"), user("This is the step limit.")]
    [line] = lines(*steps(2, word=None), chat(history, said("x"), index=2, tools=None), only="client-max")

    assert line.endswith("| #2 request /messages/6/content")
