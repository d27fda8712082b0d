"""What came back to the API, against what had been sent and got."""

from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
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
    only,
    responses,
    spoke,
    turn,
    use,
    words,
)  # fmt: skip

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
