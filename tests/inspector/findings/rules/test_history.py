"""What came back to the API, against what had been sent and got."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from dialogues import APIS, Piece, asks, run, says
from dialogues import calls as looks_up
from dialogues import gives as finds
from judged import (
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
from round_trips import CHAT

ASKED = {"role": "user", "content": "what is a tape?"}
FIRST = said("Let me look.", CALL)
OPENED = chat([HELLO], FIRST)
GIVEN = result("call_1", "a strip")
DONE = said("done")


def continues(*history: dict[str, Any], **fields: Any) -> Any:
    return chat([HELLO, *history], DONE, index=1, **fields)


@pytest.mark.parametrize(
    ("echoed", "severity"),
    [
        (said("Let me look.", ("call_1", "look_up", '{"word":"rope"}')), "warning"),
        (said("Let me look.", ("call_1", "find", '{"word":"tape"}')), "warning"),
        (said("I look.", CALL), "warning"),
        (said(None, CALL), "info"),
        (said("Let me look.", ("call_1", "look_up", '{ "word": "tape" }')), "info"),
    ],
)
def test_an_answer_that_came_back_otherwise_was_changed_by_the_client(echoed: dict[str, Any], severity: str) -> None:
    one = only("client-assistant-mutated", OPENED, continues(echoed, GIVEN))

    assert (one.at, one.layer, one.severity) == (1, "client", severity)


@pytest.mark.parametrize(
    "echoed",
    [FIRST, {**FIRST, "content": [{"type": "text", "text": "Let me look."}]}, {**FIRST, "content": "Let me look.\n"}],
    ids=["verbatim", "another shape", "white space"],
)
def test_another_shape_of_the_same_answer_is_not_a_change(echoed: dict[str, Any]) -> None:
    assert ids(OPENED, continues(echoed, GIVEN)) == set()


def test_an_answer_that_was_cut_may_be_fixed() -> None:
    cut = chat([HELLO], said("It holds a", ("call_1", "look_up", '{"wo')), finish="length")

    assert "client-assistant-mutated" not in ids(cut, continues(said("It holds a"), user("go on")))


THINKING = {"type": "thinking", "thinking": "I should look it up.", "signature": "c2lnbmVk" * 8}
THOUGHT = anthropic([ASKED], [THINKING, use()])


def test_thinking_of_a_tool_turn_must_come_back() -> None:
    dropped = anthropic([ASKED, spoke(use()), asked(given())], [words("done")], 1)

    assert only("client-reasoning-dropped", THOUGHT, dropped).layer == "client"


def test_thinking_of_a_turn_without_calls_may_go() -> None:
    talk = anthropic([ASKED], [THINKING, words("a strip")])

    assert ids(talk, anthropic([ASKED, spoke(words("a strip")), asked("and?")], [words("done")], 1)) == set()


@pytest.mark.parametrize("changes", [{"thinking": "I should."}, {"signature": "Zm9yZ2Vk" * 8}])
def test_thinking_that_came_back_otherwise_was_altered(changes: dict[str, str]) -> None:
    altered = anthropic([ASKED, spoke(THINKING | changes, use()), asked(given())], [words("done")], 1)

    assert only("client-reasoning-altered", THOUGHT, altered).layer == "client"


def test_a_signature_in_another_alphabet_is_the_same() -> None:
    part = calls(thoughtSignature="ab+/" * 8)
    echoed = calls(thoughtSignature="ab-_" * 8)
    first = gemini([turn("user", {"text": "hi"})], [part])
    history = [turn("user", {"text": "hi"}), turn("model", echoed), turn("user", gives())]

    assert ids(first, gemini(history, [{"text": "done"}], 1)) == set()


def sealed(content: str) -> dict[str, Any]:
    return {"id": "rs_1", "type": "reasoning", "encrypted_content": content, "summary": []}


def test_an_item_under_its_id_with_another_content_was_altered() -> None:
    opened = responses([{"role": "user", "content": "hi"}], [sealed("abc" * 30), item_call()])

    def following(item: dict[str, Any]) -> Any:
        return responses([{"role": "user", "content": "hi"}, item, item_call(), item_output()], [], 1)

    assert "client-reasoning-altered" in ids(opened, following(sealed("xyz" * 30)))
    assert "client-reasoning-altered" not in ids(opened, following(sealed("abc" * 30)))
    assert "client-reasoning-altered" not in ids(opened, following({"id": "rs_1", "type": "item_reference"}))


LONG = [HELLO, FIRST, GIVEN, said("It is a strip.", ("c2", "look_up", '{"word":"strip"}')), result("c2", "a band")]
LATER = chat(LONG, said("So it is a band.", ("c3", "look_up", '{"word":"band"}')), index=0)
END = [said("So it is a band.", ("c3", "look_up", '{"word":"band"}')), result("c3", "a ring")]


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([HELLO, *LONG[3:], *END], "client-history-truncated"),
        ([HELLO, *LONG[3:], *LONG[1:3], *END], "client-history-reordered"),
        ([*LONG[:2], result("call_1", "[cleared]"), *LONG[3:], *END], "client-tool-result-rewritten"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_rewritten_history_is_the_clients(history: list[dict[str, Any]], expected: str) -> None:
    assert expected in ids(LATER, chat(history, DONE, index=1))


def test_a_result_without_an_id_is_known_by_its_place_and_name() -> None:
    first = [turn("user", {"text": "hi"}), turn("model", calls("a")), turn("user", gives("a long strip of plastic"))]
    second = [first[0], first[1], turn("user", gives("[cleared]")), turn("model", calls("b")), turn("user", gives("x"))]

    reported = ids(gemini(first, [calls("b")]), gemini(second, [{"text": "done"}], 1))

    assert "client-tool-result-rewritten" in reported
    assert "client-history-truncated" not in reported


def test_a_signature_belongs_to_its_call() -> None:
    hi, text = turn("user", {"text": "hi"}), {"text": "Let me look."}
    first = gemini([hi], [text, calls(thoughtSignature="abcd" * 8)])

    def following(*parts: dict[str, Any]) -> Any:
        return gemini([hi, turn("model", *parts), turn("user", gives())], [{"text": "done"}], 1)

    kept = following(text, calls(thoughtSignature="abcd" * 8))
    moved = following({**text, "thoughtSignature": "abcd" * 8}, calls())
    assert ids(first, kept) == set()
    assert only("client-reasoning-altered", first, moved).layer == "client"


@pytest.mark.parametrize(
    ("came_back", "found"),
    [
        (("abcd" * 8, None), None),
        ((None, "abcd" * 8), "client-reasoning-altered"),
        (("abcd" * 6, None), "client-reasoning-altered"),
        (("skip_thought_signature_validator", None), "client-reasoning-dropped"),
        ((None, None), "client-reasoning-dropped"),
    ],
    ids=["unchanged", "on the other call", "cut short", "a word in its place", "left out"],
)
def test_a_signature_comes_back_whole_and_on_its_own_call(
    came_back: tuple[str | None, str | None], found: str | None
) -> None:
    hi = turn("user", {"text": "hi"})
    names = ("look", "seek")
    first = gemini([hi], [calls(names[0], thoughtSignature="abcd" * 8), calls(names[1])])
    sent = [
        calls(name, **({"thoughtSignature": one} if one else {})) for name, one in zip(names, came_back, strict=True)
    ]
    given = turn("user", gives("x"), gives("y"))
    second = gemini([hi, turn("model", *sent), given], [{"text": "done"}], 1)

    assert {one for one in ids(first, second) if "reasoning" in one} == ({found} if found else set())


def test_a_result_that_reads_like_an_earlier_one_does_not_make_the_answer_look_moved() -> None:
    nudge = user("Go on with the tool or answer.")
    one, two = said(None, ("call_1", "look_up", '{"word":"a"}')), said(None, ("call_2", "look_up", '{"word":"b"}'))
    blocked = "Blocked by a hook."
    sent = [HELLO, one, result("call_1", blocked), nudge]
    later = [HELLO, one, result("call_1", "[cleared]"), nudge, two, result("call_2", blocked), nudge]

    reported = ids(chat(sent, two), chat(later, DONE, index=1))

    assert "client-tool-result-rewritten" in reported
    assert "client-history-reordered" not in reported


def test_a_result_that_goes_while_its_call_stays_is_missing_and_no_cut_history() -> None:
    second = said("And this.", ("call_2", "look_up", '{"word":"b"}'))
    sent = [HELLO, FIRST, GIVEN]
    reported = ids(
        OPENED,
        chat(sent, second, index=1),
        chat([HELLO, FIRST, second, result("call_2", "x")], DONE, index=2),
    )

    assert "client-missing-tool-result" in reported
    assert "client-history-truncated" not in reported


def test_an_api_that_is_down_does_not_make_reasoning_that_stayed_away_a_fault() -> None:
    thought = {**FIRST, "reasoning_content": "I should look."}
    opened = chat([HELLO], thought)

    def ends(status: int) -> Any:
        error = {"error": {"message": "Service unavailable", "type": "x"}}
        return chat([HELLO, FIRST, GIVEN], index=1, status=status, error=error)

    assert {one.id for one in judged(opened, ends(503)) if one.severity != "info"} == {"api-overloaded"}
    assert {one.id for one in judged(opened, ends(400)) if one.severity != "info"} == {"request-rejected"}
    assert only("request-rejected", opened, ends(400)).because_of == ()


MUTATED = "client-assistant-mutated"
TALK = said("It is a strip.")
LOOP = [OPENED, chat([HELLO, FIRST, GIVEN], said("A strip of what?", ("c2", "look_up", '{"word":"b"}')), index=1)]
BAND = [said("A strip of what?", ("c2", "look_up", '{"word":"b"}')), result("c2", "a band")]


def mutated(*trips: Any) -> list[str]:
    return lines(*trips, only=MUTATED)


@pytest.mark.parametrize(
    ("echoed", "severity", "message", "places"),
    [
        (said("Let me look.", ("call_1", "look_up", '{"word":"rope"}')), "warning",
         """the arguments of a call changed: '{"word":"tape"}' became '{"word":"rope"}'""",
         "#0 response /choices/0/message/tool_calls/0, #1 request /messages/1/tool_calls/0"),
        (said("Let me look.", ("call_1", "find", '{"word":"tape"}')), "warning",
         "the name of a call changed: 'look_up' became 'find'",
         "#0 response /choices/0/message/tool_calls/0, #1 request /messages/1/tool_calls/0"),
        (said("I look.", CALL), "warning", "the text of an answer changed: 'Let me look.' became 'I look.'",
         "#0 response /choices/0/message/content, #1 request /messages/1/content"),
        (said("Let me look."), "warning",
         """a call of the answer is missing from the history: '{"word":"tape"}'""",
         "#0 response /choices/0/message/tool_calls/0, #1 request"),
        (said(None, CALL), "info", "the text of the answer is missing from the history: 'Let me look.'",
         "#0 response /choices/0/message/content, #1 request"),
        (said("Let me look.", ("call_1", "look_up", '{ "word": "tape" }')), "info",
         "the arguments of a call are the same JSON in another spelling",
         "#0 response /choices/0/message/tool_calls/0, #1 request /messages/1/tool_calls/0"),
    ],
)  # fmt: skip
def test_each_change_of_an_answer_is_shown_with_both_places(
    echoed: dict[str, Any], severity: str, message: str, places: str
) -> None:
    back = [GIVEN] if "tool_calls" in echoed else [user("go on")]

    assert mutated(OPENED, continues(echoed, *back)) == [f"#1 {MUTATED} (client, {severity}, P): {message} | {places}"]


def test_a_change_is_quoted_from_shortly_before_it() -> None:
    was, became = "a" * 20 + "b" * 60, "a" * 20 + "c" * 60
    [line] = mutated(chat([HELLO], said(was)), chat([HELLO, said(became), user("?")], DONE, index=1))

    assert f"changed: '…{'a' * 12}{'b' * 40}…' became '…{'a' * 12}{'c' * 40}…' | " in line
    [line] = mutated(chat([HELLO], said("x" * 80)), chat([HELLO, said("x" * 79), user("?")], DONE, index=1))
    assert f"changed: '…{'x' * 13}' became '…{'x' * 12}' | " in line


def test_lost_calls_of_one_answer_are_one_finding() -> None:
    many = [(f"c{n}", "look_up", f'{{"word":"{n}"}}') for n in range(5)]
    opened = chat([HELLO], said(None, *many))

    calls_at = [f"#0 response /choices/0/message/tool_calls/{n}" for n in (1, 2, 3)]

    assert mutated(opened, continues(said(None, many[0]), result("c0", "x"))) == [
        f"#1 {MUTATED} (client, warning, P): 4 calls of the answer are missing from the history, the first: "
        f"""'{{"word":"1"}}' | {", ".join(calls_at)}, #1 request"""
    ]


