"""litellm as a library, on several vendors' models, streamed and not."""

import json

import litellm
from emails import SYSTEM, TASK, TURNS, finish, functions, run, variant

ASKED = variant()
MODELS = {
    "openai": "openai/gpt-5",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-2.5-pro",
    "bedrock": "bedrock/converse/anthropic.claude-3-haiku-20240307-v1:0",
}
model = next(MODELS[word] for word in MODELS if word in ASKED)
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]


def ask():
    request = {"model": model, "messages": messages, "tools": functions()}
    if "streamed" not in ASKED:
        return litellm.completion(**request).choices[0].message
    chunks = list(litellm.completion(**request, stream=True))
    return litellm.stream_chunk_builder(chunks, messages=messages).choices[0].message


text = None
for _ in TURNS:
    answer = ask()
    if not answer.tool_calls:
        text = answer.content
        break
    messages.append(answer.model_dump(exclude_none=True))
    for call in answer.tool_calls:
        result = run(call.function.name, json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "name": call.function.name, "content": result})
finish(text)
