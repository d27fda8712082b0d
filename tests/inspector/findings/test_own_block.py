"""Which rejected blocks the API itself had returned."""

from collections.abc import Sequence
from typing import Any

import pytest
from conversations import CALL as CALL_1
from conversations import HELLO, chat, result, said
from judged import anthropic, asked, calls, context_of, given, gives, spoke, trip, turn, use, words
from round_trips import GEMINI

from turntape.inspector.findings.memory import RunMemory, ThreadMemory, block_hash
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


OF_AWS = "Value at 'messages.2.member.content.2.member.toolUse.name' failed to satisfy constraint: [a-zA-Z0-9_-]+"


@pytest.mark.parametrize("error", [NAMED, INSIDE, OF_AWS])
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


def test_an_empty_block_is_looked_up_in_the_message_that_the_error_names() -> None:
    assert found("messages.1: text content blocks must be non-empty", EMPTY) == ("/messages/1/content/0", 3)
    assert found("messages.2: text content blocks must be non-empty", EMPTY) is None


UNSIGNED = "Function call is missing a thought_signature in functionCall parts."


def unsigned(*parts: dict[str, Any], returned: Sequence[dict[str, Any]]) -> tuple[str, int] | None:
    """What is found when a request with these parts of the model is rejected, after #3 returned those."""
    memory = RunMemory()
    memory.emitted.update({block_hash(part): 3 for part in returned})
    asked_ = {"contents": [turn("user", {"text": "hi"}), turn("model", *parts), turn("user", gives())]}
    error = {"error": {"code": 400, "message": UNSIGNED, "status": "INVALID_ARGUMENT"}}
    return own_block(context_of(trip(GEMINI, asked_, error, status=400), run=memory))


def test_a_signature_that_the_api_never_gave_is_not_the_clients_to_send() -> None:
    bare, signed = calls(), calls("strip", thoughtSignature="c2ln")

    assert unsigned(bare, returned=[bare]) == ("/contents/1/parts/0", 3)
    assert unsigned(signed, bare, returned=[signed, bare]) == ("/contents/1/parts/1", 3)
    assert unsigned(bare, returned=[calls(thoughtSignature="c2ln")]) is None, "the client dropped it"
    assert unsigned(bare, calls("reel"), returned=[bare]) is None
    assert unsigned(signed, returned=[signed]) is None


def test_an_answered_request_has_no_rejected_block() -> None:
    assert found(None, EMPTY, CALL) is None


def test_an_id_that_the_api_gave_is_its_own() -> None:
    history = [HELLO, said(None, CALL_1), result("call_1", "x")]
    error = {
        "error": {"message": "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", "type": "x"}
    }
    one = chat(history, status=400, error=error)

    assert own_block(context_of(one, thread=ThreadMemory(emitted_calls={"call_1": (4, "look_up", 0)}))) == (
        "/messages/1/tool_calls/0",
        4,
    )
    assert own_block(context_of(one)) is None, "the client made the id"


def test_a_marker_is_the_clients_own() -> None:
    """Blocks are compared without their markers, and the API gives none."""
    assert found("messages.1.content.1: tool_use blocks cannot have cache_control here", CALL) is None
