"""A user's project for a separate pytest session, and the helpers of its tests."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anthropic
import certifi
import httpcore
import httpcore2
import httpx
import httpx2
import openai
import openai.resources.chat
import openai.resources.responses
import pytest
import xdist.looponfail
import xdist.plugin

import turntape.cassettes.pytest_plugin.usage_log
import turntape.cassettes.transports.relay
import turntape.inspector.pytest_plugin.agent_run
import turntape.inspector.run.labels
from turntape.inspector.analysis.price_list import price_list
from turntape.proxy.scripted.server import ScriptedServer

KEPT = (anthropic, httpcore, httpcore2, httpx, httpx2, openai, turntape.cassettes, turntape.inspector)
"""A pytest inside a test removes from `sys.modules` what it imported itself. What is slow to import is imported here
and stays. So does httpcore: a second copy of it would raise errors that httpx does not know."""
price_list()  # so does what the prices import on their first use

_END = "-----END CERTIFICATE-----\n"

AGENT = """
import asyncio, json, os, subprocess, sys
import httpx, httpx2, pytest

# A process that needs no SDK does not wait for one.
def OpenAI(**settings):
    import openai
    return openai.OpenAI(**settings)

def AsyncOpenAI(**settings):
    import openai
    return openai.AsyncOpenAI(**settings)

def Anthropic(**settings):
    import anthropic
    return anthropic.Anthropic(**settings)

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

def post(word="hi"):
    # What `ask` sends, without an SDK: a process starts in a third of the time.
    url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions"
    signed = {"accept": "application/json", "authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "none")}
    sent = {"model": "gpt-5", "messages": [{"role": "user", "content": word}]}
    return httpx.post(url, json=sent, headers=signed).raise_for_status().json()["choices"][0]["message"]["content"]
"""

LOADED = (turntape.cassettes.pytest_plugin, turntape.inspector.pytest_plugin, xdist.plugin, xdist.looponfail)
"""What a session in a project loads. As modules, and not by asking every installed package for plugins (which a name in
the environment does, too), it starts much faster. Other tests load the plugin as an installed one."""

UNUSED = ("textual-snapshot", "syrupy", "inline_snapshot", "hypothesispytest", "timeout", "cassetter", "recording",
          "rerunfailures", "anyio")  # fmt: skip
"""Plugins of this environment that a user's project does not need. They take most of the time of a session, or play
answers themselves."""


def write(project: pytest.Pytester, text: str, name: str = "test_it") -> None:
    project.makepyfile(**{name: f"from agent_code import *\n{text}"})


def taken_away(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> int:
    """No upstream, no key and no variable any more; how many requests there were."""
    count = len(server.requests)
    server.stop()
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name)
    return count


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def one_authority(folder: Path) -> str:
    """A file with one certificate. Each client of an SDK reads all it finds, which takes longer than its requests."""
    path = folder / "one-authority.pem"
    if not path.exists():
        first, end, _ = Path(certifi.where()).read_text().partition(_END)
        path.write_text(first + end)
    return str(path)


@pytest.fixture
def project(
    pytester: pytest.Pytester,
    server: ScriptedServer,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> pytest.Pytester:
    """A user's project, whose clients find the scripted LLM by the environment."""
    monkeypatch.setenv("SSL_CERT_FILE", one_authority(tmp_path_factory.getbasetemp()))
    for name in ("CI", "TURNTAPE_MODE", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(pytester, "inline_run", partial(pytester.inline_run, plugins=LOADED))
    # Other processes get the names. A worker of xdist has imported some of them already, and pytest would warn that it
    # cannot rewrite their assertions.
    monkeypatch.setenv("PYTEST_PLUGINS", ",".join(plugin.__name__ for plugin in LOADED))
    monkeypatch.setenv("PYTEST_ADDOPTS", "-W ignore::pytest.PytestAssertRewriteWarning")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefghijklmnopqrstuvwxyz0123")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    pytester.makepyfile(agent_code=AGENT)
    pytester.syspathinsert()
    return pytester