def test_a_past_answer_that_was_rewritten_is_found_where_it_was_sent() -> None:
    def third(first: dict[str, Any], *more: dict[str, Any]) -> list[str]:
        return mutated(*LOOP, chat([HELLO, first, GIVEN, *more, *BAND], DONE, index=2))

    assert third(said("Nothing to see.", CALL)) == [
        f"#2 {MUTATED} (client, warning, P): the text of an answer changed: 'Let me look.' became 'Nothing to see.' | "
        "#1 request /messages/1/content, #2 request /messages/1/content"
    ]
    [line] = third(said("Let me look.", ("call_1", "look_up", '{"word":"rope"}')))
    assert "| #1 request /messages/1/tool_calls/0, #2 request /messages/1/tool_calls/0" in line
    assert third(FIRST) == []


def test_a_past_call_without_an_id_is_compared_too_and_so_is_an_example() -> None:
    hi = turn("user", {"text": "hi"})
    first = [hi, turn("model", calls("a")), turn("user", gives())]
    last = calls("a strip on which a machine records what a person says to it")
    later = [turn("model", last), turn("user", gives("x"))]
    trips = gemini([hi], [calls("a")]), gemini(first, [last], 1)

    changed = gemini([hi, turn("model", calls("z")), first[2], *later], [{"text": "done"}], 2)
    assert "the arguments of a call changed" in mutated(*trips, changed)[0]
    example = [HELLO, said(None, ("call_0", "look_up", '{"word":"x"}')), result("call_0", "y"), user("and?")]
    other = [HELLO, said(None, ("call_0", "look_up", '{"word":"z"}')), *example[2:]]
    [line] = mutated(chat(example, FIRST), chat([*other, FIRST, GIVEN], DONE, index=1))
    assert "the arguments of a call changed" in line


