"""Round trips whose answers are pictures."""

from typing import Any

from judged import gemini, responses, trip, turn

from turntape.cassettes.tape.model import RoundTrip

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""One pixel."""


def in_a_part(index: int = 0) -> RoundTrip:
    """Gemini has the picture as a part of its answer."""
    picture = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    return gemini([turn("user", {"text": "draw a dot"})], [{"text": "Here."}, picture], index)


def of_a_tool(index: int = 0) -> RoundTrip:
    """The Responses API has it as the result of a tool that it runs."""
    made = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": PNG}
    return responses([{"role": "user", "content": "draw a dot"}], [made], index)


def alone(index: int = 0) -> RoundTrip:
    """An endpoint for pictures, so no turn."""
    answer: dict[str, Any] = {"created": 1, "data": [{"b64_json": PNG}]}
    asked = {"model": "gpt-image-1", "prompt": "a dot"}
    return trip("https://api.openai.com/v1/images/generations", asked, answer, index)
