"""Strands Agents on OpenAI, Anthropic and Bedrock models: always streamed, except Bedrock on request."""

from emails import SYSTEM, TASK, finish, generate_email, send_email, variant
from strands import Agent, tool

ASKED = variant()
if "openai" in ASKED:
    from strands.models.openai import OpenAIModel

    model = OpenAIModel(model_id="gpt-5")
elif "anthropic" in ASKED:
    from strands.models.anthropic import AnthropicModel

    model = AnthropicModel(model_id="claude-sonnet-4-5", max_tokens=1000)
else:
    from strands.models import BedrockModel

    model = BedrockModel(model_id="anthropic.claude-3-haiku-20240307-v1:0", streaming="streamed" in ASKED)
agent = Agent(model=model, system_prompt=SYSTEM, tools=[tool(generate_email), tool(send_email)], callback_handler=None)
finish(str(agent(TASK)))
