"""The answer of a turn in the viewer: its choices, and what its usage gets wrong."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from made_pictures import in_a_part, of_a_tool
from round_trips import CHAT, unanswered

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.answer_blocks import answer_blocks
from turntape.inspector.views.tui.pages.blocks import Block


def blocks(*choices: dict[str, Any], **more: Any) -> dict[str, Block]:
    """The blocks of an answer with these choices, by name."""
    run = Run.of([chat([HELLO], error={"model": "gpt-5", "choices": list(choices), **more})])
    return {block.key: block for block in answer_blocks(run.detail(0), run.rows, 0)}


def choice(index: int, text: str, finish: str | None = "stop") -> dict[str, Any]:
    return {"index": index, "message": said(text), "finish_reason": finish}


def test_every_choice_but_the_first_has_its_own_block() -> None:
    shown = blocks(choice(0, "one"), choice(1, "two", "length"), choice(2, "three", None))

    titles = {
        name: "".join(text for text, _ in block.title_at(80)) for name, block in shown.items() if "choice" in name
    }
    assert titles == {
        "answer:choice:1": "choice 2 of 3  length",
        "answer:choice:2": "choice 3 of 3  no finish word",
    }


def test_a_single_choice_has_none() -> None:
    assert not [name for name in blocks(choice(0, "one")) if "choice" in name]


def test_a_wrong_count_is_shown() -> None:
    assert "problem:0" in blocks(choice(0, "one"), usage={"prompt_tokens": -1})
    assert "problem:0" not in blocks(choice(0, "one"), usage={"prompt_tokens": 1})


@pytest.mark.parametrize("trip", [in_a_part(), of_a_tool()], ids=["part", "tool"])
def test_a_picture_of_an_answer_is_drawn(trip: RoundTrip) -> None:
    run = Run.of([trip])
    found = {block.key: block for block in answer_blocks(run.detail(0), run.rows, 0)}["answer:picture:0"]

    assert found.body is not None
    assert "".join(text for text, _ in found.title) == "picture or file  png, 1 × 1 pixels, 70 B"  # type: ignore[union-attr]
    assert [[text for text, _ in line] for line in found.body(80)] == [["▀"]]


def test_an_answer_of_words_has_no_picture() -> None:
    assert not any(key.startswith("answer:picture") for key in blocks(choice(0, "x")))


def test_why_an_answer_ended_is_said_once() -> None:
    run = Run.of([replace(unanswered(CHAT, {"messages": [HELLO]}, "client_gone"), ended_at=4_000_000)])
    shown = {block.key: block for block in answer_blocks(run.detail(0), run.rows, 0)}
    texts = [
        "".join(text for text, _ in line)
        for block in shown.values()
        if block.body is not None
        for line in block.body(80)
    ]

    assert texts[-2:] == ["nothing was emitted", "client_gone: client_gone!"]
    assert sum("client_gone!" in text for text in texts) == 1


def results_after(*messages: dict[str, Any]) -> tuple[int, list[str]]:
    """How many results the list counts for a call, and the titles of its results on the page."""
    run = Run.of([chat([HELLO], said(None, CALL)), chat([HELLO, *messages], said("done"), index=1)])
    shown = answer_blocks(run.detail(0), run.rows, 0)
    titles = ["".join(text for text, _ in one.title_at(80)) for one in shown if one.key.startswith("result")]
    return run.rows.all[0].results, titles


def test_a_call_and_a_result_that_were_sent_back_as_plain_text_are_on_the_page_as_in_the_list() -> None:
    retold = said("Calling tools: call_1, look_up of tape")

    assert results_after(retold, user("Observation: a strip")) == (1, ["← look_up  call_1  20 B  in turn 2"])
    assert results_after(said("I looked."), user("Observation: a strip")) == (0, ["← no result in turn 2"])


def test_the_result_of_a_call_whose_id_was_changed_is_on_the_page_as_in_the_list() -> None:
    sent = said(None, ("other", *CALL[1:]))

    assert results_after(sent, result("other", "a strip")) == (1, ["← look_up  other  7 B  in turn 2"])
    assert results_after(said(None, CALL), result("call_1", "a strip")) == (1, ["← look_up  call_1  7 B  in turn 2"])
    assert results_after(sent, result("third", "a strip")) == (0, ["← no result in turn 2"])
