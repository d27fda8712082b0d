"""Mistral chat: OpenAI's shape with different words and contents."""

from round_trips import exchanged

from turntape.inspector.wire.parse import read

URL = "https://api.mistral.ai/v1/chat/completions"
ASK = {"model": "magistral", "messages": [{"role": "user", "content": "hi"}]}


def test_model_length_is_a_full_context_and_thinking_is_not_text() -> None:
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Hey"}]
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "model_length"}
    reading = read(exchanged(URL, ASK, {"id": "x", "model": "magistral", "choices": [choice]}))
    assert reading.protocol == "mistral-chat"
    assert reading.emission and (reading.emission.text, reading.emission.reasoning) == ("Hey", "hm")
    assert reading.finish and reading.finish.label == "context_full"


def test_arguments_may_be_an_object_and_the_id_the_word_null() -> None:
    call = {"id": "null", "function": {"name": "add", "arguments": {"a": 1}}}
    choice = {"index": 0, "message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}
    emission = read(exchanged(URL, ASK, {"choices": [choice]})).emission
    assert emission and emission.calls[0].id is None and emission.calls[0].arguments == {"a": 1}


def test_a_field_that_only_mistral_has_shows_it_behind_a_gateway() -> None:
    url = "http://localhost:4000/v1/chat/completions"
    assert read(exchanged(url, {**ASK, "safe_prompt": True}, {"choices": []})).protocol == "mistral-chat"
