"""Requests that are sent at once have no order in a replay, and those that are sent one after the other have one."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from turntape.cassettes import AsyncReplayTransport, Player, Request, Response, RoundTrip
from turntape.cassettes.server.server import app

URL = "https://api.openai.com/v1/chat/completions"

type Ask = Callable[[str], Coroutine[Any, Any, None]]
type Run = Callable[[Ask, Sequence[str]], Coroutine[Any, Any, None]]


def body(text: str) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()


def one_by_one() -> Player:
    """Four requests that were recorded one after the other."""
    return Player(
        RoundTrip(Request("POST", URL, (), body(text)), Response(200, content=b"{}"), 100 + 2 * place, ended_at=10**6)
        for place, text in enumerate("abcd")
    )


def moved(player: Player) -> list[int]:
    return [one.turn.index for one in player.report().reordered]


async def gathered(ask: Ask, texts: Sequence[str]) -> None:
    await asyncio.gather(*map(ask, texts))


async def one_at_a_time_of_many(ask: Ask, texts: Sequence[str]) -> None:
    free = asyncio.Semaphore(1)

    async def one(text: str) -> None:
        async with free:
            await ask(text)

    await asyncio.gather(*map(one, texts))


async def each_in_a_task_of_its_own_task(ask: Ask, texts: Sequence[str]) -> None:
    async def one(text: str) -> None:
        await asyncio.create_task(asyncio.wait_for(ask(text), 5))

    await asyncio.gather(*map(one, texts))


async def a_second_request_when_the_first_is_done(ask: Ask, texts: Sequence[str]) -> None:
    """The second requests come from one task, in the order in which the first ones ended."""
    for done in asyncio.as_completed([asyncio.create_task(ask(text)) for text in texts[:2]]):
        await done
    for text in texts[2:]:
        await ask(text)


async def in_threads(ask: Ask, texts: Sequence[str]) -> None:
    """Each in its own thread: a pool gives an idle thread the next task, and on a busy machine all four."""
    all_there = threading.Barrier(len(texts))

    def work(text: str) -> None:
        all_there.wait(60)
        asyncio.run(ask(text))

    await asyncio.gather(*(asyncio.to_thread(work, text) for text in texts))


async def in_a_pool(ask: Ask, texts: Sequence[str]) -> None:
    both = threading.Barrier(2)

    def work(text: str) -> None:
        both.wait(60)
        asyncio.run(ask(text))

    with ThreadPoolExecutor(2) as pool:
        await asyncio.gather(*(asyncio.wrap_future(pool.submit(work, text)) for text in texts))


async def in_one_task(ask: Ask, texts: Sequence[str]) -> None:
    for text in texts:
        await ask(text)


async def one_task_after_the_other(ask: Ask, texts: Sequence[str]) -> None:
    async def idle() -> None:
        await asyncio.sleep(60)

    beside = asyncio.create_task(idle())
    for text in texts:
        await asyncio.create_task(ask(text))
    beside.cancel()


async def one_thread_after_the_other(ask: Ask, texts: Sequence[str]) -> None:
    for text in texts:
        thread = threading.Thread(target=asyncio.run, args=(ask(text),))
        thread.start()
        thread.join()


@pytest.mark.parametrize(
    ("run", "has_order"),
    [
        (gathered, False),
        (one_at_a_time_of_many, False),
        (each_in_a_task_of_its_own_task, False),
        (a_second_request_when_the_first_is_done, False),
        (in_threads, False),
        (in_a_pool, False),
        (in_one_task, True),
        (one_task_after_the_other, True),
        (one_thread_after_the_other, True),
    ],
)
def test_only_requests_of_one_sender_at_a_time_have_an_order(run: Run, has_order: bool) -> None:
    player = one_by_one()

    async def ask(text: str) -> None:
        async with httpx.AsyncClient(transport=AsyncReplayTransport(player)) as client:
            assert (await client.post(URL, content=body(text))).status_code == 200

    asyncio.run(run(ask, "bacd"))

    assert moved(player) == ([1] if has_order else [])
    assert not player.misses


def play(player: Player, text: str) -> None:
    player.answer("POST", URL, (), body(text))


@pytest.mark.parametrize("text", ["ba", "bdac"])
def test_runs_of_one_event_loop_after_the_other_have_an_order(text: str) -> None:
    player = one_by_one()

    async def ask(one: str) -> None:
        play(player, one)

    play(player, text[0])
    for one in text[1:]:
        asyncio.run(ask(one))

    assert 1 in moved(player)


def test_a_run_of_trio_has_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_trio in (True, False):
        lowlevel = SimpleNamespace(in_trio_run=lambda is_trio=is_trio: is_trio)
        monkeypatch.setitem(sys.modules, "trio", SimpleNamespace(lowlevel=lowlevel))
        player = one_by_one()
        for text in "ba":
            play(player, text)
        assert moved(player) == ([] if is_trio else [1])


async def through_the_server(player: Player, texts: str, overlapping: str = "", kept: str = "") -> None:
    """Ask the replay server; the bodies of `overlapping` end when all have begun, the answers of `kept` after all."""
    serving = app(player)
    all_begun, all_asked = asyncio.Event(), asyncio.Event()

    async def one(text: str) -> None:
        async def receive() -> Any:
            if text in overlapping:
                await all_begun.wait()
            return {"type": "http.request", "body": body(text)}

        async def send(message: Any) -> None:
            if text in kept:
                await all_asked.wait()

        path = "/openai/v1/chat/completions"
        scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": []}
        await serving(scope, receive, send)

    tasks = [asyncio.create_task(one(text)) for text in texts if text in overlapping + kept]
    await asyncio.sleep(0)
    for text in texts:
        if text not in overlapping + kept:
            await one(text)
    all_begun.set()
    all_asked.set()
    await asyncio.gather(*tasks)


@pytest.mark.parametrize(
    ("options", "has_order"),
    [
        ({}, True),
        ({"overlapping": "b"}, False),  # its body was on its way while the others were answered
        ({"kept": "b"}, False),  # its client has not read the answer yet
    ],
)
def test_a_server_knows_by_the_requests_that_overlap(options: dict[str, str], has_order: bool) -> None:
    player = one_by_one()

    asyncio.run(through_the_server(player, "bacd", **options))

    assert bool(moved(player)) == has_order
