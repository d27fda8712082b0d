import asyncio
import json
from typing import Any

import httpx
import httpx2
import pytest
from openai import AsyncOpenAI, BadRequestError, OpenAI

from turntape.cassettes import AsyncReplayTransport, Chunk, Failure, ReplayTransport, Request, Response, RoundTrip

URL = "https://api.openai.com/v1/chat/completions"
ASKED: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
PIECES = [
    b'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hel"}}]}\n\n',
    b"data: [DONE]\n\n",
]


def trip(
    body: object, pieces: list[bytes], failure: Failure | None = None, kind: str = "text/event-stream"
) -> RoundTrip:
    chunks = tuple(Chunk(len(piece), at) for at, piece in enumerate(pieces))
    response = Response(200, headers=(("content-type", kind),), content=b"".join(pieces), chunks=chunks)
    return RoundTrip(Request("POST", URL, content=json.dumps(body).encode()), response, 0.0, failure=failure)


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_chunks_come_back_as_recorded_and_a_cut_is_raised_after_them(library: Any) -> None:
    cut = trip({}, PIECES, Failure("cut", "gone"))
    got: list[bytes] = []

    with (
        library.Client(transport=ReplayTransport([cut])) as client,
        client.stream("POST", URL, json={}) as response,
        pytest.raises(library.TransportError),
    ):
        for piece in response.iter_raw():
            got.append(piece)

    assert got == PIECES


def test_the_openai_sdk_streams_from_the_tape_sync_and_async() -> None:
    recorded = trip({**ASKED, "stream": True}, PIECES)
    with OpenAI(api_key="k", http_client=httpx2.Client(transport=ReplayTransport([recorded]))) as client:
        words = [c.choices[0].delta.content for c in client.chat.completions.create(**ASKED, stream=True)]

    async def ask() -> list[Any]:
        http = httpx2.AsyncClient(transport=AsyncReplayTransport([recorded]))
        async with AsyncOpenAI(api_key="k", http_client=http) as client:
            return [
                c.choices[0].delta.content async for c in await client.chat.completions.create(**ASKED, stream=True)
            ]

    assert words == asyncio.run(ask()) == ["hel"]


def test_a_miss_reaches_the_openai_sdk_as_its_own_error_and_is_not_retried() -> None:
    transport = ReplayTransport([trip({**ASKED, "model": "other"}, [b"{}"])])

    client = OpenAI(api_key="k", http_client=httpx2.Client(transport=transport))
    with client, pytest.raises(BadRequestError, match="/model was"):
        client.chat.completions.create(**ASKED)

    assert len(transport.misses) == 1
