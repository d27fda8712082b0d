"""Claude Agent SDK: the agent loop of Claude Code, with the tools in this process."""

import asyncio
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool
from emails import TASK, TOOLS, finish, run


def declared(name: str):
    about, schema = TOOLS[name]

    @tool(name, about, schema)
    async def call(arguments):
        return {"content": [{"type": "text", "text": run(name, arguments)}]}

    return call


async def main() -> str | None:
    options = ClaudeAgentOptions(
        model="claude-sonnet-4-5",
        cwd=Path.home(),
        mcp_servers={"emails": create_sdk_mcp_server("emails", tools=[declared(name) for name in TOOLS])},
        allowed_tools=[f"mcp__emails__{name}" for name in TOOLS],
        env={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    )
    text = None
    async for message in query(prompt=TASK, options=options):
        if isinstance(message, ResultMessage):
            text = message.result
    return text


finish(asyncio.run(main()))
