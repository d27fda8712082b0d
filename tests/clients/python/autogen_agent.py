"""AutoGen AgentChat: an AssistantAgent on Chat Completions, streamed and not."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from emails import SYSTEM, TASK, TURNS, finish, generate_email, send_email, variant


async def main() -> str:
    client = OpenAIChatCompletionClient(
        model="gpt-5",
        model_info={
            "function_calling": True,
            "json_output": True,
            "structured_output": True,
            "vision": True,
            "family": "gpt-5",
        },
    )
    agent = AssistantAgent(
        "sales",
        client,
        tools=[generate_email, send_email],
        system_message=SYSTEM,
        max_tool_iterations=len(TURNS),
        model_client_stream="streamed" in variant(),
    )
    result = await agent.run(task=TASK)
    await client.close()
    return result.messages[-1].content


finish(asyncio.run(main()))
