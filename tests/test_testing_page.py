"""docs/testing.md is run as it is: its files are written, its commands are run, and their output is as shown."""

import fnmatch
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from plugin_project import UNUSED

from turntape.proxy.scripted import ScriptedServer

PAGE = Path(__file__).parent.parent / "docs" / "testing.md"
BLOCK = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OTHERS = " ".join(f"-p no:{name}" for name in (*UNUSED, "randomly", "cacheprovider"))


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a block, and what it is said to print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.strip().splitlines()
        yield command, shown


def pattern(shown: str) -> str:
    """A shown line as a glob: an ellipsis matches anything."""
    return "*" + re.sub(r"([\[\]?*])", r"[\1]", shown.strip()).replace("…", "*") + "*"


def test_the_page_holds(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE.read_text())
    bin_folder = Path(sys.executable).parent
    environ = {name: value for name, value in os.environ.items() if not re.match(r"CI$|PYTEST_|TURNTAPE_", name)}
    environ |= {"PATH": f"{bin_folder}:{os.environ['PATH']}", "PYTHONPATH": str(tmp_path), "PYTEST_ADDOPTS": OTHERS}
    typed = 0
    with ScriptedServer() as server:
        live = {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "sk-abcdefghijklmnopqrstuvwxyz0123"}
        for language, words, text in blocks:
            if language == "python" and words:
                (tmp_path / words).write_text(text)
            if language != "console":
                continue
            asked = len(server.requests)
            failed = False
            for command, shown in commands(text):
                given = environ if "offline" in words else environ | live
                done = subprocess.run(
                    ["bash", "-c", command], cwd=tmp_path, env=given, capture_output=True, text=True, check=False
                )
                said = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
                failed |= done.returncode != 0
                for line in shown:
                    assert fnmatch.filter(said, pattern(line)), f"{command}: {line!r} is not in\n" + "\n".join(said)
                typed += 1
            assert failed == ("fails" in words), text
            assert ("offline" in words) == (len(server.requests) == asked)

    assert typed == 9


def test_the_reference_names_everything_that_there_is() -> None:
    from turntape.cassettes import pytest_plugin
    from turntape.cassettes.faults.fault import KINDS
    from turntape.cassettes.pytest_plugin.marker import Marker
    from turntape.inspector import pytest_plugin as pytest_run

    text = PAGE.read_text()
    fixtures = {
        name
        for module in (pytest_plugin, pytest_run)
        for name, value in vars(module).items()
        if type(value).__name__ == "FixtureFunctionDefinition"
    }
    source = Path(pytest_plugin.__file__).read_text() + Path(pytest_run.__file__).read_text()
    options = set(re.findall(r'"(--turntape-[\w-]+|turntape_(?:mode|profile|ignore|ignore_text|allow_hosts))"', source))

    assert len(options) == 12
    assert [name for name in (*Marker.__slots__, *KINDS, *fixtures, *options) if f"`{name}`" not in text] == []
