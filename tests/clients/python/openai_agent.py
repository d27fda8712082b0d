"""The openai SDK: Chat Completions and Responses, sync and async, streamed and not."""

import asyncio
import json

import openai
from emails import SYSTEM, TASK, TOOLS, TURNS, finish, functions, run, variant

ASKED = variant()
STREAMED = "streamed" in ASKED
FLAT = [{"type": "function", "name": n, "description": d, "parameters": p} for n, (d, p) in TOOLS.items()]


class Chat:
    def __init__(self) -> None:
        self.messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]

    @property
    def request(self):
        return {"model": "gpt-5", "messages": self.messages, "tools": functions()}

    def take(self, message) -> str | None:
        if not message.tool_calls:
            return message.content
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in message.tool_calls
        ]
        self.messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        for call in calls:
            result = run(call["function"]["name"], json.loads(call["function"]["arguments"]))
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        return None

    def sync(self, client) -> str | None:
        if not STREAMED:
            return self.take(client.chat.completions.create(**self.request).choices[0].message)
        with client.chat.completions.stream(**self.request) as stream:
            return self.take(stream.get_final_completion().choices[0].message)

    async def asynchronous(self, client) -> str | None:
        if not STREAMED:
            return self.take((await client.chat.completions.create(**self.request)).choices[0].message)
        async with client.chat.completions.stream(**self.request) as stream:
            return self.take((await stream.get_final_completion()).choices[0].message)


class Responses:
    """The server holds the conversation: each request names the answer before."""

    def __init__(self) -> None:
        self.request = {"model": "gpt-5", "instructions": SYSTEM, "input": TASK, "tools": FLAT}

    def take(self, answer) -> str | None:
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return answer.output_text
        outputs = [
            {"type": "function_call_output", "call_id": c.call_id, "output": run(c.name, json.loads(c.arguments))}
            for c in calls
        ]
        self.request |= {"input": outputs, "previous_response_id": answer.id}
        return None

    def sync(self, client) -> str | None:
        if not STREAMED:
            return self.take(client.responses.create(**self.request))
        with client.responses.stream(**self.request) as stream:
            return self.take(stream.get_final_response())

    async def asynchronous(self, client) -> str | None:
        if not STREAMED:
            return self.take(await client.responses.create(**self.request))
        async with client.responses.stream(**self.request) as stream:
            return self.take(await stream.get_final_response())


loop = Responses() if "responses" in ASKED else Chat()


async def main() -> str | None:
    async with openai.AsyncOpenAI() as client:
        for _ in TURNS:
            if (text := await loop.asynchronous(client)) is not None:
                return text
    return None


if "async" in ASKED:
    finish(asyncio.run(main()))
else:
    client = openai.OpenAI()
    finish(next((text for _ in TURNS if (text := loop.sync(client)) is not None), None))
