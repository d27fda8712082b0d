"""A loop on plain aiohttp, which uses proxy variables only with `trust_env`."""

import asyncio

import aiohttp
from emails import TURNS, finish
from raw_loop import HEADERS, STREAMED, URL, body, joined, take


async def main() -> str | None:
    async with aiohttp.ClientSession(headers=HEADERS, trust_env=True, raise_for_status=True) as session:
        for _ in TURNS:
            async with session.post(URL, json=body()) as response:
                if STREAMED:
                    message = joined([line.decode() async for line in response.content])
                else:
                    message = (await response.json())["choices"][0]["message"]
            if (text := take(message)) is not None:
                return text
    return None


finish(asyncio.run(main()))
