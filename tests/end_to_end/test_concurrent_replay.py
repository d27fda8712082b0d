"""Fifty agents at once on one cassette: each gets the answers that were recorded for it, and none of another."""

import asyncio
import json
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import httpx2
import pytest
import uvicorn
from openai import AsyncOpenAI, OpenAI

from turntape.cassettes import AsyncReplayTransport, Chunk, Matching, Player, ReplayTransport, Request, Response
from turntape.cassettes.server.server import app
from turntape.cassettes.tape.model import RoundTrip

AGENTS, TURNS = 50, 4
URL = "https://api.openai.com/v1/chat/completions"
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
SAME = "Give this conversation a title."


def prompt(agent: int, edit: str = "") -> str:
    return f"You work for customer {agent:03d}.{edit} Answer in one word."


def said(agent: int, turn: int) -> dict[str, Any]:
    if turn == TURNS:
        return {"role": "assistant", "content": f"agent {agent} is done"}
    call = {"id": f"call_{agent:03d}_{turn}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return {"role": "assistant", "content": f"agent {agent} turn {turn}", "tool_calls": [call]}


def request(messages: list[Any], streamed: bool = False) -> dict[str, Any]:
    return {"messages": messages, "model": "gpt-5", "tools": [TOOL]} | ({"stream": True} if streamed else {})


def answer(message: dict[str, Any]) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
    return json.dumps(
        {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice]}
    ).encode()


def history(agent: int, turn: int) -> list[Any]:
    """What an agent sends in a turn, as it was recorded."""
    messages: list[Any] = [{"role": "user", "content": prompt(agent)}]
    for earlier in range(1, turn):
        message = said(agent, earlier)
        result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": f"seen {agent}"}
        messages += [message, result]
    return messages


def tape() -> list[RoundTrip]:
    """Fifty runs, recorded beside each other: first turns first, each turn in another order of agents."""
    trips: list[RoundTrip] = []
    for turn in range(1, TURNS + 1):
        for step in range(AGENTS):
            agent = (step * 7 + turn * 13) % AGENTS
            body = json.dumps(request(history(agent, turn)), separators=(",", ":")).encode()
            content = answer(said(agent, turn))
            response = Response(
                200, "OK", (("content-type", "application/json"),), content, (Chunk(9, 1), Chunk(len(content) - 9, 2))
            )
            trips.append(RoundTrip(Request("POST", URL, (), body), response, 1.0 + turn, ended_at=1))
    return trips


def step(agent: int, messages: list[Any], message: Any) -> str | None:
    """Take an answer in; the last one's text, or None when there is more to do."""
    turn = sum(one["role"] == "assistant" for one in messages) + 1
    assert message.content == said(agent, turn)["content"]
    if not message.tool_calls:
        return message.content
    messages.append(message.model_dump(exclude_none=True, exclude_unset=True))
    messages.append({"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": f"seen {agent}"})
    return None


def run(agent: int, client: OpenAI, edit: str = "") -> str:
    messages: list[Any] = [{"role": "user", "content": prompt(agent, edit)}]
    while True:
        found = client.chat.completions.create(**request(messages)).choices[0].message
        if (last := step(agent, messages, found)) is not None:
            return last


async def run_async(agent: int, client: AsyncOpenAI, edit: str = "") -> str:
    messages: list[Any] = [{"role": "user", "content": prompt(agent, edit)}]
    while True:
        found = (await client.chat.completions.create(**request(messages))).choices[0].message
        if (last := step(agent, messages, found)) is not None:
            return last


DONE = [f"agent {agent} is done" for agent in range(AGENTS)]


async def all_at_once(client: AsyncOpenAI, edit: str = "") -> list[str]:
    async with client:
        return await asyncio.gather(*(run_async(agent, client, edit) for agent in range(AGENTS)))


def in_asyncio(player: Player, edit: str) -> list[str]:
    http = httpx2.AsyncClient(transport=AsyncReplayTransport(player))
    return asyncio.run(all_at_once(AsyncOpenAI(api_key="k", http_client=http, max_retries=0), edit))


def in_threads(player: Player, edit: str) -> list[str]:
    http = httpx2.Client(transport=ReplayTransport(player))
    with OpenAI(api_key="k", http_client=http, max_retries=0) as client, ThreadPoolExecutor(AGENTS) as pool:
        return list(pool.map(lambda agent: run(agent, client, edit), range(AGENTS)))


def on_one_server(player: Player, edit: str) -> list[str]:
    server = uvicorn.Server(uvicorn.Config(app(player), port=0, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            threading.Event().wait(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        client = AsyncOpenAI(api_key="k", base_url=f"http://127.0.0.1:{port}/openai/v1", max_retries=0)
        return asyncio.run(all_at_once(client, edit))
    finally:
        server.should_exit = True
        thread.join()


DOORS: dict[str, Callable[[Player, str], list[str]]] = {
    "asyncio": in_asyncio,
    "threads": in_threads,
    "server": on_one_server,
}


@pytest.mark.parametrize("door", DOORS)
def test_no_agent_gets_anothers_answer(door: str) -> None:
    player = Player(tape())

    assert DOORS[door](player, "") == DONE

    assert player.report().clean


@pytest.mark.parametrize("door", DOORS)
def test_nor_where_every_prompt_was_edited_and_turn_order_decides(door: str) -> None:
    player = Player(tape(), matching=Matching("ordered"))

    assert DOORS[door](player, " Be brief.") == DONE

    report = player.report()
    assert {match.grade for match in report.played} == {"same turn, other prompt"}
    assert len(report.tolerated) == AGENTS * TURNS and not report.unplayed and not report.extra


@pytest.fixture
def equal() -> Generator[Player]:
    """Fifty recordings of one and the same request."""
    body = json.dumps(request([{"role": "user", "content": SAME}])).encode()
    trips = [
        RoundTrip(Request("POST", URL, (), body), Response(200, content=f"title {n}".encode()), 0.0)
        for n in range(AGENTS)
    ]
    yield Player(trips)


def test_equal_requests_of_fifty_agents_get_a_recording_each_in_order_of_arrival(equal: Player) -> None:
    async def several() -> list[str]:
        async with httpx.AsyncClient(transport=AsyncReplayTransport(equal)) as client:
            asked = (client.post(URL, json=request([{"role": "user", "content": SAME}])) for _ in range(AGENTS))
            return [answer.text for answer in await asyncio.gather(*asked)]

    assert asyncio.run(several()) == [f"title {n}" for n in range(AGENTS)]


def test_equal_requests_from_fifty_threads_get_a_recording_each(equal: Player) -> None:
    barrier = threading.Barrier(AGENTS)

    def one(_: int) -> str:
        barrier.wait()
        return client.post(URL, json=request([{"role": "user", "content": SAME}])).text

    with httpx.Client(transport=ReplayTransport(equal)) as client, ThreadPoolExecutor(AGENTS) as pool:
        titles = list(pool.map(one, range(AGENTS)))

    assert sorted(titles) == sorted(f"title {n}" for n in range(AGENTS))
