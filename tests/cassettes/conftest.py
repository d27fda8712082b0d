from collections.abc import Iterator

import httpcore
import httpcore2
import pytest
from plugin_project import AGENT

from turntape.proxy.scripted.server import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def project(pytester: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A user's project, whose clients find the scripted LLM by the environment."""
    for name in ("CI", "TURNTAPE_MODE", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    # It writes its report from a folder that a session within the session has taken away.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:textual-snapshot")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefghijklmnopqrstuvwxyz0123")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    pytester.makepyfile(agent_code=AGENT)
    pytester.syspathinsert()
    return pytester


LOADED = (httpcore, httpcore2)
"""httpx loads these when it first sends. A pytest inside a test takes out of `sys.modules` what came in with it, and
a second copy of them would raise errors that httpx does not know."""
