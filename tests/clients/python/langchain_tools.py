"""LangChain's MCP adapters with a tool server."""

import asyncio

from kinds import ARGS, CALLS, COMMAND, NAME, TASK, URL
from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient


async def main() -> None:
    command = {"transport": "stdio", "command": COMMAND, "args": ARGS}
    client = MultiServerMCPClient({NAME: {"transport": "streamable_http", "url": URL} if URL else command})
    agent = create_agent("openai:gpt-5", await client.get_tools(), system_prompt="Use the tools.")
    asked = {"messages": [{"role": "user", "content": TASK}]}
    result = await agent.ainvoke(asked, {"recursion_limit": 3 * CALLS})
    print(result["messages"][-1].text)


asyncio.run(main())
