"""APIs that continue a text, each found by its path and body; and runs that go on after their answer."""

import pytest
from round_trips import exchanged, sse

from turntape.inspector.wire.parse import read


@pytest.mark.parametrize(
    ("url", "request_body", "answer", "protocol", "label"),
    [
        (
            "https://api.anthropic.com/v1/complete",
            {"prompt": "hi", "max_tokens_to_sample": 5},
            sse({"type": "completion", "completion": "x"}, {"completion": "", "stop_reason": "max_tokens"}),
            "anthropic-complete",
            "length",
        ),
        (
            "https://us-south.ml.cloud.ibm.com/ml/v1/text/generation/text",
            {"input": "hi"},
            {"results": [{"generated_text": "x", "stop_reason": "eos_token"}]},
            "watsonx-text",
            "complete",
        ),
        (
            "https://us-south.ml.cloud.ibm.com/ml/v1/generation/text_stream",
            {"input": "hi"},
            sse({"results": [{"generated_text": "x", "stop_reason": "not_finished"}]}),
            "watsonx-text",
            "cut",
        ),
        (
            "https://api.aleph-alpha.com/complete",
            {"prompt": [{"type": "text", "data": "hi"}], "maximum_tokens": 3},
            {"completions": [{"completion": "x", "finish_reason": "maximum_tokens"}]},
            "alephalpha-complete",
            "length",
        ),
        (
            "https://runtime.sagemaker.us-east-1.amazonaws.com/endpoints/e/invocations",
            {"inputs": "hi"},
            [{"generated_text": "x"}],
            "text-generation",
            "unknown",
        ),
        (
            "https://api.replicate.com/v1/models/meta/llama/predictions",
            {"input": {"prompt": "hi"}},
            {"status": "succeeded", "output": ["", "x"]},
            "replicate-predictions",
            "complete",
        ),
        (
            "https://bedrock-agent-runtime.us-east-1.amazonaws.com/retrieveAndGenerate",
            {"input": {"text": "hi"}},
            {"output": {"text": "x"}},
            "bedrock-agent",
            "unknown",
        ),
    ],
)
def test_each_is_read(url: str, request_body: object, answer: object, protocol: str, label: str) -> None:
    reading = read(exchanged(url, request_body, answer))
    assert reading.protocol == protocol and reading.problems == ()
    assert reading.emission and reading.emission.text == "x"
    assert reading.finish and reading.finish.label == label
    assert reading.request.messages[0].parts[0].text == "hi"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [([0.1, -0.2], "embeddings"), ([[[0.1]]], "embeddings"), ([{"generated_text": "x"}], "generation")],
)
def test_a_model_that_returns_numbers_does_not_write(answer: object, kind: str) -> None:
    url = "https://api-inference.huggingface.co/models/acme/small"

    assert read(exchanged(url, {"inputs": "hi"}, answer)).kind == kind


def test_a_run_of_an_assistant_that_waits_for_results_has_called() -> None:
    calls = [{"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}]
    action = {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": calls}}
    body = {"object": "thread.run", "status": "requires_action", "required_action": action}
    reading = read(exchanged("https://api.openai.com/v1/threads/t1/runs", {"assistant_id": "a"}, body))
    assert reading.finish and reading.finish.label == "tool_calls"
    assert reading.emission and reading.emission.calls[0].id == "call_1"
    assert reading.request.previous_id == "t1"
