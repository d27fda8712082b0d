"""OpenAI Agents SDK with a tool server."""

import asyncio

from agents import Agent, Runner
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from kinds import ARGS, CALLS, COMMAND, NAME, TASK, URL


async def main() -> None:
    command = MCPServerStdio(params={"command": COMMAND, "args": ARGS}, name=NAME)
    async with MCPServerStreamableHttp(params={"url": URL}, name=NAME) if URL else command as server:
        agent = Agent(name="caller", instructions="Use the tools.", model="gpt-5", mcp_servers=[server])
        print((await Runner.run(agent, TASK, max_turns=CALLS)).final_output)


asyncio.run(main())
