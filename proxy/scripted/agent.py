"""A small agent on plain httpx: it drafts sales emails with one tool and sends one with another.

    OPENAI_BASE_URL=… python -m turntape.proxy.scripted.agent [--lose-a-result]

It does not know turntape: a user's own loop looks like this. With `--lose-a-result` it has a common bug: of three
results it sends back two.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

MODEL = "gpt-5"
TURNS = 10
TASK = "Draft emails to five companies, choose the best one, and send it."
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "generate_email",
            "description": "Draft a sales email to a company and return its number.",
            "parameters": {
                "type": "object",
                "properties": {
                    "company": {"type": "string", "description": "Whom to write to."},
                    "tone": {"type": "string", "enum": ["formal", "friendly", "short", "playful"]},
                },
                "required": ["company", "tone"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "send_email",
            "description": "Send a draft.",
            "parameters": {
                "type": "object",
                "properties": {
                    "to": {"type": "string"},
                    "subject": {"type": "string"},
                    "draft": {"type": "integer", "description": "The number of the draft."},
                },
                "required": ["to", "subject", "draft"],
            },
        },
    },
]


class Tools:
    """What the agent can do; the drafts are numbered in order."""

    def __init__(self) -> None:
        self.drafts: list[str] = []

    def run(self, name: str, arguments: dict[str, object]) -> str:
        if name == "generate_email":
            self.drafts.append(f"Dear {arguments['company']}, …")
            return f"draft {len(self.drafts)}: a {arguments['tone']} email to {arguments['company']}"
        if name == "send_email":
            return f"sent draft {arguments['draft']} to {arguments['to']}"
        return f"error: there is no tool {name}"


type Json = Any  # what json.loads returns; this loop is as plain as those of real agents


def answer_of(lines: Iterator[str]) -> dict[str, object]:
    """The assistant's message, joined from the events of a stream."""
    text, calls = "", dict[int, dict[str, str]]()
    for line in lines:
        if not line.startswith("data: ") or line == "data: [DONE]":
            continue
        event: Json = json.loads(line[6:])
        for choice in event["choices"]:
            delta: Json = choice["delta"]
            text += delta.get("content") or ""
            parts: list[Json] = delta.get("tool_calls") or []
            for part in parts:
                call = calls.setdefault(part["index"], {"id": "", "name": "", "arguments": ""})
                call["id"] += part.get("id") or ""
                call["name"] += part["function"].get("name") or ""
                call["arguments"] += part["function"].get("arguments") or ""
    message: dict[str, object] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}}
            for _, c in sorted(calls.items())
        ]
    return message


def main() -> int:
    import httpx

    base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
    key = os.environ.get("OPENAI_API_KEY") or "none"  # "Bearer " with nothing after it is not a valid header
    tools, lose = Tools(), "--lose-a-result" in sys.argv[1:]
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "You are a sales assistant. Use the tools; be brief."},
        {"role": "user", "content": TASK},
    ]
    print(f"agent: {TASK}")  # noqa: T201
    with httpx.Client(headers={"authorization": f"Bearer {key}"}, timeout=30) as client:
        for _ in range(TURNS):
            body = {
                "model": MODEL,
                "messages": messages,
                "tools": TOOLS,
                "stream": True,
                "stream_options": {"include_usage": True},
            }
            with client.stream("POST", f"{base}/chat/completions", json=body) as response:
                response.raise_for_status()
                message = answer_of(response.iter_lines())
            messages.append(message)
            calls: Json = message.get("tool_calls")
            if not calls:
                print(f"agent: done. {message['content']}")  # noqa: T201
                return 0
            for call in calls:
                name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
                result = tools.run(name, arguments)
                print(f"agent: {name} → {result}")  # noqa: T201
                if not (lose and len(calls) == 3 and call is calls[1]):
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    print(f"agent: gave up after {TURNS} turns")  # noqa: T201
    return 1


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a demo without a traceback
    sys.exit(main())
