"""Calls and their results: each answered, once, in its place, under its name."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import (
    OLLAMA,
    anthropic,
    asked,
    calls,
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
    trip,
    turn,
    use,
    words,
)  # fmt: skip
from rule_exceptions_model_api import sampled

from turntape.cassettes.tape.model import RoundTrip

FIRST = said(None, CALL)
TWO = said(None, ("c1", "look_up", '{"word":"a"}'), ("c2", "look_up", '{"word":"b"}'))
DONE = said("done")
ASKED = {"role": "user", "content": "what is a tape?"}


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([FIRST, user("go on")], "client-missing-tool-result"),
        ([TWO, result("c1", "x")], "client-missing-tool-result"),
        ([result("never", "x")], "client-orphan-tool-result"),
        ([FIRST, result("call_1", "x"), result("call_1", "x")], "client-duplicate-tool-result"),
        ([FIRST, FIRST, result("call_1", "x")], "client-duplicated-call"),
        ([FIRST, user("hurry"), result("call_1", "x")], "client-results-not-adjacent"),
        ([TWO, result("c2", "y"), result("c1", "x")], "client-results-reordered"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_history_that_does_not_fit_together_is_the_clients(history: list[dict[str, object]], expected: str) -> None:
    assert only(expected, chat([HELLO, *history], DONE)).layer == "client"


def test_a_history_that_fits_together_is_nobodys() -> None:
    history = [HELLO, TWO, result("c1", "x"), result("c2", "y"), DONE, user("and?")]

    assert ids(chat(history, DONE)) == set()


def test_two_answers_in_a_row_with_their_results_behind_both_are_taken_by_anthropic_alone() -> None:
    other = ("c2", "look_up", '{"word":"b"}')
    history = [HELLO, FIRST, said(None, other), result("call_1", "x"), result("c2", "y")]
    merged = [ASKED, spoke(use()), spoke(use("toolu_2")), asked(given(), given("toolu_2"))]

    assert "client-results-not-adjacent" in ids(chat(history, DONE))
    assert ids(anthropic(merged, [words("done")])) == set()


def test_the_apis_own_tools_need_no_result() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tape"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}

    assert ids(anthropic([ASKED, spoke(search, found), asked("and?")], [words("done")])) == set()


def test_words_before_a_result_are_in_the_way_and_words_behind_it_are_not() -> None:
    before = anthropic([ASKED, spoke(use()), asked("hurry", given())], [words("done")])
    behind = anthropic([ASKED, spoke(use()), asked(given(), "hurry")], [words("done")])

    assert "client-results-not-adjacent" in ids(before)
    assert ids(behind) == set()


def test_results_in_two_contents_are_split() -> None:
    history = [turn("user", {"text": "hi"}), turn("model", calls("a"), calls("b"))]
    split = gemini([*history, turn("user", gives("x")), turn("user", gives("y"))], [{"text": "done"}])
    whole = gemini([*history, turn("user", gives("x"), gives("y"))], [{"text": "done"}])

    assert "client-results-not-adjacent" in ids(split)
    assert ids(whole) == set()


def test_a_result_under_another_name_is_reported_from_one_that_is_missing() -> None:
    history = [turn("user", {"text": "hi"}), turn("model", calls())]

    assert ids(gemini([*history, turn("user", gives(name="find"))], [{"text": "done"}])) == {"client-result-wrong-name"}


HELD: dict[str, Any] = {"previous_response_id": "resp_0"}
OPEN = responses([{"role": "user", "content": "hi"}], [item_call("call_1"), item_call("call_2", "b")])


def test_what_the_api_holds_is_not_a_missing_call() -> None:
    done = responses([item_output("call_1"), item_output("call_2")], [], 1, **HELD)

    assert not [one for one in judged(OPEN, done) if one.id.startswith("client-")]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([item_output("call_1"), item_output("call_2"), item_output("call_9")], "client-orphan-tool-result"),
        ([item_output("call_1"), item_output("call_2"), item_output("call_2")], "client-duplicate-tool-result"),
        ([item_output("call_2"), item_output("call_1")], "client-results-reordered"),
        ([item_output("call_1")], "client-missing-tool-result"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_results_of_a_held_history_are_matched_with_what_was_emitted(
    items: list[dict[str, object]], expected: str
) -> None:
    assert expected in ids(OPEN, responses(items, [], 1, **HELD))


def test_results_of_a_previous_response_that_was_not_recorded_are_not_judged() -> None:
    assert "client-orphan-tool-result" not in ids(responses([item_output()], [], previous_response_id="resp_x"))


def test_a_call_that_the_api_itself_doubled_is_not_the_clients() -> None:
    twice = [use("toolu_1", "a"), use("toolu_1", "b")]
    following = anthropic([ASKED, spoke(*twice), asked(given(), given(text="b"))], [words("done")], 1)

    reported = judged(anthropic([ASKED], twice), following)

    assert {one.layer for one in reported} == {"api"}


@pytest.mark.parametrize(
    ("text", "history", "expected"),
    [
        ("Not the same number of function calls and responses", [FIRST, user("go")], "client-missing-tool-result"),
        (
            "Not the same number of function calls and responses",
            [FIRST, result("call_1", "x"), result("call_1", "x")],
            "client-duplicate-tool-result",
        ),
    ],
)
def test_a_sentence_that_may_mean_several_faults_means_the_one_that_is_there(
    text: str, history: list[dict[str, object]], expected: str
) -> None:
    refused = chat([HELLO, *history], status=400, error={"error": {"message": text, "type": "invalid"}})

    assert ids(refused) == {expected, "request-rejected"}


def test_a_sentence_alone_is_a_strong_hint_and_no_proof() -> None:
    text = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    refused = chat([HELLO], status=400, error={"error": {"message": text, "type": "invalid_request_error"}})

    assert only("client-missing-tool-result", refused).tier == "S"


ONE_CALL = gemini([turn("user", {"text": "hi"})], [calls()])


def replied(*history: dict[str, object]) -> RoundTrip:
    return gemini([turn("user", {"text": "hi"}), *history], [{"text": "done"}], 1)


def test_without_ids_the_same_result_again_answers_the_call_twice() -> None:
    reported = judged(ONE_CALL, replied(turn("model", calls()), turn("user", gives(), gives())))

    assert [one.id for one in reported] == ["client-duplicate-tool-result"]


def test_without_ids_another_result_too_many_has_no_call() -> None:
    reported = judged(ONE_CALL, replied(turn("model", calls()), turn("user", gives(), gives("something else"))))

    assert [one.id for one in reported] == ["client-orphan-tool-result"]


def test_without_ids_a_call_that_the_client_wrote_twice_is_not_a_missing_result() -> None:
    reported = judged(ONE_CALL, replied(turn("model", calls(), calls()), turn("user", gives())))

    assert [one.id for one in reported] == ["client-duplicated-call"]


def test_without_ids_a_call_may_come_twice_with_its_result() -> None:
    step = (turn("model", calls()), turn("user", gives()))
    reported = judged(ONE_CALL, replied(*step, *step))
    again = gemini([turn("user", {"text": "hi"}), *step], [calls()], 1)
    made_twice = ids(ONE_CALL, again, gemini([turn("user", {"text": "hi"}), *step, *step], [{"text": "done"}], 2))

    assert "client-duplicated-call" in [one.id for one in reported]
    assert "client-duplicated-call" not in made_twice


def test_two_equal_calls_of_the_model_want_two_results() -> None:
    opened = gemini([turn("user", {"text": "hi"})], [calls(), calls()])
    reported = ids(opened, replied(turn("model", calls(), calls()), turn("user", gives())))

    assert "client-missing-tool-result" in reported
    assert "client-duplicated-call" not in reported


def test_a_call_under_another_name_is_the_root_of_a_result_under_the_old_one() -> None:
    renamed = {"functionCall": {"name": "functions_look_up", "args": {"word": "tape"}}}
    reported = judged(ONE_CALL, replied(turn("model", renamed), turn("user", gives())))

    assert [(one.id, one.because_of) for one in reported] == [
        ("client-assistant-mutated", ()),
        ("client-result-wrong-name", ("client-assistant-mutated",)),
    ]


def test_a_result_without_an_id_behind_a_users_message_is_displaced_and_not_missing() -> None:
    def asks(word: str) -> dict[str, object]:
        return {"function": {"name": "look_up", "arguments": {"word": word}}}

    def gave(text: str) -> dict[str, object]:
        return {"role": "tool", "tool_name": "look_up", "content": text}

    history = [HELLO, {"role": "assistant", "content": "", "tool_calls": [asks("a"), asks("b")]}]
    body = {"model": "llama", "messages": [*history, gave("x"), user("hurry"), gave("y")], "stream": False}
    answer = {
        "model": "llama",
        "message": {"role": "assistant", "content": "done"},
        "done": True,
        "done_reason": "stop",
    }
    reported = ids(trip(OLLAMA, body, answer))

    assert "client-results-not-adjacent" in reported
    assert not reported & {"client-missing-tool-result", "client-orphan-tool-result"}


@pytest.mark.parametrize("returned", [True, False])
def test_a_rejected_block_that_the_api_itself_returned_is_the_apis_fault(returned: bool) -> None:
    ask = {"role": "user", "content": "what is a tape?"}
    block = use() if returned else use("toolu_2")
    first = anthropic([ask], [use()])
    sentence = "messages.1.content.0: `tool_use` ids must be unique"
    second = anthropic([ask, spoke(block), asked(given(block["id"]))], index=1, error=sentence)

    reported = judged(first, second)

    assert [(f.id, f.layer, f.tier) for f in reported if f.id == "client-duplicated-call"] == (
        [] if returned else [("client-duplicated-call", "client", "S")]
    )
    [rejection] = [f for f in reported if f.id == "request-rejected"]
    assert rejection.layer == ("api" if returned else "client")


UNKNOWN_ITEMS = (
    {"type": "someday", "id": "x_1", "call_id": "x_1"},
    {"type": "someday_output", "id": "x_2", "call_id": "x_1", "output": "7"},
)
RUN_BY_THE_API = (
    {"type": "program", "id": "p_1", "call_id": "prog_1", "code": "f()", "fingerprint": "fp"},
    {"type": "program_output", "id": "po_1", "call_id": "prog_1", "result": "7", "status": "completed"},
    {"type": "multi_agent_call", "call_id": "ma_1", "action": "wait_agent", "arguments": "{}"},
    {"type": "multi_agent_call_output", "call_id": "ma_1", "action": "wait_agent", "output": []},
    {"type": "mcp_call", "id": "mcp_1", "name": "ask", "server_label": "s", "arguments": "{}", "output": "yes"},
    {"type": "agent_message", "author": "a", "recipient": "b", "content": []},
)
ANSWERED = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
SEVERE = ("error", "warning")


@pytest.mark.parametrize("items", [RUN_BY_THE_API, RUN_BY_THE_API[1:2], RUN_BY_THE_API[3:4]])
def test_what_the_api_ran_itself_and_its_echo_raise_no_alarm(items: tuple[dict[str, Any], ...]) -> None:
    first = responses([{"role": "user", "content": "hi"}], [*items, ANSWERED])
    then = responses(
        [{"role": "user", "content": "hi"}, *items, ANSWERED, {"role": "user", "content": "and?"}], [ANSWERED], 1
    )

    assert [one.id for one in judged(first, then) if one.severity in SEVERE] == []


def test_items_of_unknown_types_in_an_answer_and_in_its_echo_prove_nothing() -> None:
    first = responses([{"role": "user", "content": "hi"}], [UNKNOWN_ITEMS[0], ANSWERED])
    sent = [{"role": "user", "content": "hi"}, UNKNOWN_ITEMS[0], ANSWERED, {"role": "user", "content": "and?"}]
    then = responses(sent, [UNKNOWN_ITEMS[0]], 1)

    assert [one.id for one in judged(first, then) if one.severity in SEVERE] == []


@pytest.mark.parametrize(
    "blocks",
    [
        ({"type": "someday_use", "id": "s_1"}, {"type": "someday_tool_result", "tool_use_id": "s_1", "content": []}),
        (
            {"type": "mcp_tool_use", "id": "m_1", "name": "ask", "server_name": "s", "input": {}},
            {"type": "mcp_tool_result", "tool_use_id": "m_1", "is_error": False, "content": "yes"},
        ),
    ],
)
def test_server_tools_of_anthropic_and_their_echo_raise_no_alarm(blocks: tuple[dict[str, Any], ...]) -> None:
    said = {"type": "text", "text": "Done."}
    first = anthropic([asked("hi")], [*blocks, said])
    then = anthropic([asked("hi"), spoke(*blocks, said), asked("and?")], [said], 1)

    assert [one.id for one in judged(first, then) if one.severity in SEVERE] == []


def named(*names: str) -> list[RoundTrip]:
    """Two calls at Gemini, without ids, and results under these names."""
    hi = turn("user", {"text": "hi"})
    other = {"functionCall": {"name": "find", "args": {"word": "b"}}}
    results = [gives(f"text {n}", name) for n, name in enumerate(names)]
    history = [hi, turn("model", calls("a"), other), turn("user", *results)]
    return [gemini([hi], [calls("a"), other]), gemini(history, [{"text": "done"}], 1)]


@pytest.mark.parametrize("names", [("look_up", "look_up"), ("find_it", "find"), ("x", "y"), ("look_up", "tool")])
def test_a_result_under_a_wrong_name_answers_its_call_by_position(names: tuple[str, ...]) -> None:
    reported = {one.id for one in judged(*named(*names)) if one.id.startswith("client-")}

    assert reported == {"client-result-wrong-name"}


def test_a_call_without_its_own_result_is_missing_one_whatever_the_names() -> None:
    assert "client-missing-tool-result" in ids(*named("look_up"))
    assert "client-missing-tool-result" in ids(*named("find_it"))


def test_a_result_that_comes_twice_answers_no_other_call() -> None:
    opened, following = named("look_up", "look_up")
    again = replace(following.request, content=following.request.body.replace(b"text 1", b"text 0"))

    assert "client-missing-tool-result" in ids(opened, replace(following, request=again))


@pytest.mark.parametrize("kept", [0, 1])
def test_calls_of_a_choice_that_the_client_did_not_continue_with_need_no_result(kept: int) -> None:
    answers = [said(None, (f"call_{n}", "look_up", f'{{"word":"{n}"}}')) for n in (0, 1)]
    history = [HELLO, answers[kept], result(f"call_{kept}", "x")]

    assert "client-missing-tool-result" not in ids(sampled(*answers), chat(history, DONE, index=1))
    left = [HELLO, answers[kept], user("go on")]
    assert "client-missing-tool-result" in ids(sampled(*answers), chat(left, DONE, index=1))


def test_calls_beside_a_choice_in_words_that_the_client_kept_need_no_result() -> None:
    talk = said("A tape is a strip.")

    reported = ids(sampled(talk, FIRST), chat([HELLO, talk, user("and?")], DONE, index=1))

    assert not {name for name in reported if name.startswith("client-")}


def test_a_client_that_closed_after_the_whole_answer_is_not_the_cause_of_a_missing_result() -> None:
    """Clients stop reading after the finish word."""
    first = replace(chat([HELLO], said(None, CALL)), closed_first="client")
    following = chat([HELLO, said(None, CALL), user("go on")], said("x"), index=1)

    assert only("client-missing-tool-result", first, following).message == "the next request has no result for call_1"


@pytest.mark.parametrize(
    ("kept", "cause"),
    [
        (said(None, ("call_1", "look_up", '{"word": "tape"}')), ()),
        (said(None, ("call_2", "look_up", '{"word":"reel"}')), ("client-assistant-mutated",)),
    ],
)
def test_a_result_under_a_wrong_id_does_not_follow_from_a_call_in_another_spelling(
    kept: dict[str, Any], cause: tuple[str, ...]
) -> None:
    first = chat([HELLO], said(None, ("call_1", "look_up", '{"word":"tape"}')))
    following = chat([HELLO, kept, result("call_9" if not cause else "call_1", "x")], DONE, index=1)

    assert "client-assistant-mutated" in ids(first, following)
    assert only("client-orphan-tool-result", first, following).because_of == cause


def sent(*history: dict[str, Any], **fields: Any) -> RoundTrip:
    return chat([HELLO, *history], DONE, **fields)


HI = turn("user", {"text": "hi"})
BOTH = turn("model", calls("a"), calls("b"))
FIND = {"functionCall": {"name": "find", "args": {}}}
AT_CALL = "#0 request /messages/1/tool_calls/0"


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ([sent(FIRST, user("go on"))],
         ["#0 client-missing-tool-result (client, error, P): the history has no result for the call call_1 of "
          f"'look_up' | {AT_CALL}"]),
        ([gemini([HI, turn("model", calls()), HI], [{"text": "x"}])],
         ["#0 client-missing-tool-result (client, error, P): the history has no result for the call of 'look_up' | "
          "#0 request /contents/1/parts/0"]),
        ([sent(result("never", "x"))],
         ["#0 client-orphan-tool-result (client, warning, P): the request holds a result for never, but the history "
          "holds no such call | #0 request /messages/1"]),
        ([sent({"role": "tool", "content": "x"})],
         ["#0 client-orphan-tool-result (client, warning, P): the request holds a result that names no call | "
          "#0 request /messages/1"]),
        ([responses([HELLO, item_call(), item_output("fc_call_1")], [ANSWERED])],
         ["#0 client-orphan-tool-result (client, warning, P): the request holds a result for fc_call_1, but that is "
          "the id of an item and not of a call; the call call_1 has no result | #0 request /input/2"]),
        ([chat([HELLO], FIRST), sent(FIRST, result("call_9", "x"), index=1)],
         ["#1 client-orphan-tool-result (client, warning, P): the request holds a result for call_9, but the history "
          "holds no such call; the call call_1 has no result | #1 request /messages/2"]),
        ([chat([HELLO], TWO), sent(TWO, result("call_9", "x"), index=1)],
         ["#0 client-missing-tool-result (client, error, P): the next request has no result for c1, c2: none of the "
          "calls got a result | #0 call c1, c2, #1 request",
          "#1 client-orphan-tool-result (client, warning, P): the request holds a result for call_9, but the history "
          "holds no such call | #1 request /messages/2"]),
        ([chat([HELLO], FIRST), sent(result("call_1", "x"), user("?"), index=1)],
         ["""#1 client-assistant-mutated (client, warning, P): a call of the answer is missing from the history: """
          """'{"word":"tape"}' | #0 response /choices/0/message/tool_calls/0, #1 request""",
          "#1 client-orphan-tool-result (client, warning, P): the request holds a result for call_1, but the call of "
          "#0 was removed from the history | #0 call call_1, #1 request /messages/1 | "
          "because of client-assistant-mutated"]),
        ([sent(FIRST, result("call_1", "x"), result("call_1", "x"))],
         ["#0 client-duplicate-tool-result (client, warning, P): the call call_1 has two results, the second one with "
          "the same content | #0 request /messages/2, #0 request /messages/3"]),
        ([sent(FIRST, result("call_1", "x"), result("call_1", "y"))],
         ["#0 client-duplicate-tool-result (client, warning, P): the call call_1 has two results, the second one with "
          "other content | #0 request /messages/2, #0 request /messages/3"]),
        ([sent(FIRST, FIRST, result("call_1", "x"))],
         ["#0 client-duplicated-call (client, warning, P): the call call_1 is in the history twice | "
          f"{AT_CALL}, #0 request /messages/2/tool_calls/0",
          "#0 client-results-not-adjacent (client, info, P): the result of call_1 is not right after the call | "
          f"{AT_CALL}, #0 request /messages/3"]),
        ([sent(FIRST, user("hurry"), result("call_1", "x"))],
         ["#0 client-results-not-adjacent (client, info, P): the result of call_1 is not right after the call | "
          f"{AT_CALL}, #0 request /messages/3"]),
        ([gemini([HI, BOTH, turn("user", gives("x")), turn("user", gives("y"))], [{"text": "x"}])],
         ["#0 client-results-not-adjacent (client, info, P): the results of one answer are in two messages | "
          "#0 request /contents/2, #0 request /contents/3"]),
        ([anthropic([ASKED, spoke(use()), asked("hurry", given())], [words("x")])],
         ["#0 client-results-not-adjacent (client, info, P): something comes before the result of toolu_1 in its "
          "message | #0 request /messages/2/content/1"]),
        ([sent(TWO, result("c2", "y"), result("c1", "x"))],
         ["#0 client-results-reordered (client, info, P): the results of 2 calls are in another order than the "
          "calls (c1, c2) | "
          f"{AT_CALL}"]),
        ([gemini([HI, turn("model", calls()), turn("user", gives(name="find"))], [{"text": "x"}])],
         ["#0 client-result-wrong-name (client, warning, P): the result of 'look_up' names 'find' | "
          "#0 request /contents/1/parts/0, #0 request /contents/2/parts/0"]),
        ([ONE_CALL, replied(turn("model", calls()), turn("user", gives(), gives()))],
         ["#1 client-duplicate-tool-result (client, warning, P): the call look_up has two results, the second one with "
          "the same content | #1 request /contents/2/parts/0, #1 request /contents/2/parts/1"]),
        ([ONE_CALL, replied(turn("model", calls(), calls()), turn("user", gives()))],
         ["#1 client-duplicated-call (client, warning, P): the call of look_up is in the history twice; the model made "
          "it once | #1 request /contents/1/parts/1"]),
        ([chat([HELLO], TWO), sent(TWO, result("c1", "x"), user("?"), index=1)],
         ["#0 client-missing-tool-result (client, error, P): the next request has no result for c2: 1 other call of "
          "the answer got a result | #0 call c2, #1 request"]),
        ([chat([HELLO], TWO), sent(TWO, user("?"), index=1)],
         ["#0 client-missing-tool-result (client, error, P): the next request has no result for c1, c2: none of the "
          "calls got a result | #0 call c1, c2, #1 request"]),
        ([chat([HELLO], FIRST), sent(FIRST, user("?"), index=1)],
         ["#0 client-missing-tool-result (client, error, P): the next request has no result for call_1 | "
          "#0 call call_1, #1 request"]),
        ([ONE_CALL, replied(turn("model", calls()), HI)],
         ["#0 client-missing-tool-result (client, error, P): the next request has no result for look_up | "
          "#0 call look_up, #1 request"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_shown_with_its_places(run: list[RoundTrip], expected: list[str]) -> None:
    assert lines(*run, only="client-") == expected


def rejected(*history: dict[str, Any], text: str, index: int = 0) -> RoundTrip:
    error = {"error": {"message": text, "type": "invalid_request_error"}}
    return chat([HELLO, *history], status=400, error=error, index=index)


UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
)


def test_the_words_of_the_api_confirm_what_the_request_shows_and_are_enough_otherwise() -> None:
    assert lines(rejected(FIRST, user("go"), text=UNANSWERED), only="client-") == [
        "#0 client-missing-tool-result (client, error, P): the history has no result for the call call_1 of 'look_up'; "
        f"the API says: {UNANSWERED} | {AT_CALL}"
    ]
    assert lines(rejected(text=UNANSWERED), only="client-") == [
        f"#0 client-missing-tool-result (client, error, S): the API rejects the request: {UNANSWERED} | "
        "#0 request, #0 status 400"
    ]
    again = rejected(text=UNANSWERED), rejected(user("?"), text=UNANSWERED, index=1)
    assert [line[:2] for line in lines(*again, only="client-missing")] == ["#0", "#1"]


def test_calls_that_were_dropped_or_renamed_are_not_missing_as_well() -> None:
    opened = chat([HELLO], TWO)
    kept = said(None, ("c1", "look_up", '{"word":"a"}'))
    renamed = said(None, ("c1", "look_up", '{"word":"a"}'), ("c9", "look_up", '{"word":"b"}'))

    assert "client-missing-tool-result" not in ids(opened, sent(kept, result("c1", "x"), index=1))
    back = sent(renamed, result("c1", "x"), user("?"), index=1)
    assert [one.at for one in judged(opened, back) if one.id == "client-missing-tool-result"] == [1]


def test_calls_that_a_cut_history_lost_are_missing() -> None:
    hurt = [HELLO, FIRST, result("call_1", "a strip"), TWO]
    opened = chat(hurt[:3], TWO)

    one = only("client-missing-tool-result", opened, chat([HELLO, TWO, user("?")], DONE, index=1))
    assert (one.at, one.message) == (0, "the next request has no result for c1, c2: none of the calls got a result")


def test_results_without_ids_in_another_order_are_a_warning_where_the_order_decides() -> None:
    mixed = [HI, turn("model", calls("a"), FIND), turn("user", gives("y", "find"), gives("x"))]

    assert [one.severity for one in judged(gemini(mixed, [{"text": "x"}])) if one.id == "client-results-reordered"] == [
        "info"
    ]


def test_a_result_under_the_id_of_its_call_as_name_says_so() -> None:
    call = {"functionCall": {"id": "c1", "name": "look_up", "args": {}}}
    back = {"functionResponse": {"id": "c1", "name": "c1", "response": {"output": "x"}}}
    one = only("client-result-wrong-name", gemini([HI, turn("model", call), turn("user", back)], [{"text": "x"}]))

    assert one.message == "the result of 'look_up' names 'c1', the id of the call"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("No tool output found for function call call_7.",
         "client-missing-tool-result (client, error, S): the API rejects the request (call_7): "),
        ("No tool call found for function call output with call_id call_7.",
         "client-orphan-tool-result (client, error, S): the API rejects the request (call_7): "),
    ],
)  # fmt: skip
def test_what_only_the_api_says_names_what_it_named(text: str, message: str) -> None:
    refused = responses([HELLO], None, error={"message": text, "type": "invalid_request_error"})

    assert lines(refused, only="client-") == [f"#0 {message}{text} | #0 request, #0 status 400"]


