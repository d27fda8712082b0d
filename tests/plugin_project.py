"""A user's project for a pytest session of its own, and what its tests have in common."""

import anthropic
import httpx
import httpx2
import openai
import pytest

import turntape.cassettes.pytest_plugin.usage_log
import turntape.cassettes.transports.relay
import turntape.inspector.pytest_plugin.agent_run
import turntape.inspector.run.labels
from turntape.proxy.scripted.server import ScriptedServer

# A session within this process drops what it was the first to import; what is slow to import stays, being here.
KEPT = (anthropic, httpx, httpx2, openai, turntape.cassettes, turntape.inspector)

AGENT = """
import asyncio, json, os, subprocess, sys
import httpx, httpx2, pytest
from anthropic import Anthropic
from openai import AsyncOpenAI, OpenAI

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("generate_email", "send_email")
]

def agent(asked="Write to my prospects.", turns=9):
    client = OpenAI(max_retries=0)
    messages = [{"role": "user", "content": asked}]
    for _ in range(turns):
        said = client.chat.completions.create(model="gpt-5", messages=messages, tools=TOOLS).choices[0].message
        messages.append(said.model_dump(exclude_none=True))
        for call in said.tool_calls or ():
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "done"})
        if not said.tool_calls:
            return said.content

def ask(word="hi"):
    return OpenAI(max_retries=0).chat.completions.create(
        model="gpt-5", messages=[{"role": "user", "content": word}]
    ).choices[0].message.content
"""


def write(project: pytest.Pytester, text: str, name: str = "test_it") -> None:
    project.makepyfile(**{name: f"from agent_code import *\n{text}"})


def taken_away(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> int:
    """No upstream, no key and no variable any more; how many requests there were."""
    count = len(server.requests)
    server.stop()
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name)
    return count
