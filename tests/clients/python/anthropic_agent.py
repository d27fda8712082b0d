"""The anthropic SDK: Messages, sync and async, streamed and not; and its tool runner, whose state the API holds."""

import asyncio

import anthropic
from emails import SYSTEM, TASK, TOOLS, TURNS, finish, generate_email, run, send_email, variant

ASKED = variant()
STREAMED = "streamed" in ASKED
DECLARED = [{"name": n, "description": d, "input_schema": p} for n, (d, p) in TOOLS.items()]
messages = [{"role": "user", "content": TASK}]
request = {"model": "claude-sonnet-4-5", "max_tokens": 1000, "system": SYSTEM, "tools": DECLARED, "messages": messages}


def take(answer) -> str | None:
    calls = [block for block in answer.content if block.type == "tool_use"]
    if not calls:
        return "".join(block.text for block in answer.content)
    messages.append({"role": "assistant", "content": answer.content})
    results = [{"type": "tool_result", "tool_use_id": c.id, "content": run(c.name, c.input)} for c in calls]
    messages.append({"role": "user", "content": results})
    return None


def ask(client) -> str | None:
    if not STREAMED:
        return take(client.messages.create(**request))
    with client.messages.stream(**request) as stream:
        return take(stream.get_final_message())


async def main() -> str | None:
    async with anthropic.AsyncAnthropic() as client:
        for _ in TURNS:
            if STREAMED:
                async with client.messages.stream(**request) as stream:
                    text = take(await stream.get_final_message())
            else:
                text = take(await client.messages.create(**request))
            if text is not None:
                return text
    return None


def runner() -> str:
    tools = [anthropic.beta_tool(generate_email), anthropic.beta_tool(send_email)]
    turns = anthropic.Anthropic().beta.messages.tool_runner(**{**request, "tools": tools}, stream=STREAMED)
    return "".join(block.text for block in turns.until_done().content)


if "runner" in ASKED:
    finish(runner())
elif "async" in ASKED:
    finish(asyncio.run(main()))
else:
    client = anthropic.Anthropic()
    finish(next((text for _ in TURNS if (text := ask(client)) is not None), None))