def test_a_place_that_the_api_names_is_the_evidence() -> None:
    text = (
        "messages.0: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. "
        "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )
    [line] = lines(anthropic([ASKED], error=text), only="client-")

    assert line.startswith("#0 client-missing-tool-result (client, error, S): the API rejects the request (toolu_1): ")
    assert line.endswith("| #0 request /messages/0, #0 status 400")


def test_only_the_call_that_the_client_put_in_follows_from_that() -> None:
    opened = chat([HELLO], FIRST)
    forged = said("Careful.", CALL, ("call_9", "look_up", '{"word":"reel"}'))

    reported = judged(opened, sent(forged, user("?"), index=1))

    missing = [(one.at, one.because_of) for one in reported if one.id == "client-missing-tool-result"]
    assert missing == [(0, ()), (1, ("client-forged-answer",))]


def test_a_call_that_was_copied_is_reported_once_and_never_as_missing() -> None:
    history = [HI, turn("model", calls(), calls()), turn("user", gives())]
    talk = {"text": "It is a strip that holds a recording of what a person says to it."}
    longer = [*history, turn("model", talk), turn("user", {"text": "and?"})]

    reported = judged(ONE_CALL, gemini(history, [talk], 1), gemini(longer, [{"text": "x"}], 2))

    assert [(one.at, one.id) for one in reported if one.severity != "info"] == [(1, "client-duplicated-call")]


GIVEN = (CALL[1], CALL[2])
"""The name and the arguments of the call, without its id."""


@pytest.mark.parametrize(
    "run",
    [
        (
            chat([HELLO], FIRST),
            chat(
                [HELLO, said(None, CALL, ("new_1", *GIVEN)), result("call_1", "x"), result("new_1", "x")], DONE, index=1
            ),
        ),
        (
            anthropic([ASKED], [use()]),
            anthropic([ASKED, spoke(use(), use("toolu_9")), asked(given(), given("toolu_9"))], [words("x")], 1),
        ),
        (
            responses([ASKED], [item_call()]),
            responses([ASKED, item_call(), item_call("call_9"), item_output(), item_output("call_9")], [], 1),
        ),
    ],
    ids=["openai-chat", "anthropic-messages", "openai-responses"],
)
def test_a_copy_of_a_call_under_a_new_id_is_the_clients(run: tuple[RoundTrip, RoundTrip]) -> None:
    found = [one for one in judged(*run) if one.layer == "client" and one.severity != "info"]

    assert [(one.at, one.id) for one in found] == [(1, "client-duplicated-call")]
    assert "the model made it once" in found[0].message


def test_a_copy_beside_a_call_of_an_earlier_answer_is_found_too() -> None:
    second = said(None, ("c2", "look_up", '{"word":"reel"}'))
    old = [HELLO, FIRST, result("call_1", "x")]
    twice = [HELLO, said(None, CALL, ("new_1", *GIVEN)), result("call_1", "x"), result("new_1", "x")]

    run = chat([HELLO], FIRST), chat(old, second, index=1), chat([*twice, second, result("c2", "y")], DONE, index=2)

    assert [(one.at, one.id) for one in judged(*run) if one.severity != "info"] == [(2, "client-duplicated-call")]


@pytest.mark.parametrize(
    ("answer", "history"),
    [
        # The model itself made it twice, and the client gives its calls new ids.
        (
            said(None, CALL, ("call_2", *GIVEN)),
            [said(None, ("a", *GIVEN), ("b", *GIVEN)), result("a", "x"), result("b", "x")],
        ),
        # The same call is made again after its result: the turn between was not recorded.
        (FIRST, [FIRST, result("call_1", "x"), said(None, ("call_7", *GIVEN)), result("call_7", "x")]),
    ],
    ids=["made twice", "made again"],
)
def test_calls_that_are_alike_are_not_taken_for_copies(answer: dict[str, Any], history: list[dict[str, Any]]) -> None:
    assert "client-duplicated-call" not in ids(chat([HELLO], answer), chat([HELLO, *history], DONE, index=1))


def test_every_pair_of_results_is_looked_at() -> None:
    two = [FIRST, result("call_1", "x"), result("call_1", "x"), said(None, ("c2", "look_up", "{}"))]
    run = sent(*two, result("c2", "y"), result("c2", "z"))

    assert [one.message for one in judged(run) if one.id == "client-duplicate-tool-result"] == [
        "the call call_1 has two results, the second one with the same content",
        "the call c2 has two results, the second one with other content",
    ]


def test_faults_that_stay_in_the_history_are_reported_once() -> None:
    history = [FIRST, user("hurry"), result("call_1", "x"), result("c7", "y")]
    first = chat([HELLO, *history], DONE)
    again = chat([HELLO, *history, DONE, user("and?")], said("x"), index=1)

    assert [(one.at, one.id) for one in judged(first, again) if one.id.startswith("client-")] == [
        (0, "client-orphan-tool-result"),
        (0, "client-results-not-adjacent"),
    ]


NUMBER = "Not the same number of function calls and responses"
PARTS = "The number of function response parts is equal to the number of function call parts"
SAYS = {
    "client-missing-tool-result": UNANSWERED,
    "client-orphan-tool-result": "messages with role 'tool' must be a response to a preceding message with "
    "'tool_calls'.",
    "client-duplicate-tool-result": "each tool_use must have a single result",
    "client-duplicated-call": "duplicate item found with id",
    "client-results-not-adjacent": "Conversation blocks and tool result blocks cannot be provided in the same turn",
}
HISTORIES: dict[str, list[dict[str, Any]]] = {
    "client-missing-tool-result": [FIRST, user("go on")],
    "client-orphan-tool-result": [result("never", "x")],
    "client-duplicate-tool-result": [FIRST, result("call_1", "x"), result("call_1", "x")],
    "client-duplicated-call": [said(None, CALL, CALL), result("call_1", "x")],
    "client-results-not-adjacent": [FIRST, user("hurry"), result("call_1", "x")],
}


def faults(*trips: RoundTrip) -> list[tuple[int, str, str]]:
    """The number, the class and the certainty of each fault that was found in the pairs of a run."""
    return [(one.at, one.id, one.tier) for one in judged(*trips) if one.id in SAYS]


@pytest.mark.parametrize("name", SAYS)
def test_the_apis_sentence_is_added_to_the_fault_or_reported_alone(name: str) -> None:
    shown = only(name, rejected(*HISTORIES[name], text=SAYS[name]))
    assert (shown.tier, shown.message.partition("; the API says: ")[2]) == ("P", SAYS[name])

    alone = rejected(text=SAYS[name])
    assert lines(alone, only="client-") == [
        f"#0 {name} (client, error, S): the API rejects the request: {SAYS[name]} | #0 request, #0 status 400"
    ]

    other = rejected(*HISTORIES[name], text="No.")
    assert "the API says" not in only(name, other).message


@pytest.mark.parametrize("name", SAYS)
def test_a_fault_of_an_earlier_request_is_not_reported_again_when_the_api_rejects_it(name: str) -> None:
    """Nor is the API's sentence, which is about the same fault."""
    history = HISTORIES[name]
    trips = [chat([HELLO, *history], said("The first answer to it."))]
    history = [*history, said("The first answer to it."), user("and?")]
    trips.append(chat([HELLO, *history], said("The second answer to it."), index=1))
    history = [*history, said("The second answer to it."), user("more?")]
    trips.append(rejected(*history, text=SAYS[name], index=2))

    assert [at for at, found, _ in faults(*trips) if found == name] == [0]


def test_a_sentence_whose_numbers_change_is_reported_once() -> None:
    trips = [rejected(user("?"), text=f"{n}: {UNANSWERED}", index=n) for n in range(4)]

    assert faults(*trips) == [(0, "client-missing-tool-result", "S")]


def test_a_sentence_after_another_rejection_is_reported() -> None:
    orphan, missing = SAYS["client-orphan-tool-result"], SAYS["client-missing-tool-result"]
    trips = [rejected(user("?"), text=text, index=n) for n, text in enumerate((orphan, "No.", missing))]

    assert faults(*trips) == [(0, "client-orphan-tool-result", "S"), (2, "client-missing-tool-result", "S")]


SPLIT = [HI, BOTH, turn("user", gives("x")), turn("user", gives("y"))]
ASIDE = [ASKED, spoke(use()), asked("hurry", given())]


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (rejected(text=NUMBER), ["client-missing-tool-result S"]),
        (rejected(text=PARTS), ["client-missing-tool-result S"]),
        (rejected(*HISTORIES["client-missing-tool-result"], text=NUMBER), ["client-missing-tool-result P"]),
        (rejected(*HISTORIES["client-missing-tool-result"], text=PARTS), ["client-missing-tool-result P"]),
        (rejected(*HISTORIES["client-orphan-tool-result"], text=NUMBER), ["client-orphan-tool-result P"]),
        (rejected(*HISTORIES["client-duplicate-tool-result"], text=NUMBER), ["client-duplicate-tool-result P"]),
        (rejected(*HISTORIES["client-results-not-adjacent"], text=PARTS), ["client-results-not-adjacent P"]),
        (replace(gemini(SPLIT, []), response=rejected(text=PARTS).response), ["client-results-not-adjacent P"]),
        (anthropic(ASIDE, error=PARTS), ["client-results-not-adjacent P"]),
    ],
)  # fmt: skip
def test_a_sentence_about_several_faults_is_about_the_one_that_the_history_shows(
    one: RoundTrip, expected: list[str]
) -> None:
    assert [f"{name} {tier}" for _, name, tier in faults(one)] == expected