def test_what_many_clients_do_is_reported_once_and_a_fault_each_time() -> None:
    def loop(echo: Any) -> list[str]:
        history: list[dict[str, Any]] = [HELLO]
        trips: list[Any] = []
        for n in range(3):
            call = (f"call_{n}", "look_up", f'{{"word":"{n}"}}')
            trips.append(chat(history, said(f"Word {n} it is.", call), index=n))
            history = [*history, said(echo(n), call), result(f"call_{n}", f"a strip {n}")]
        return [line[:2] for line in mutated(*trips, chat(history, DONE, index=3))]

    assert loop(lambda _: None) == ["#1"]
    assert loop(lambda n: f"Not {n}.") == ["#1", "#2", "#3"]


@pytest.mark.parametrize("finish", ["length", "content_filter", "model_context_window_exceeded", "malformed", "pause"])
def test_an_answer_that_did_not_end_well_may_come_back_changed(finish: str) -> None:
    words_ = {"model_context_window_exceeded": "model_context_window_exceeded", "pause": "pause_turn"}
    opened = (
        gemini([turn("user", {"text": "hi"})], [{"text": "It holds a"}], finish="MALFORMED_FUNCTION_CALL")
        if finish == "malformed"
        else anthropic([ASKED], [words("It holds a")], stop=words_.get(finish, "max_tokens"))
    )
    history = [turn("user", {"text": "hi"}), turn("model", {"text": "Not a"}), turn("user", {"text": "?"})]
    following = (
        gemini(history, [{"text": "x"}], 1)
        if finish == "malformed"
        else anthropic([ASKED, spoke(words("Not a")), asked("?")], [words("x")], 1)
    )

    assert mutated(opened, following) == []


