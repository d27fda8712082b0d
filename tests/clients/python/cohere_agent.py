"""cohere: v2 chat, streamed and not."""

import json

import cohere
from emails import SYSTEM, TASK, TURNS, finish, functions, run, variant

client = cohere.ClientV2()
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]
request = {"model": "command-a-03-2025", "messages": messages, "tools": functions()}


def ask():
    """The text and the calls of an answer."""
    if "streamed" not in variant():
        message = client.chat(**request).message
        return "".join(part.text for part in message.content or []), list(message.tool_calls or [])
    text, calls = "", []
    for event in client.chat_stream(**request):
        if event.type == "content-delta":
            text += event.delta.message.content.text
        elif event.type == "tool-call-start":
            calls.append(event.delta.message.tool_calls)
        elif event.type == "tool-call-delta":
            calls[-1].function.arguments += event.delta.message.tool_calls.function.arguments
    return text, calls


answer = None
for _ in TURNS:
    text, calls = ask()
    if not calls:
        answer = text
        break
    messages.append({"role": "assistant", "tool_plan": "one by one", "tool_calls": [c.model_dump() for c in calls]})
    for call in calls:
        result = run(call.function.name, json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
finish(answer)
