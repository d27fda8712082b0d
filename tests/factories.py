"""Round trips for tests that do not care what they say."""

from typing import Any

from turntape.cassettes.tape.model import Chunk, Request, Response, RoundTrip

START = 1_780_000_000.25


def round_trip(
    body: bytes = b'{"a":1}', answer: bytes | None = b'{"b":2}', *, cut: int = 3, **fields: Any
) -> RoundTrip:
    """A whole exchange; the answer came in two chunks."""
    response = None
    if answer is not None:
        sizes = [size for size in (min(cut, len(answer)), len(answer) - min(cut, len(answer))) if size]
        chunks = tuple(Chunk(size, 1000 * (place + 1)) for place, size in enumerate(sizes))
        response = Response(200, "OK", (("content-type", "application/json"),), answer, chunks)
    url = fields.pop("url", "https://api.openai.com/v1/chat/completions")
    headers = fields.pop("headers", (("content-type", "application/json"),))
    return RoundTrip(Request("POST", url, headers, body), response, fields.pop("started_at", START), **fields)
