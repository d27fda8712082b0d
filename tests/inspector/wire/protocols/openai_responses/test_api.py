"""What two runs of one agent may differ in, for a replay of OpenAI Responses."""

import json

import pytest

from turntape.cassettes import Matching, Redactor
from turntape.cassettes.apis.lookup import answers_a_turn, asks_for_a_turn
from turntape.cassettes.matching.fingerprints import Fingerprints


def key(item: dict[str, object]) -> object:
    body = json.dumps({"model": "gpt-5", "input": [item]}).encode()
    found = Fingerprints(Matching(), Redactor(salt="s"), frozenset()).of("POST", "responses", (), body)
    return found.stable


@pytest.mark.parametrize(
    ("item", "one", "other"),
    [
        ({"type": "program", "code": "f()"}, {"fingerprint": "a"}, {"fingerprint": "b"}),
        ({"type": "program", "code": "f()"}, {"call_id": "prog_a"}, {"call_id": "prog_b"}),
        (
            {"type": "function_call", "name": "f", "arguments": "{}"},
            {"caller": {"type": "program", "caller_id": "prog_a"}},
            {"caller": {"type": "program", "caller_id": "prog_b"}},
        ),
        (
            {"type": "mcp_approval_response", "approve": True},
            {"approval_request_id": "a"},
            {"approval_request_id": "b"},
        ),
    ],
)
def test_opaque_words_of_another_run_match(
    item: dict[str, object], one: dict[str, object], other: dict[str, object]
) -> None:
    assert key({**item, **one}) == key({**item, **other})


def test_code_of_another_program_does_not_match() -> None:
    assert key({"type": "program", "code": "f()"}) != key({"type": "program", "code": "g()"})


@pytest.mark.parametrize(
    ("message", "asks", "answers"),
    [
        (b'{"type": "response.create", "input": "go"}', True, False),
        (b'{"type": "response.create", "generate": false}', False, False),
        (b'{"type": "response.created", "response": {}}', False, True),
        (b'{"type": "other", "text": "response.created response.create"}', False, False),
        (b'["response.create", "response.created"]', False, False),
        (b"response.created", False, False),
        (b"{}", False, False),
    ],
)
def test_a_turn_of_a_session_is_one_message_of_each_side(message: bytes, asks: bool, answers: bool) -> None:
    assert (asks_for_a_turn(message), answers_a_turn(message)) == (asks, answers)
