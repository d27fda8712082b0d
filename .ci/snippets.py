"""Type-checks the Python examples of README.md and docs/ with pyright and with mypy, both strict.

    python .ci/snippets.py

The examples of one page are one module. One that names its file (```` ```python agent.py ````) is a module that the
others of the page can import. `GIVEN` has the names that a page has from its prose.
"""

import json
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^( *)```python ?([^\n]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
RUN_AGENT = "def run_agent(task: str) -> None: ...\n"
ASYNC_AGENT = "import asyncio\nasync def agent() -> None: ...\n"
GIVEN = {
    "README.md": RUN_AGENT,
    "tutorial.md": RUN_AGENT,
    "mcp.md": ASYNC_AGENT,
    "fleet.md": "from typing import Any\nspark: Any = None\npl: Any = None\n",
    "testing.md": "import pytest\nfrom turntape.inspector import AgentRun\nturntape_run = AgentRun.of([])\n"
    "def run(task: str) -> str:\n    return task\n",
    "secrets.md": "OUR_SECRETS = ['one']\n",
    "show-json.md": 'line = "{}"\n',
}
STRICT = {
    "typeCheckingMode": "strict",
    "reportUnusedExpression": False,
    "reportUnusedVariable": False,
    "reportUnusedImport": False,
    "reportMissingTypeStubs": False,
    "reportMissingModuleSource": False,
}
MYPY = """[mypy]
strict = true
explicit_package_bases = true
mypy_path = {typing}:.
allow_redefinition = true
[mypy-turntape.*]
ignore_errors = true
[mypy-openai.*,mitmproxy.*]
follow_imports = skip
"""
"""Two packages are half of mypy's time, and pyright reads them: no public name of ours has a type of theirs."""


def modules(page: Path) -> dict[str, str]:
    """The modules of a page, by file name; empty when it has no Python."""
    found: dict[str, str] = {}
    rest = ""
    text = page.read_text("utf-8")
    for match in BLOCK.finditer(text):
        _, words, body = match.groups()
        code = textwrap.dedent(body)
        if words.strip():
            found[words.strip()] = code
        else:
            rest += f"# line {text[: match.start()].count(chr(10)) + 2} of {page.name}\n{code}\n"
    if rest:
        found[f"{page.stem.replace('-', '_')}_page.py".lower()] = GIVEN.get(page.name, "") + rest
    return found


def check(pages: list[Path], folder: Path) -> int:
    """Write the modules into `folder` and check them. How many checkers found something."""
    for page in pages:
        for name, code in modules(page).items():
            (folder / name).write_text(code, "utf-8")
    (folder / "pyrightconfig.json").write_text(json.dumps({**STRICT, "extraPaths": [str(ROOT / ".typing")]}), "utf-8")
    (folder / "mypy.ini").write_text(MYPY.format(typing=ROOT / ".typing"), "utf-8")
    cache = ROOT / ".mypy_cache"
    commands = (
        [sys.executable, "-m", "pyright", "-p", str(folder), "--pythonpath", sys.executable],
        [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", str(cache), "."],
    )
    pipes: dict[str, int] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    running = [subprocess.Popen(command, cwd=folder, text=True, **pipes) for command in commands]
    failed = 0
    for process in running:  # at once: each needs most of a core
        said, _ = process.communicate()
        if process.returncode:
            failed += 1
            print(said.replace(f"{folder}/", ""))
    return failed


if __name__ == "__main__":
    given = [Path(name) for name in sys.argv[1:]] or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    with tempfile.TemporaryDirectory() as name:
        sys.exit(1 if check(given, Path(name).resolve()) else 0)