def test_a_fork_or_a_second_request_of_the_same_answer_changes_nothing() -> None:
    assert mutated(chat([HELLO, FIRST, GIVEN], TALK), chat([HELLO, FIRST, GIVEN], TALK, index=1, at=9.0)) == []


def reasoning(*trips: Any) -> list[str]:
    return lines(*trips, only="client-reasoning")


def test_dropped_and_altered_reasoning_are_shown_with_their_places() -> None:
    refused = anthropic([ASKED, spoke(use()), asked(given())], index=1, error="no")
    other = anthropic([ASKED, spoke(THINKING | {"thinking": "x"}, use()), asked(given())], [words("done")], 1)

    assert reasoning(THOUGHT, refused) == [
        "#1 client-reasoning-dropped (client, error, P): 1 piece of reasoning of #0 did not come back | "
        "#0 response /content/0, #1 request"
    ]
    assert reasoning(THOUGHT, other) == [
        "#1 client-reasoning-altered (client, error, P): a signed piece of reasoning of #0 came back changed | "
        "#0 response /content/0, #1 request /messages/1/content/0"
    ]


@pytest.mark.parametrize(
    ("sentence", "severity"),
    [
        ("no", "error"),
        ("messages.1: all messages must have non-empty content", "info"),
        ("Expected `thinking` or `redacted_thinking`, but found `tool_use`", "error"),
    ],
)
def test_dropped_reasoning_is_not_to_blame_for_another_fault(sentence: str, severity: str) -> None:
    refused = anthropic([ASKED, spoke(use()), asked(given())], index=1, error=sentence)

    assert only("client-reasoning-dropped", THOUGHT, refused).severity == severity


@pytest.mark.parametrize("model", ["deepseek-r1", "moonshot-v1", "qwen3", "kimi-k2", "glm-4.6", "minimax-m2", "gpt-5"])
def test_models_that_need_their_reasoning_are_known_by_name(model: str) -> None:
    thought = {**FIRST, "reasoning_content": "I should look."}
    error = {"error": {"message": "no", "type": "x"}}

    def found(status: int) -> list[str]:
        following = chat([HELLO, FIRST, GIVEN], index=1, status=status, error=error, model=model.upper())
        return [line.split(", ")[1] for line in reasoning(chat([HELLO], thought, model=model.upper()), following)]

    assert found(400) == (["info"] if model == "gpt-5" else ["error"])
    assert found(500) == (["info"] if model == "gpt-5" else ["warning"])
    assert found(503) == ["info"], "the API did not read the request"


def test_a_whole_answer_that_is_gone_takes_its_reasoning_with_it() -> None:
    two = [THINKING, use(), use("toolu_2", "b")]
    opened = anthropic([ASKED], two)

    def following(*kept: dict[str, Any]) -> Any:
        ask = [ASKED, spoke(*kept), asked(*[given(block["id"]) for block in kept])] if kept else [ASKED, asked("?")]
        return anthropic([*ask], index=1, error="no")

    assert reasoning(opened, following(use())) != []
    assert reasoning(opened, following()) == []


def truncated(*trips: Any) -> list[str]:
    return lines(*trips, only="client-history")


PLACES = "#0 request /messages/1/content, #0 request /messages/1/tool_calls/0, #0 request /messages/2, #1 request"


def test_what_is_missing_is_counted_and_placed() -> None:
    gone = chat([HELLO, *LONG[3:], *END], DONE, index=1)
    noted = chat([HELLO, said("So far: a strip."), user("Go on."), *LONG[3:], *END], DONE, index=1)

    assert truncated(LATER, gone) == [
        "#1 client-history-truncated (client, warning, P): 3 pieces of the history (34 characters) are missing, "
        f"without a replacement | {PLACES}"
    ]
    assert truncated(LATER, noted) == [
        "#1 client-history-truncated (client, info, P): 3 pieces of the history (34 characters) are missing, possibly "
        f"replaced by a summary | {PLACES}"
    ]


def test_a_moved_piece_and_a_rewritten_result_are_placed() -> None:
    moved = chat([HELLO, *LONG[3:], *LONG[1:3], *END], DONE, index=1)
    longer = chat([*LONG[:2], result("call_1", "a longer strip"), *LONG[3:], *END], DONE, index=1)
    shorter = chat([*LONG[:2], result("call_1", "a tap"), *LONG[3:], *END], DONE, index=1)

    [line] = [one for one in truncated(LATER, moved) if "reordered" in one]
    assert line == (
        "#1 client-history-reordered (client, warning, P): 3 pieces of the history have moved, the first: "
        "'It is a strip.' | #0 request /messages/3/content, #1 request /messages/1/content"
    )
    assert lines(LATER, longer, only="client-tool-result") == [
        "#1 client-tool-result-rewritten (client, warning, P): the result of call_1 was rewritten: 'a strip' became "
        "'a longer strip' | #0 request /messages/2, #1 request /messages/2"
    ]
    assert (
        "was rewritten, 2 characters shorter: 'a strip' became 'a tap'" in lines(LATER, shorter, only="client-tool")[0]
    )


ROWS = "row of a long table " * 40
CLEARED = "[Old tool result content cleared]"


def severities(*trips: Any) -> list[str]:
    return [one.severity for one in judged(*trips) if one.id == "client-tool-result-rewritten"]


def chat_results(old: str, new: str = "a band") -> list[dict[str, Any]]:
    return [*LONG[:2], result("call_1", old), LONG[3], result("c2", new)]


