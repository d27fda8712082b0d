"""pydantic-ai with a tool server."""

import asyncio

from fastmcp.client.transports import StdioTransport
from kinds import ARGS, COMMAND, TASK, URL
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset


async def main() -> None:
    toolset = MCPToolset(URL or StdioTransport(command=COMMAND, args=ARGS), init_timeout=60)
    agent = Agent("openai-responses:gpt-5", instructions="Use the tools.", toolsets=[toolset])
    async with agent:
        print((await agent.run(TASK)).output)


asyncio.run(main())
