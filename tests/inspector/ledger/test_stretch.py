"""What is kept of a round trip to price it again."""

import pytest
from round_trips import exchanged

from turntape.inspector.ledger.stretch import without_bodies
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.price_names import price_names

ROUTER = "https://router.huggingface.co/v1/chat/completions"
OPENAI = "https://api.openai.com/v1/chat/completions"


@pytest.mark.parametrize(("url", "kept"), [(ROUTER, 1), (OPENAI, 0)])
def test_of_the_headers_only_those_are_kept_on_which_the_price_depends(url: str, kept: int) -> None:
    headers = (("X-Inference-Provider", "together"), ("x-ratelimit-remaining", "1000"))
    answer = {"model": "openai/gpt-oss-20b", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    trip = exchanged(url, {"model": "openai/gpt-oss-20b", "messages": []}, answer, headers=headers)
    reading = read(trip)

    small, asked = without_bodies(trip, reading)
    assert small.response is not None and len(small.response.headers) == kept
    assert [*price_names(small, asked)] == [*price_names(trip, reading)] != []
