"""LlamaIndex: a FunctionAgent on Chat Completions and Responses, streamed (its default) and not."""

import asyncio

from emails import SYSTEM, TASK, finish, generate_email, send_email, variant
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI, OpenAIResponses

ASKED = variant()
agent = FunctionAgent(
    tools=[FunctionTool.from_defaults(generate_email), FunctionTool.from_defaults(send_email)],
    llm=(OpenAIResponses if "responses" in ASKED else OpenAI)(model="gpt-5"),
    system_prompt=SYSTEM,
    streaming="streamed" in ASKED,
)


async def main() -> str:
    return str(await agent.run(TASK))


finish(asyncio.run(main()))