def refused_by_gemini(*contents: dict[str, Any]) -> RoundTrip:
    error = {"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}}
    answered = gemini([HI, *contents], [])
    return replace(answered, response=chat([HELLO], status=400, error=error).response)


def with_id(call_id: str, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A call of Gemini that has an id, and its result."""
    call = {"id": call_id, "name": name, "args": {}}
    return {"functionCall": call}, {"functionResponse": {"id": call_id, "name": name, "response": {"output": "x"}}}


def test_another_order_decides_only_where_no_call_has_an_id() -> None:
    tape, found = with_id("c1", "look_up"), with_id("c2", "find")
    idless = refused_by_gemini(turn("model", calls(), FIND), turn("user", gives("y", "find"), gives("x")))
    ids_on_all = refused_by_gemini(turn("model", tape[0], found[0]), turn("user", found[1], tape[1]))
    ids_on_one = refused_by_gemini(turn("model", calls(), found[0]), turn("user", found[1], gives("x")))

    said = [only("client-results-reordered", one).severity for one in (idless, ids_on_all, ids_on_one)]
    assert said == ["warning", "info", "info"]


def test_what_the_api_gave_one_id_does_not_hide_the_faults_behind_it() -> None:
    twins = said(None, ("c1", "look_up", "{}"), ("c1", "look_up", '{"word":"a"}'))
    second = said(None, ("c2", "look_up", "{}"))
    behind = [second, second, result("c2", "x"), said(None, ("c3", "look_up", "{}")), result("c3", "x")]
    history = [HELLO, twins, result("c1", "x"), result("c1", "y"), *behind, result("c3", "y")]

    reported = [one for one in judged(chat([HELLO], twins), chat(history, DONE, index=1)) if one.at == 1]

    assert [one.message for one in reported if one.id.startswith("client-duplicate")] == [
        "the call c3 has two results, the second one with other content",
        "the call c2 is in the history twice",
    ]


KEPT = "It is a strip that holds what somebody said."


@pytest.mark.parametrize("history", [*HISTORIES.values(), [TWO, result("c2", "y"), result("c1", "x")]])
def test_a_fault_that_moves_with_its_history_is_reported_once(history: list[dict[str, Any]]) -> None:
    first = chat([HELLO, *history], said(KEPT))
    brief = {"role": "system", "content": "Be brief."}
    again = chat([brief, HELLO, *history, said(KEPT), user("and?")], DONE, index=1)

    reported = [one for one in judged(first, again) if one.id in (*SAYS, "client-results-reordered")]
    assert {one.at for one in reported} == {0}


def test_a_result_that_names_no_call_is_reported_once() -> None:
    history = [HELLO, {"role": "tool", "content": "x"}]
    again = chat([*history, said(KEPT), user("and?")], DONE, index=1)

    assert faults(chat(history, said(KEPT)), again) == [(0, "client-orphan-tool-result", "P")]


@pytest.mark.parametrize(
    "contents",
    [[BOTH, turn("user", gives("x")), turn("user", gives("y"))],
     [turn("model", calls()), turn("user", gives(name="find"))],
     [BOTH, turn("user", gives("x"), gives("x"), gives("x"))],
     [turn("model", calls("a"), FIND), turn("user", gives("y", "find"), gives("x"))]],
)  # fmt: skip
def test_a_fault_without_ids_is_reported_once(contents: list[dict[str, Any]]) -> None:
    first = gemini([HI, *contents], [{"text": KEPT}])
    again = gemini([HI, *contents, turn("model", {"text": KEPT}), HI], [{"text": "x"}], 1)

    assert {one.at for one in judged(first, again) if one.id.startswith("client-")} == {0}


def test_words_before_a_result_are_reported_once() -> None:
    first = anthropic(ASIDE, [words(KEPT)])
    again = anthropic([*ASIDE, spoke(words(KEPT)), asked("and?")], [words("x")], 1)

    assert faults(first, again) == [(0, "client-results-not-adjacent", "P")]


def test_a_call_that_got_an_id_from_the_client_is_not_missing_a_second_time() -> None:
    own = {"functionCall": {"id": "mine", "name": "look_up", "args": {"word": "tape"}}}

    assert faults(ONE_CALL, replied(turn("model", own), HI)) == [(0, "client-missing-tool-result", "P")]
    other = faults(gemini([HI], [FIND]), replied(turn("model", FIND, own), HI))
    assert other == [(0, "client-missing-tool-result", "P"), (1, "client-missing-tool-result", "P")]


def test_a_result_under_its_own_id_is_not_one_under_the_id_of_an_item() -> None:
    one = responses([HELLO, {**item_output("call_9"), "id": "call_9"}], [ANSWERED])

    assert only("client-orphan-tool-result", one).message.endswith(", but the history holds no such call")


def test_words_between_two_results_of_one_message_come_before_the_second() -> None:
    calls_ = spoke(use("toolu_1"), use("toolu_2", "band"))

    def reported(*blocks: Any) -> list[str]:
        second = anthropic([ASKED, calls_, asked(*blocks)], [words("done")], 1)
        found = lines(anthropic([ASKED], calls_["content"]), second, only="client-results-not-adjacent")
        return [line.partition("P): ")[2] for line in found]

    one, two, note = given("toolu_1", "a strip"), given("toolu_2", "a band"), words("Be brief.")
    assert reported(one, note, two) == [
        "something comes before the result of toolu_2 in its message | #1 request /messages/2/content/2"
    ]
    assert reported(note, one, two)[0].startswith("something comes before the result of toolu_1")
    assert reported(one, two, note) == reported(one, two) == []


def test_a_result_of_a_call_that_the_api_holds_names_another_tool() -> None:
    url = "https://generativelanguage.googleapis.com/v1beta/interactions"
    call = {"type": "function_call", "id": "f1", "name": "look_up", "arguments": {"word": "tape"}}
    tools = [{"type": "function", "name": "look_up", "parameters": {"type": "object"}}]
    first = trip(
        url, {"model": "m", "input": "hi", "tools": tools}, {"id": "v1", "status": "requires_action", "steps": [call]}
    )

    def reported(name: str) -> list[str]:
        given_ = {"type": "function_result", "call_id": "f1", "name": name, "result": {"is": "a strip"}}
        body = {"model": "m", "input": [given_], "tools": tools, "previous_interaction_id": "v1"}
        steps = [{"type": "model_output", "content": [{"type": "text", "text": "A strip."}]}]
        second = trip(url, body, {"id": "v2", "status": "completed", "steps": steps}, 1)
        return [line.partition("P): ")[2] for line in lines(first, second, only="client-result-wrong-name")]

    assert reported("look_up") == []
    assert [line.partition(" | ")[0] for line in reported("find")] == ["the result of 'look_up' names 'find'"]


@pytest.mark.parametrize(
    "trips",
    [
        [chat([HELLO], FIRST), chat([HELLO, FIRST, result("call_1", "x") | {"tool_call_id": None}], DONE, index=1)],
        [chat([HELLO], FIRST), chat([HELLO, FIRST, {"role": "tool", "content": "a strip"}], DONE, index=1)],
        [chat([HELLO], FIRST), chat([HELLO, said(None, ("", *CALL[1:])), result("", "a strip")], DONE, index=1)],
        [anthropic([asked("hi")], [use()]),
         anthropic([asked("hi"), spoke(use()), asked(given() | {"tool_use_id": ""})], [words("x")], 1)],
        [responses([{"role": "user", "content": "hi"}], [item_call()]),
         responses([item_output() | {"call_id": None}], [], 1, previous_response_id="resp_0")],
    ],
    ids=["null", "absent", "both empty", "anthropic", "held"],
)  # fmt: skip
def test_an_id_that_is_missing(trips: list[RoundTrip]) -> None:
    [line] = lines(*trips, only="client-id-missing")

    assert line.startswith("#1 client-id-missing (client, warning, P): ")


def test_the_results_of_a_conversation_that_the_api_keeps() -> None:
    """Each request names the conversation, and none the answer that it continues."""
    kept: dict[str, Any] = {"conversation": {"id": "conv_1"}}
    hi, other = {"role": "user", "content": "hi"}, item_output() | {"call_id": "call_9"}
    first = responses([hi], [item_call()], **kept)

    assert "client-missing-tool-result" in ids(first, responses([hi], [], 1, **kept))
    assert "client-orphan-tool-result" in ids(first, responses([other], [], 1, **kept))
    assert not any(name.startswith("client-") for name in ids(first, responses([item_output()], [], 1, **kept)))


def test_a_request_goes_back_to_an_answer_whose_calls_it_leaves_open() -> None:
    hi = {"role": "user", "content": "hi"}
    stale: dict[str, Any] = {"previous_response_id": "resp_0"}
    first = responses([hi], [item_call()])
    second = responses([item_output()], [], 1, **stale)

    assert "client-missing-tool-result" in ids(first, second, responses([hi], [], 2, **stale))
    assert "client-missing-tool-result" not in ids(first, second, responses([item_output()], [], 2, **stale))


def test_a_result_under_a_wrong_id_that_the_api_rejects_is_a_missing_result_too() -> None:
    error = {"error": {"message": "No tool output found for function call call_1.", "type": "invalid_request_error"}}
    wrong = [HELLO, said(None, CALL), result("call_9", "x")]

    refused = ids(chat([HELLO], said(None, CALL)), chat(wrong, said(""), index=1, status=400, error=error))
    assert {"client-missing-tool-result", "client-orphan-tool-result"} <= refused
