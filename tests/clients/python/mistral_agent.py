"""mistralai: chat, sync and async, streamed and not."""

import asyncio
import json
import os

from emails import SYSTEM, TASK, TURNS, finish, functions, run, variant
from mistralai.client import Mistral

ASKED = variant()
STREAMED = "streamed" in ASKED
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]
request = {"model": "mistral-large-latest", "messages": messages, "tools": functions()}
# The one route that its environment cannot name: a user gives our address as the argument.
OURS = os.environ.get("OPENAI_BASE_URL", "").removesuffix("/openai/v1")
client = Mistral(api_key="scripted", server_url=f"{OURS}/mistral" if OURS else None)


def take(parts) -> str | None:
    calls = [call for part in parts for call in part.tool_calls or []]
    text = "".join(part.content or "" for part in parts)
    if not calls:
        return text
    messages.append({"role": "assistant", "content": text, "tool_calls": [c.model_dump() for c in calls]})
    for call in calls:
        arguments = call.function.arguments
        result = run(call.function.name, json.loads(arguments) if isinstance(arguments, str) else arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "name": call.function.name, "content": result})
    return None


def ask() -> str | None:
    if STREAMED:
        return take([event.data.choices[0].delta for event in client.chat.stream(**request)])
    return take([client.chat.complete(**request).choices[0].message])


async def main() -> str | None:
    for _ in TURNS:
        if STREAMED:
            stream = await client.chat.stream_async(**request)
            text = take([event.data.choices[0].delta async for event in stream])
        else:
            text = take([(await client.chat.complete_async(**request)).choices[0].message])
        if text is not None:
            return text
    return None


if "async" in ASKED:
    finish(asyncio.run(main()))
else:
    finish(next((text for _ in TURNS if (text := ask()) is not None), None))
