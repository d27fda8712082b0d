"""google-genai: generateContent, sync and async, streamed and not."""

import asyncio

from emails import SYSTEM, TASK, TOOLS, TURNS, finish, run, variant
from google import genai
from google.genai import types

ASKED = variant()
STREAMED = "streamed" in ASKED
DECLARED = [types.FunctionDeclaration(name=n, description=d, parameters_json_schema=p) for n, (d, p) in TOOLS.items()]
history = [types.Content(role="user", parts=[types.Part(text=TASK)])]
request = {
    "model": "gemini-2.5-pro",
    "contents": history,
    "config": types.GenerateContentConfig(
        system_instruction=SYSTEM,
        tools=[types.Tool(function_declarations=DECLARED)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    ),
}


def take(chunks) -> str | None:
    parts = [p for c in chunks for p in c.candidates[0].content.parts or [] if p.text or p.function_call]
    calls = [part.function_call for part in parts if part.function_call]
    if not calls:
        return "".join(part.text for part in parts)
    history.append(types.Content(role="model", parts=parts))
    results = [types.FunctionResponse(id=c.id, name=c.name, response={"output": run(c.name, c.args)}) for c in calls]
    history.append(types.Content(role="user", parts=[types.Part(function_response=r) for r in results]))
    return None


client = genai.Client()


def ask() -> str | None:
    if STREAMED:
        return take(list(client.models.generate_content_stream(**request)))
    return take([client.models.generate_content(**request)])


async def main() -> str | None:
    for _ in TURNS:
        if STREAMED:
            text = take([chunk async for chunk in await client.aio.models.generate_content_stream(**request)])
        else:
            text = take([await client.aio.models.generate_content(**request)])
        if text is not None:
            return text
    return None


if "async" in ASKED:
    finish(asyncio.run(main()))
else:
    finish(next((text for _ in TURNS if (text := ask()) is not None), None))
