"""Legacy completions."""

from round_trips import exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Usage

URL = "http://localhost:8080/v1/completions"


def test_a_whole_completion() -> None:
    answer = {
        "choices": [{"text": "ab", "index": 0, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }
    reading = read(exchanged(URL, {"model": "m", "prompt": "x", "max_tokens": 2}, answer))
    assert reading.emission is not None
    assert reading.finish is not None
    assert (reading.protocol, reading.emission.text, reading.finish.label) == ("openai-completions", "ab", "length")
    assert reading.usage == Usage(1, None, None, 2, None)
    assert [p.pointer for m in reading.request.messages for p in m.parts] == ["/prompt"]


def test_a_streamed_one_and_one_that_is_cut() -> None:
    first, last = {"choices": [{"text": "a", "index": 0}]}, {"choices": [{"text": "b", "finish_reason": "stop"}]}
    whole, cut = (read(exchanged(URL, {"prompt": ["x"]}, body)) for body in (sse(first, last), sse(first)))
    assert whole.emission is not None
    assert whole.finish is not None
    assert cut.finish is not None
    assert (whole.emission.text, whole.finish.effective, cut.finish.effective) == ("ab", "complete", "cut")
