"""Semantic Kernel: a ChatCompletionAgent on Chat Completions, streamed and not."""

import asyncio

from emails import SYSTEM, TASK, finish, generate_email, send_email, variant
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import kernel_function


class Emails:
    @kernel_function(name="generate_email", description="Draft a sales email to a company.")
    def generate_email(self, company: str, tone: str) -> str:
        return generate_email(company, tone)

    @kernel_function(name="send_email", description="Send a draft.")
    def send_email(self, to: str, subject: str, draft: int) -> str:
        return send_email(to, subject, draft)


agent = ChatCompletionAgent(
    service=OpenAIChatCompletion(ai_model_id="gpt-5"), name="sales", instructions=SYSTEM, plugins=[Emails()]
)


async def main() -> str:
    if "streamed" not in variant():
        return str(await agent.get_response(messages=TASK))
    return "".join([str(part.content) async for part in agent.invoke_stream(messages=TASK)])


finish(asyncio.run(main()))