@pytest.mark.parametrize(
    ("now", "severity"),
    [
        (CLEARED, "info"),
        ("<MASKED>", "info"),
        ("Old output: (12 lines omitted)", "info"),
        ("It gave nothing.", "warning"),
        (f"{ROWS[:60]} [truncated]", "info"),
        (f"{ROWS[:60]} [truncated] {ROWS[-60:]}", "info"),
        (f"{ROWS[:60]} [truncated, since a person read it and found that it says nothing of use]", "warning"),
        (f"{CLEARED} {ROWS[:170]}", "warning"),
        (ROWS[:-2], "warning"),
    ],
)
def test_an_old_result_that_became_a_marker_was_cleared_on_purpose(now: str, severity: str) -> None:
    opened = chat(chat_results(ROWS), said("So it is a band.", ("c3", "look_up", '{"word":"band"}')))

    assert severities(opened, chat([*chat_results(now), *END], DONE, index=1)) == [severity]


@pytest.mark.parametrize(("marker", "severity"), [("[cleared]", "info"), (f"[cleared{'.' * 60}]", "warning")])
def test_a_short_result_is_cleared_by_a_few_words(marker: str, severity: str) -> None:
    assert severities(LATER, chat([*chat_results(marker), *END], DONE, index=1)) == [severity]


@pytest.mark.parametrize(
    ("note", "severity"),
    [
        ("<reminder>Answer briefly.</reminder>", "info"),
        ("Answer <b>briefly</b>.", "warning"),
    ],
)
def test_a_note_of_the_client_may_go_away(note: str, severity: str) -> None:
    trips = [chat([HELLO, user(note)], said(None, CALL)), chat([HELLO, said(None, CALL), GIVEN], said("x"), index=1)]

    assert [one.severity for one in judged(*trips) if one.id == "client-history-truncated"] == [severity]


def gemini_results(old: str) -> list[dict[str, Any]]:
    return [turn("user", {"text": "hi"}), turn("model", calls("a")), turn("user", gives(old))]


def anthropic_results(old: str) -> list[dict[str, Any]]:
    return [ASKED, spoke(use()), asked(given(text=old))]


def responses_results(old: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "hi"}, item_call(), item_output(text=old)]


CLEARING = {
    "gemini": [
        gemini(gemini_results(ROWS), [calls("b")]),
        gemini([*gemini_results(CLEARED), turn("model", calls("b")), turn("user", gives("x"))], [{"text": "done"}], 1),
    ],
    "anthropic": [
        anthropic(anthropic_results(ROWS), [use("toolu_2", "b")]),
        anthropic(
            [*anthropic_results(CLEARED), spoke(use("toolu_2", "b")), asked(given("toolu_2"))], [words("done")], 1
        ),
    ],
    "responses": [
        responses(responses_results(ROWS), [item_call("call_2", "b")]),
        responses([*responses_results(CLEARED), item_call("call_2", "b"), item_output("call_2")], [], 1),
    ],
}


@pytest.mark.parametrize("trips", CLEARING.values(), ids=CLEARING)
def test_clearing_old_results_is_at_most_a_note_in_every_api(trips: list[Any]) -> None:
    assert severities(*trips) == ["info"]


def without_model(history: list[dict[str, Any]], answer: dict[str, Any], index: int) -> Any:
    """A turn of a deployment whose name is in the address."""
    finish = "tool_calls" if "tool_calls" in answer else "stop"
    choice = {"index": 0, "message": answer, "finish_reason": finish}
    return trip(CHAT, {"messages": history}, {"id": f"c{index}", "model": "m", "choices": [choice]}, index)


@pytest.mark.parametrize(
    ("echoed", "found"),
    [
        ({"reasoning_content": "I should look."}, []),
        ({"reasoning_content": " I should\nlook."}, ["did not come back"]),
        ({"reasoning_content": "The customer may travel free."}, ["came back in other words"]),
        ({}, ["did not come back"]),
    ],
)
def test_reasoning_that_came_back_in_other_words_is_not_called_missing(echoed: Any, found: list[str]) -> None:
    opened = without_model([HELLO], {**FIRST, "reasoning_content": "I should look."}, 0)
    following = without_model([HELLO, {**FIRST, **echoed}, GIVEN], DONE, 1)

    messages = [one.message for one in judged(opened, following) if one.id == "client-reasoning-dropped"]

    assert [message.removeprefix("1 piece of reasoning of #0 ") for message in messages] == found


def test_reasoning_for_a_model_without_a_name_is_a_note() -> None:
    opened = without_model([HELLO], {**FIRST, "reasoning_content": "I should look."}, 0)

    assert reasoning(opened, without_model([HELLO, FIRST, GIVEN], DONE, 1)) == [
        "#1 client-reasoning-dropped (client, info, P): 1 piece of reasoning of #0 did not come back | "
        "#0 response /choices/0/message/reasoning_content, #1 request"
    ]


SIGNED_WORDS = {"text": "Let me look it up for you.", "thoughtSignature": "c2lnbmVk" * 8}
SIGNED_CALL = calls(thoughtSignature="bmFtZWQh" * 8)
BARE_WORDS = {"text": "Let me look it up for you."}
AT_PARTS = "/candidates/0/content/parts"


