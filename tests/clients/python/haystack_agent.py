"""Haystack: an Agent on Chat Completions and Responses, streamed and not."""

from emails import SYSTEM, TASK, finish, generate_email, send_email, variant
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function

ASKED = variant()
agent = Agent(
    chat_generator=(OpenAIResponsesChatGenerator if "responses" in ASKED else OpenAIChatGenerator)(model="gpt-5"),
    tools=[create_tool_from_function(generate_email), create_tool_from_function(send_email)],
    system_prompt=SYSTEM,
    streaming_callback=(lambda _chunk: None) if "streamed" in ASKED else None,
)
finish(agent.run(messages=[ChatMessage.from_user(TASK)])["messages"][-1].text)
