"""Google ADK: an LlmAgent on Gemini, streamed and not."""

import asyncio

from emails import SYSTEM, TASK, finish, generate_email, send_email, variant
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.runners import InMemoryRunner
from google.genai import types

agent = LlmAgent(name="sales", model="gemini-2.5-pro", instruction=SYSTEM, tools=[generate_email, send_email])


async def main() -> str:
    runner = InMemoryRunner(agent, app_name="emails")
    session = await runner.session_service.create_session(app_name="emails", user_id="me")
    mode = StreamingMode.SSE if "streamed" in variant() else StreamingMode.NONE
    text = ""
    async for event in runner.run_async(
        user_id="me",
        session_id=session.id,
        new_message=types.Content(role="user", parts=[types.Part(text=TASK)]),
        run_config=RunConfig(streaming_mode=mode),
    ):
        if event.is_final_response() and event.content:
            text = "".join(part.text or "" for part in event.content.parts)
    return text


finish(asyncio.run(main()))