@pytest.mark.parametrize(
    ("answer", "echoed", "lost"),
    [
        ([SIGNED_WORDS, SIGNED_CALL], [SIGNED_WORDS, SIGNED_CALL], []),
        ([SIGNED_WORDS, SIGNED_CALL], [BARE_WORDS, calls()], [0, 1]),
        ([SIGNED_WORDS, SIGNED_CALL], [SIGNED_WORDS, calls()], [1]),
        ([SIGNED_WORDS, SIGNED_CALL], [BARE_WORDS, SIGNED_CALL], []),
        ([SIGNED_WORDS, calls()], [BARE_WORDS, calls()], []),
        ([{"text": "Look.", "thought": True}, SIGNED_CALL], [SIGNED_CALL], []),
        ([{"text": "Look.", "thought": True}, SIGNED_CALL], [calls()], [1, 0]),
    ],
)
def test_gemini_needs_the_signatures_of_calls(
    answer: list[dict[str, Any]], echoed: list[dict[str, Any]], lost: list[int]
) -> None:
    hi = turn("user", {"text": "hi"})
    following = gemini([hi, turn("model", *echoed), turn("user", gives())], [{"text": "x"}], 1)

    count = "1 piece" if len(lost) == 1 else f"{len(lost)} pieces"
    said = f"#1 client-reasoning-dropped (client, info, P): {count} of reasoning of #0 did not come back | "
    places = "".join(f"#0 response {AT_PARTS}/{n}, " for n in lost)
    assert reasoning(gemini([hi], answer), following) == ([f"{said}{places}#1 request"] if lost else [])


def test_three_places_of_lost_reasoning_are_shown() -> None:
    thoughts = [{"type": "thinking", "thinking": f"Think {n}.", "signature": str(n) * 40} for n in range(4)]
    following = anthropic([ASKED, spoke(use()), asked(given())], [words("x")], 1)

    assert reasoning(anthropic([ASKED], [*thoughts, use()]), following) == [
        "#1 client-reasoning-dropped (client, info, P): 4 pieces of reasoning of #0 did not come back | "
        "#0 response /content/0, #0 response /content/1, #0 response /content/2, #1 request"
    ]
    other = anthropic([ASKED, spoke(use()), asked(given())], [words("x")], 1, model="claude-x")
    assert reasoning(THOUGHT, other) == [], "another model cannot use it"


def test_reasoning_that_is_lost_in_each_turn_is_reported_in_each() -> None:
    def thought(n: int) -> dict[str, Any]:
        return {"type": "thinking", "thinking": f"Think {n}.", "signature": str(n) * 40}

    history: list[dict[str, Any]] = [ASKED]
    trips: list[Any] = []
    for n in range(3):
        trips.append(anthropic(history, [thought(n), use(f"toolu_{n}", str(n))], n))
        history = [*history, spoke(use(f"toolu_{n}", str(n))), asked(given(f"toolu_{n}", f"strip {n}"))]

    assert [line[:2] for line in reasoning(*trips)] == ["#1", "#2"]


def test_a_request_that_ends_before_the_answer_asks_for_it_again() -> None:
    def third(*history: dict[str, Any]) -> list[tuple[str, str]]:
        found = judged(*LOOP, chat([HELLO, *history], DONE, index=2, temperature=0.5))
        return [(one.severity, one.message.partition(":")[0]) for one in found if one.id == MUTATED]

    lost = [
        ("warning", "a call of the answer is missing from the history"),
        ("info", "the text of the answer is missing from the history"),
    ]
    assert third(FIRST, GIVEN) == []
    assert third(FIRST, GIVEN, user("and?")) == lost
    assert third(said("Let me peek.", CALL), GIVEN) == [("warning", "the text of an answer changed"), *lost]


def test_a_cut_answer_does_not_excuse_a_change_of_an_earlier_one() -> None:
    cut = chat([HELLO, FIRST, GIVEN], said("A strip of what?"), index=1, finish="length")

    def third(first: dict[str, Any], last: str) -> list[str]:
        return mutated(OPENED, cut, chat([HELLO, first, GIVEN, said(last), user("go on")], DONE, index=2))

    assert third(FIRST, "A strip") == []
    assert third(said("Nothing to see.", CALL), "A strip of what?") == [
        f"#2 {MUTATED} (client, warning, P): the text of an answer changed: 'Let me look.' became 'Nothing to see.' | "
        "#1 request /messages/1/content, #2 request /messages/1/content"
    ]


def rewritten(*trips: Any) -> list[str]:
    return [line.partition(": ")[2] for line in lines(*trips, only="client-tool-result-rewritten")]


def test_results_without_ids_that_were_rewritten_are_shown_one_by_one() -> None:
    hi = turn("user", {"text": "hi"})
    both = turn("model", calls("a"), calls("b"))
    last = calls("a strip on which a machine records what a person says to it")

    def history(*texts: str) -> list[dict[str, Any]]:
        return [hi, both, turn("user", *(gives(text) for text in texts))]

    trips = gemini([hi], both["parts"]), gemini(history("a strip", "a band"), [last], 1)
    third = [*history("a stria", "b"), turn("model", last), turn("user", gives("x"))]

    places = [f"#1 request /contents/2/parts/{n}, #2 request /contents/2/parts/{n}" for n in (0, 1)]
    assert rewritten(*trips, gemini(third, [{"text": "d"}], 2)) == [
        f"the result of a call was rewritten: 'a strip' became 'a stria' | {places[0]}",
        f"the result of a call was rewritten, 5 characters shorter: 'a band' became 'b' | {places[1]}",
    ]


