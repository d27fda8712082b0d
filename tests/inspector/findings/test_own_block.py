"""Which rejected blocks the API itself had returned."""

from typing import Any

import pytest
from judged import anthropic, asked, context_of, given, spoke, use, words

from turntape.inspector.findings.memory import RunMemory, block_hash
from turntape.inspector.findings.own_block import own_block

EMPTY = {"type": "text", "text": " "}
CALL = use()
NAMED = "messages.1.content.1: `tool_use` ids must be unique"
INSIDE = "messages.1.content.1.tool_use.input: Input should be a valid dictionary"
ABOUT_EMPTY = "messages: text content blocks must be non-empty"


def found(error: str | None, *returned: dict[str, Any], answer: int = 3) -> tuple[str, int] | None:
    """What is found when the answer of #3 held these blocks."""
    memory = RunMemory()
    memory.emitted.update({block_hash(block): answer for block in returned})
    one = anthropic([asked("hi"), spoke(EMPTY, CALL), asked(given())], [words("so")], error=error)
    return own_block(context_of(one, run=memory))


@pytest.mark.parametrize("error", [NAMED, INSIDE])
def test_the_block_that_the_error_names_is_looked_up_also_when_it_names_a_field_inside(error: str) -> None:
    assert found(error, CALL) == ("/messages/1/content/1", 3)
    assert found(error, EMPTY) is None, "another block"
    assert found(error) is None


def test_the_number_is_that_of_the_answer() -> None:
    assert found(NAMED, CALL, answer=0) == ("/messages/1/content/1", 0)


def test_an_empty_block_is_looked_up_without_a_place() -> None:
    assert found(ABOUT_EMPTY, EMPTY) == ("/messages/1/content/0", 3)
    assert found("A sentence that nobody knows.", EMPTY) == ("/messages/1/content/0", 3)
    assert found(ABOUT_EMPTY, CALL) is None, "the call is not empty"
    assert found("tools: Tool names must be unique", EMPTY) is None, "the error is about something else"


def test_an_answered_request_has_no_rejected_block() -> None:
    assert found(None, EMPTY, CALL) is None
