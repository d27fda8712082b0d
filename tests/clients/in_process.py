"""One client's loop, recorded once through the proxy, played back in its own process and through a server.

A pytest session runs in the client's environment, with the plugin and nothing else of ours, and the LLM is gone:

    python -m clients.in_process            every client, each in a separate environment, created if it is missing
    python -m clients.in_process litellm    those whose names begin so
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from turntape.cassettes.routes.base_urls import BASE_URLS
from turntape.proxy.scripted import ScriptedServer

from .catalogue import KEYS, Client, Variant
from .environments import HERE, ROOT, Runtime, Unavailable, built
from .matrix import PATIENCE, QUIET
from .script import script_of

OURS = (
    "pytest",
    "pydantic",
    "orjson",
    "httpx",
    "genai-prices",
    "jsonschema-rs",
    "backports.zstd",
    "uvicorn",
    "httptools",
)
"""What the plugin and the test server need, beside the client."""
PLUGINS = ("-p", "turntape.cassettes.pytest_plugin", "-p", "turntape.inspector.pytest_plugin", "-p", "no:cacheprovider")
ELSEWHERE = {"litellm (proxy)": "the client is a server"}
"""Clients whose requests come from another process, so that they are played back through a server only."""

GONE = "http://127.0.0.1:9"
"""Where nobody listens."""

TESTS = """
import runpy
import subprocess
import sys

import pytest

@pytest.mark.turntape(path={tape!r})
def test_in_process(monkeypatch, turntape_run):
    monkeypatch.setattr(sys, "argv", [{script!r}, *{words!r}.split()])
    monkeypatch.syspath_prepend({folder!r})
    try:
        runpy.run_path({script!r}, run_name="__main__")
    except SystemExit as ended:
        assert not ended.code, ended.code
    assert len(turntape_run.tool_calls) == 6
    assert turntape_run.findings(layer="client", severity="error") == []

@pytest.mark.turntape(path={tape!r})
def test_through_a_server(turntape_environment, turntape_run):
    command = [sys.executable, {script!r}, *{words!r}.split()]
    done = subprocess.run(command, env=turntape_environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(turntape_run.tool_calls) == 6
"""


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one way to use a client; None is well, and else it is why not."""

    in_process: str | None
    through_a_server: str | None


def play(client: Client, variant: Variant, runtime: Runtime, authority: Path) -> Played:
    """Record the loop, and play it back with the LLM gone. Raises RuntimeError when it could not be recorded."""
    with tempfile.TemporaryDirectory(prefix="turntape-client-") as name:
        tape = Path(name) / "run.cassette.jsonl"
        environ = _environ(client, Path(name), authority)
        with ScriptedServer(script_of(client.story)) as server:
            options = ["--quiet", "--out", str(tape), "--route", "base_url", "--upstream", f"*={server.url}"]
            command = [*runtime.command, *variant.words.split()]
            ours = [sys.executable, "-m", "turntape.proxy.cli", "run", *options, "--", *command]
            done = _run(ours, environ, tape.parent)
        if done.returncode:
            raise RuntimeError(f"{client.name} {variant.words} could not be recorded: {done.stderr[-500:]}")
        return play_back(tape, client, variant, runtime, authority)


def play_back(tape: Path, client: Client, variant: Variant, runtime: Runtime, authority: Path) -> Played:
    """Play back what a client recorded on the route by base URL."""
    with tempfile.TemporaryDirectory(prefix="turntape-client-") as name:
        folder = Path(name)
        environ = _environ(client, folder, authority)
        python, script = runtime.command
        text = TESTS.format(tape=str(tape), script=script, words=variant.words, folder=str(HERE / "python"))
        (folder / "test_it.py").write_text(text)
        (folder / "pytest.ini").write_text("[pytest]\n")
        environ["PYTHONPATH"] = os.pathsep.join((str(ROOT / ".typing"), str(_installed(folder))))
        environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

        # Some clients ask otherwise of a host that is not the vendor's own, so they go on seeing such a one.
        environ |= {row.variable: f"{GONE}/{row.upstream}{row.suffix}" for row in BASE_URLS if row.always}

        def session(*tests: str) -> str | None:
            chosen = [f"test_it.py::{test}" for test in tests]
            line = [python, "-m", "pytest", "-q", "--tb=short", *PLUGINS, "--turntape-check", *chosen]
            done = _run(line, environ, folder)
            return None if done.returncode == 0 else (done.stdout + done.stderr)[-3000:]

        other = ELSEWHERE.get(client.name)
        # One session for both is enough where both pass.
        if other is None and session("test_in_process", "test_through_a_server") is None:
            return Played(None, None)
        return Played(other or session("test_in_process"), session("test_through_a_server"))


def _installed(folder: Path) -> Path:
    """A folder that says what is installed with turntape: without its entry points no protocol is known."""
    place = folder / "installed" / "turntape-0.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: turntape\nVersion: 0\n")
    (place / "entry_points.txt").write_text(distribution("turntape").read_text("entry_points.txt") or "")
    return place.parent


def _environ(client: Client, folder: Path, authority: Path) -> dict[str, str]:
    """A bare environment, with a home that is empty."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    home = {"HOME": str(folder), "TMPDIR": str(folder), "TURNTAPE_HOME": str(authority)}
    return {**kept, **home, **QUIET, **KEYS, **client.environ}


def _run(command: list[str], environ: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, env=dict(environ), cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"it had not ended after {PATIENCE} s")


def _table(names: list[str]) -> Iterator[str]:
    from .catalogue import CLIENTS

    with tempfile.TemporaryDirectory(prefix="turntape-authority-") as authority:
        for client in CLIENTS:
            if not client.script.endswith(".py") or (names and not client.name.startswith(tuple(names))):
                continue
            try:
                runtime = built(client.script, (*client.packages, *OURS))
            except Unavailable as exc:
                yield f"{client.name}: skipped, {exc}"
                continue
            for variant in client.variants:
                try:
                    done = play(client, variant, runtime, Path(authority))
                except RuntimeError as exc:
                    yield str(exc)
                    continue
                said = (f"in process: {done.in_process or 'ok'}", f"through a server: {done.through_a_server or 'ok'}")
                yield f"{client.name} {runtime.version} {variant.words}: {'; '.join(said)}"


if __name__ == "__main__":
    for line in _table(sys.argv[1:]):
        print(line, flush=True)