def test_four_rewritten_results_are_shown() -> None:
    many = said(None, *[(f"c{n}", "look_up", f'{{"word":"{n}"}}') for n in range(6)])
    end = said("So it is a band that holds.", ("c9", "look_up", '{"word":"band"}'))

    def history(text: str) -> list[dict[str, Any]]:
        return [HELLO, many, *(result(f"c{n}", f"{text}{n}") for n in range(6))]

    following = chat([*history("a strap "), end, result("c9", "y")], DONE, index=1)
    assert rewritten(chat(history("a strip "), end), following) == [
        f"the result of c{n} was rewritten: 'a strip {n}' became 'a strap {n}' | "
        f"#0 request /messages/{n + 2}, #1 request /messages/{n + 2}"
        for n in range(4)
    ]


@pytest.mark.parametrize(
    ("was", "became", "severity"),
    [("it's", "it’s", "warning"), ("it's", "its", "warning"), ("it's", "it's", None)],
)
def test_other_quotation_marks_in_arguments_are_a_change(was: str, became: str, severity: str | None) -> None:
    def call(word: str) -> dict[str, Any]:
        return said(None, ("call_1", "look_up", f'{{"word":"{word}"}}'))

    found = judged(chat([HELLO], call(was)), chat([HELLO, call(became), GIVEN], DONE, index=1))
    assert [one.severity for one in found if one.id == MUTATED] == ([severity] if severity else [])


def test_reasoning_that_the_responses_api_expects_is_an_error_where_it_rejects_the_request() -> None:
    hi = {"role": "user", "content": "hi"}
    opened = responses([hi], [sealed("abc" * 30), item_call()])

    def following(status: int) -> list[str]:
        refused = responses([hi, item_call(), item_output()], None, 1, error={"message": "No.", "type": "x"})
        assert refused.response is not None
        again = replace(refused, response=replace(refused.response, status=status))
        return [line.split(", ")[1] for line in reasoning(opened, again)]

    assert (following(500), following(503), following(400)) == (["warning"], ["info"], ["error"])


@pytest.mark.parametrize("api", APIS)
def test_an_answer_without_its_spaces_is_mutated_in_every_api(api: str) -> None:
    text = "Let me have a look at this for you and then go on with the order."
    question = [asks("Where is my order?")]

    def turns(back: str) -> list[str]:
        both = run(api, (question, says(text)), ([*question, says(back), asks("Well?")], says("It is here.")))
        return lines(*both, only="client-assistant-mutated")

    [line] = turns(text.replace(" ", ""))
    assert line.startswith(
        "#1 client-assistant-mutated (client, warning, P): the text of an answer lost its spaces: "
        "'Let me have a look at this for you and t' became 'Letmehavealookatthisforyouandthengoonwit' | #0 response, "
    )
    assert turns(text) == turns(text.replace(" ", "  ")) == turns(text.replace(" ", "\n")) == []


def test_three_words_may_be_written_as_one() -> None:
    both = run("chat", ([asks("Hi.")], says("a b c")), ([asks("Hi."), says("abc"), asks("Well?")], says("x")))

    assert lines(*both, only="client-assistant-mutated") == []


@pytest.mark.parametrize("mark", ["\u30104:0\u2020report.pdf\u3011", "\ue200cite\ue202turn0search1\ue201"])
def test_marks_of_sources_that_a_client_takes_out_are_an_info(mark: str) -> None:
    both = run("chat", ([asks("Hi.")], says(f"It is a strip. {mark}")),
               ([asks("Hi."), says("It is a strip."), asks("Well?")], says("x")))  # fmt: skip

    [line] = lines(*both, only="client-assistant-mutated")
    assert "(client, info, P)" in line


def test_a_text_that_lost_its_line_breaks() -> None:
    text = "Steps:\n1. Look.\n2. Read.\n3. Write."

    def back(became: str) -> list[str]:
        return lines(
            chat([HELLO], said(text)), chat([HELLO, said(became), user("And?")], DONE, index=1), only="client-assi"
        )

    [line] = back(" ".join(text.split()))
    assert "the text of an answer lost its line breaks: 'Steps:\\n1. Look." in line or "lost its line breaks" in line
    assert back(text) == [] and back(text.replace("\n", "\n\n")) == []


CODE = "def f(x):\n    if x:\n        return 1\n    return 2\n"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("said", "back", "lost"),
    [
        (CODE, "\n".join(line.strip() for line in CODE.splitlines()), True),
        (CODE, CODE, False),
        (CODE, CODE.replace("    ", "\t"), False),
        (CODE, CODE.strip(), False),
        ("Look:\n  - a\n- b\n- c", "Look:\n- a\n- b\n- c", False),
        ('[\n  {\n    "a": 1\n  }\n]', '[\n{\n"a": 1\n}\n]', False),
    ],
)
def test_a_text_that_lost_its_indents(api: str, said: str, back: str, lost: bool) -> None:
    question = [asks("Write it.")]
    both = run(api, (question, says(said)), ([*question, says(back), asks("Well?")], says("It is here.")))

    assert ["lost its indents" in line for line in lines(*both, only="client-assistant-mutated")] == [True] * lost


QUESTION = "Which words describe\nthe recording\nof a voice\non a thin strip of film?"
ANSWER = "It is a strip of film that holds the recording of a voice or of some music."
BEGUN = [asks(QUESTION), looks_up("tape"), finds("a strip\nof film\nthat holds\na voice")]
SPOKEN = [*BEGUN, says(ANSWER), asks("And reel?")]
SECOND = ("call_2", "look_up", '{"word":"band"}')
GLUED = "".join(QUESTION.split())


