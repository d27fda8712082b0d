"""What the tape knows of Gemini."""

import pytest

from turntape.cassettes.apis.lookup import answers_a_turn, asks_for_a_turn


@pytest.mark.parametrize(
    ("message", "asks", "answers"),
    [
        (b'{"client_content": {"turns": [], "turnComplete": true}}', True, False),
        (b'{"clientContent": {"turns": [], "turnComplete": false}}', False, False),
        (b'{"tool_response": {"functionResponses": []}}', True, False),
        (b'{"realtime_input": {"text": "hi"}}', True, False),
        (b'{"realtimeInput": {"activityEnd": {}}}', True, False),
        (b'{"realtimeInput": {"audio": {"data": "AAA="}}}', False, False),
        (b'{"serverContent": {"turnComplete": true}}', False, True),
        (b'{"server_content": {"turn_complete": true}}', False, True),
        (b'{"toolCall": {"functionCalls": []}}', False, True),
        (b'{"toolCallCancellation": {"ids": ["f1"]}}', False, False),
        (b'{"serverContent": {"modelTurn": {"parts": [{"text": "turnComplete toolCall"}]}}}', False, False),
        (b"turnComplete toolCall toolResponse", False, False),
    ],
)
def test_a_turn_of_a_live_session_is_one_message_of_each_side(message: bytes, asks: bool, answers: bool) -> None:
    assert (asks_for_a_turn(message), answers_a_turn(message)) == (asks, answers)
