"""The whole way, with the real SDKs: recorded through the proxy, labelled, and replayed with the upstream gone."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from end_to_end.loops import LOOPS, Witness, chat_async, messages_async, rig

from turntape.cassettes import AsyncReplayTransport, Cassette, Player, ReplayTransport
from turntape.inspector.run.labels import label_all

STORY = [
    ("calls", "tool_calls", "dispatched", ["generate_email"] * 3),
    ("calls", "tool_calls", "dispatched", ["generate_email"] * 2),
    ("calls", "tool_calls", "dispatched", ["send_email"]),
    ("text", "complete", "ended", []),
]


def story_of(tape: Path) -> list[tuple[Any, ...]]:
    labels: list[dict[str, Any]] = [done.label for done in label_all(Cassette.load(tape))]
    assert [label["turn"] for label in labels] == [1, 2, 3, 4]
    assert {label["thread"] for label in labels} == {"t1"}
    assert [finding for label in labels for finding in label["findings"]] == []
    return [
        (
            label["model"]["emitted"],
            label["api"]["effective"],
            label["client"]["outcome"],
            [call["name"] for call in label["model"]["tool_calls"]],
        )
        for label in labels
    ]


@contextmanager
def replaying(tape: Path) -> Generator[str]:
    """The replay server in a thread."""
    import socket

    import uvicorn

    from turntape.cassettes.server.server import app

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    server = uvicorn.Server(uvicorn.Config(app(Player(tape)), log_level="critical", lifespan="off"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("route", ["base_url", "forward"])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", LOOPS)
def test_a_loop_is_recorded_labelled_and_replayed(
    protocol: str, streamed: bool, route: str, tape: Path, confdir: Path
) -> None:
    loop, client_of = LOOPS[protocol]
    with rig(tape, confdir) as up:
        if route == "forward":
            inner = httpx2.HTTPTransport(proxy=up.base, verify=up.trust())
        else:
            inner = httpx2.HTTPTransport()
        live = Witness(inner)
        with httpx2.Client(transport=live, trust_env=False) as http:
            turns = loop(client_of(up.base if route == "base_url" else None, http), streamed)

    assert turns == 4
    assert story_of(tape) == STORY
    assert {done.reading.protocol for done in label_all(Cassette.load(tape))} == {protocol}
    assert [trip.failure for trip in Cassette.load(tape)] == [None] * 4

    replayed = Witness(ReplayTransport(tape))
    loop(client_of("http://gone.invalid" if route == "base_url" else None, httpx2.Client(transport=replayed)), streamed)
    assert [b"".join(body) for body in replayed.bodies] == [b"".join(body) for body in live.bodies]
    # A client that hangs up after the closing word never sees the last chunk's end, live or replayed.
    assert [body for body in replayed.bodies if body] == [body for body in live.bodies if body]

    with (
        replaying(tape) as base,
        httpx2.Client(transport=(served := Witness(httpx2.HTTPTransport())), trust_env=False, timeout=None) as http,
    ):
        assert loop(client_of(base, http), streamed) == 4
    assert [b"".join(body) for body in served.bodies] == [b"".join(body) for body in live.bodies]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
def test_the_async_sdks_run_the_same_loop(sdk: str, streamed: bool, tape: Path, confdir: Path) -> None:
    import anthropic
    import openai

    async def run(base: str, transport: Any) -> int:
        async with httpx2.AsyncClient(transport=transport, trust_env=False) as http:
            if sdk == "openai":
                return await chat_async(
                    openai.AsyncOpenAI(api_key="k", base_url=f"{base}/openai/v1", http_client=http), streamed
                )
            return await messages_async(
                anthropic.AsyncAnthropic(api_key="k", base_url=f"{base}/anthropic", http_client=http), streamed
            )

    with rig(tape, confdir) as up:
        assert asyncio.run(run(up.base, httpx2.AsyncHTTPTransport())) == 4

    assert story_of(tape) == STORY
    assert asyncio.run(run("http://gone.invalid", AsyncReplayTransport(tape))) == 4
