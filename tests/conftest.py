"""Settings and fixtures for all tests. No generated test depends on the speed of the machine."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from turntape.proxy.scripted.server import ScriptedServer

settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")


@pytest.fixture
def server() -> "Iterator[ScriptedServer]":
    from turntape.proxy.scripted.server import ScriptedServer

    with ScriptedServer() as running:
        yield running


@pytest.fixture
def project(pytester: pytest.Pytester, server: "ScriptedServer", monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A user's project, whose clients find the scripted LLM by the environment.

    httpx imports httpcore when it first sends. A pytest inside a test removes from `sys.modules` what it imported, and
    a second copy of httpcore would raise errors that httpx does not know. So both are imported here.
    """
    import httpcore  # noqa: F401
    import httpcore2  # noqa: F401
    from plugin_project import AGENT

    for name in ("CI", "TURNTAPE_MODE", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    # That plugin writes its report from a folder that the inner session has removed.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:textual-snapshot")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefghijklmnopqrstuvwxyz0123")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    pytester.makepyfile(agent_code=AGENT)
    pytester.syspathinsert()
    return pytester
