"""The answer of a turn in the viewer: its choices, and what its usage gets wrong."""

from typing import Any

from conversations import HELLO, chat, said

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