def departs(api: str, *history: Piece) -> list[str]:
    """What is found when this is the third history: the client's, in place of `SPOKEN`."""
    turns = (BEGUN[:1], BEGUN[1]), (BEGUN, SPOKEN[3]), (history, says("A reel is a wheel that holds the film."))
    return [line.partition(" | ")[0] for line in lines(*run(api, *turns), only="client-")]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("history", "reported"),
    [
        ([asks(""), *SPOKEN[1:]], "a message of the user is empty now"),
        ([asks(GLUED), *SPOKEN[1:]], "a message of the user lost its spaces"),
        ([asks(QUESTION.replace("\n", " ")), *SPOKEN[1:]], "a message of the user lost its line breaks"),
        ([asks(str(QUESTION.encode())), *SPOKEN[1:]], "(as Python writes bytes)"),
        ([asks(QUESTION[2:]), *SPOKEN[1:]], "the client rewrote a message of the user"),
        ([*SPOKEN[:2], finds("a strip of film that holds a voice"), *SPOKEN[3:]], "lost its line breaks"),
        ([SPOKEN[0], *SPOKEN], "a message of the user that was sent once is in the history twice"),
        ([*SPOKEN[:2], finds("a rope"), *SPOKEN[3:]], "was rewritten"),
        ([*SPOKEN[:3], says(ANSWER.replace("music", "wind")), *SPOKEN[4:]], "the text of an answer changed"),
    ],
    ids=["empty", "spaces", "lines", "bytes", "front", "result's lines", "twice", "result", "answer"],
)  # fmt: skip
def test_a_piece_that_was_sent_before_has_changed(api: str, history: list[Piece], reported: str) -> None:
    assert departs(api, *SPOKEN) == []
    found = [line for line in departs(api, *history) if reported in line]
    assert len(found) == 1, departs(api, *history)


@pytest.mark.parametrize("api", APIS)
def test_an_earlier_answer_that_is_now_the_users(api: str) -> None:
    end = [asks("And a reel?"), says(f"{ANSWER} A reel is a wheel that holds it."), asks("And a can?")]
    turns = ([asks(QUESTION)], says(ANSWER)), ([asks(QUESTION), says(ANSWER), end[0]], end[1])
    found = lines(*run(api, *turns, ([asks(QUESTION), asks(ANSWER), *end], says("It is a box."))), only="client-assis")
    assert [f"is now a message of the user: {ANSWER[:59] + '…'!r}" in line for line in found] == [True]


def test_a_short_answer_after_the_same_question_links_two_requests() -> None:
    """An API without ids of calls shows it by its words alone."""
    step = [asks(QUESTION), looks_up("tape"), finds("a strip")]
    last = says("It is a strip of film, no more.")
    trips = run(
        "gemini", (step[:1], step[1]), (step, last), ([step[0], looks_up("rope"), step[2], last, asks("And?")], last)
    )
    [line] = lines(*trips, only="client-assistant-mutated")
    assert "the arguments of a call changed" in line
    strange = [asks("Hi."), looks_up("rope"), step[2], last, asks("And?")]
    assert lines(*run("gemini", (step[:1], step[1]), (step, last), (strange, last)), only="client-assistant") == []


def test_calls_of_one_answer_that_came_back_as_several_answers() -> None:
    apart = [
        chat([HELLO], said(None, CALL, SECOND)),
        chat([HELLO, said(None, CALL), GIVEN, said(None, SECOND), result("call_2", "a band")], DONE, index=1),
    ]
    assert [line.partition(" | ")[0] for line in lines(*apart, only="client-assistant")] == [
        "#1 client-assistant-mutated (client, info, P): the 2 calls of one answer are in the history as 2 answers, "
        "with results between them"
    ]


def test_a_result_before_its_call_is_in_another_order() -> None:
    [line] = lines(OPENED, continues(GIVEN, FIRST), only="client-history-reordered")
    assert line == (
        "#1 client-history-reordered (client, warning, P): the result of call_1 comes before its call | "
        "#1 request /messages/1, #1 request /messages/2/tool_calls/0"
    )


def test_a_result_that_was_put_under_another_call_or_lost_its_mark() -> None:
    two = spoke(use("toolu_1"), use("toolu_2", "band"))
    first = [ASKED, two, asked(given("toolu_1", "a strip", is_error=True), given("toolu_2", "a band"))]
    trips = anthropic([ASKED], two["content"]), anthropic(first, [use("toolu_3", "reel")], 1)
    more = [spoke(use("toolu_3", "reel")), asked(given("toolu_3", "a wheel"))]

    def rewritten(*results: dict[str, Any]) -> list[str]:
        last = anthropic([ASKED, two, asked(*results), *more], [words("done")], 2)
        found = lines(*trips, last, only="client-tool-result-rewritten")
        return [line.partition(" | ")[0].partition("P): ")[2] for line in found]

    assert rewritten(given("toolu_1", "a strip", is_error=True), given("toolu_2", "a band")) == []
    assert rewritten(given("toolu_1", "a strip"), given("toolu_2", "a band")) == [
        "the result of toolu_1 is no longer marked as an error"
    ]
    assert rewritten(given("toolu_1", "a strip", is_error=True), given("toolu_2", "a band", is_error=True)) == [
        "the result of toolu_2 is now marked as an error"
    ]
    assert rewritten(given("toolu_2", "a strip", is_error=True), given("toolu_1", "a band")) == [
        "the result of toolu_1 is now under the call toolu_2",
        "the result of toolu_2 is now under the call toolu_1",
    ]
