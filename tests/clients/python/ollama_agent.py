"""ollama: chat, streamed and not."""

import ollama
from emails import SYSTEM, TASK, TURNS, finish, functions, run, variant

client = ollama.Client()
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]
request = {"model": "llama3.2", "messages": messages, "tools": functions()}
answer = None
for _ in TURNS:
    parts = list(client.chat(**request, stream=True)) if "streamed" in variant() else [client.chat(**request)]
    calls = [call for part in parts for call in part.message.tool_calls or []]
    text = "".join(part.message.content or "" for part in parts)
    if not calls:
        answer = text
        break
    messages.append({"role": "assistant", "content": text, "tool_calls": [c.model_dump() for c in calls]})
    for call in calls:
        result = run(call.function.name, dict(call.function.arguments))
        messages.append({"role": "tool", "tool_name": call.function.name, "content": result})
finish(answer)
