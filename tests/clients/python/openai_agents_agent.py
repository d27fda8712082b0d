"""OpenAI Agents SDK: Responses (its default) and Chat Completions, streamed and not."""

import asyncio

from agents import Agent, Runner, function_tool, set_default_openai_api
from emails import SYSTEM, TASK, finish, generate_email, send_email, variant

ASKED = variant()
if "chat" in ASKED:
    set_default_openai_api("chat_completions")
agent = Agent(
    name="sales",
    instructions=SYSTEM,
    model="gpt-5",
    tools=[function_tool(generate_email), function_tool(send_email)],
)


async def main() -> str:
    if "streamed" not in ASKED:
        return (await Runner.run(agent, TASK)).final_output
    result = Runner.run_streamed(agent, TASK)
    async for _ in result.stream_events():
        pass
    return result.final_output


finish(asyncio.run(main()))
