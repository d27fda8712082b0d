"""OpenAI Agents SDK with a tool server over stdio."""

import asyncio

from agents import Agent, Runner
from agents.mcp import MCPServerStdio
from kinds import ARGS, CALLS, COMMAND, TASK


async def main() -> None:
    async with MCPServerStdio(params={"command": COMMAND, "args": ARGS}, name="kinds") as server:
        agent = Agent(name="caller", instructions="Use the tools.", model="gpt-5", mcp_servers=[server])
        print((await Runner.run(agent, TASK, max_turns=CALLS)).final_output)


asyncio.run(main())
