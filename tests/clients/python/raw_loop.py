"""A loop over Chat Completions without an SDK. The caller gives it a function that sends a request."""

import json
import os

from emails import SYSTEM, TASK, TURNS, finish, functions, run, variant

URL = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions"
HEADERS = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
STREAMED = "streamed" in variant()
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]


def body():
    return {"model": "gpt-5", "messages": messages, "tools": functions(), "stream": STREAMED}


def joined(lines):
    """The message that the events of a stream add up to."""
    text, calls = "", {}
    for line in lines:
        if not line.startswith("data: ") or line.strip() == "data: [DONE]":
            continue
        for choice in json.loads(line[6:])["choices"]:
            text += choice["delta"].get("content") or ""
            for part in choice["delta"].get("tool_calls") or []:
                call = calls.setdefault(part["index"], {"type": "function", "function": {"name": "", "arguments": ""}})
                if part.get("id"):
                    call["id"] = part["id"]
                call["function"]["name"] += part["function"].get("name") or ""
                call["function"]["arguments"] += part["function"].get("arguments") or ""
    return {"role": "assistant", "content": text or None, **({"tool_calls": list(calls.values())} if calls else {})}


def take(message) -> str | None:
    """The next step: None when the loop continues."""
    messages.append(message)
    if not message.get("tool_calls"):
        return message["content"]
    for call in message["tool_calls"]:
        result = run(call["function"]["name"], json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return None


def talk(ask) -> None:
    finish(next((text for _ in TURNS if (text := take(ask())) is not None), None))
