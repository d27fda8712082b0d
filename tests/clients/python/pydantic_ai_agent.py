"""pydantic-ai on the models of several vendors, streamed and not."""

import asyncio

from emails import SYSTEM, TASK, finish, generate_email, send_email, variant
from pydantic_ai import Agent

ASKED = variant()
MODELS = {
    "openai": "openai-chat:gpt-5",
    "responses": "openai-responses:gpt-5",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "google": "google:gemini-2.5-pro",
}
model = next(MODELS[word] for word in MODELS if word in ASKED)
agent = Agent(model, instructions=SYSTEM, tools=[generate_email, send_email])


async def read(_context, events) -> None:
    async for _ in events:
        pass


async def main() -> str:
    # run_stream takes the first text for the end of the run; a handler sees every turn.
    handler = read if "streamed" in ASKED else None
    return (await agent.run(TASK, event_stream_handler=handler)).output


finish(asyncio.run(main()))
