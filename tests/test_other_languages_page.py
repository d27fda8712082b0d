"""docs/other-languages.md is run as it is, with the test runner of each language that is on this machine."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from clients.environments import Unavailable, built, is_built

from turntape.cassettes import Cassette
from turntape.proxy.scripted.server import ScriptedServer

PAGE = (Path(__file__).parent.parent / "docs" / "other-languages.md").read_text()
FILES = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
PACKAGES = ("vitest@latest", "openai@latest", "ai@latest", "@ai-sdk/openai@latest", "node@24")
TURNTAPE = [sys.executable, "-m", "turntape.proxy.cli"]
ASKED, CHANGED = "Write to my prospects.", "Write to my friends."
SENTENCE = rf'was \\?"{ASKED}\\?" and is \\?"{CHANGED}'


def run(command: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    bin_folder = str(Path(sys.executable).parent)
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_BASE_URL")}
    environ = {**kept, "PATH": f"{more.pop('first', '')}{bin_folder}:{os.environ['PATH']}", "NO_COLOR": "1", **more}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "command"), [("test_agent.rb", "ruby test_agent.rb"), ("agent_test.go", "go test -count=1 agent_test.go")]
)
def test_around_a_command(name: str, command: str, tmp_path: Path) -> None:
    words = command.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not on this machine")
    (tmp_path / name).write_text(FILES[name])
    ours = [*TURNTAPE, "run", "-o"]
    with ScriptedServer() as server:
        place = ["suite.cassette.jsonl", "--upstream", f"openai={server.url}", "--", *words]
        assert run([*ours, *place], tmp_path, OPENAI_API_KEY="k").returncode == 0
        asked = len(server.requests)
    played = ["--replay", "suite.cassette.jsonl", "--", *words]

    assert run([*ours, "one.cassette.jsonl", *played], tmp_path).returncode == 0
    (tmp_path / name).write_text(FILES[name].replace(ASKED, CHANGED))
    changed = run([*ours, "two.cassette.jsonl", *played], tmp_path)

    assert asked == 1
    assert changed.returncode != 0
    assert re.search(SENTENCE, changed.stdout + changed.stderr)


def test_vitest(tmp_path: Path) -> None:
    if not (is_built("node/openai_agent.mjs", PACKAGES) or os.environ.get("VITEST_PAGE")):
        pytest.skip("vitest is not installed; VITEST_PAGE=1 installs it in .clients/")
    try:
        runtime = built("node/openai_agent.mjs", PACKAGES)
    except Unavailable as exc:
        pytest.skip(str(exc))
    assert runtime.folder is not None
    modules = runtime.folder / "node_modules"
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "package.json").write_text(json.dumps({"type": "module"}))
    for name in ("vitest.config.mjs", "turntape.mjs", "agent.test.mjs"):
        (tmp_path / name).write_text(FILES[name])
    vitest, first = [str(modules / ".bin" / "vitest"), "run"], f"{modules / '.bin'}:"
    with ScriptedServer() as server:
        live = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        recorded = run(vitest, tmp_path, first=first, TURNTAPE="record", **live)
        assert recorded.returncode == 0, recorded.stdout + recorded.stderr

    replayed = run(vitest, tmp_path, first=first)
    (tmp_path / "agent.test.mjs").write_text(FILES["agent.test.mjs"].replace(ASKED, CHANGED))
    changed = run(vitest, tmp_path, first=first)

    assert len(Cassette.load(tmp_path / "cassettes" / "suite.cassette.jsonl")) == 3
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert changed.returncode == 1
    assert "2 failed" in changed.stdout
    shown = re.findall("(?:Error: 400|AI_APICallError:) no recorded round trip", changed.stderr)
    assert len(shown) == 2
    assert re.search(SENTENCE, changed.stderr)


def test_the_page_names_the_files_that_it_shows() -> None:
    assert set(FILES) == {"vitest.config.mjs", "turntape.mjs", "agent.test.mjs", "agent_test.go", "test_agent.rb"}
