"""`make suites`: move suites of other projects from vcrpy as a user would, and print what passes before and after.

    python -m bench.suites                         every project
    python -m bench.suites chatlas                 one of them
    python -m bench.suites --checkout NAME=DIR     the tests of a folder that is here already, in this environment

Source distributions come from the package index, into a folder that is removed at the end (`--folder DIR` keeps it).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .projects import PROJECTS, Project
from .results import Comparison, compare, read

ROOT = Path(__file__).parents[2]
UV = os.environ.get("UV") or shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
PATIENCE = 3600
BAR = 0.99
_ONLY_PLAYS = {"pytest-recording": ("--record-mode=none",), "pytest-vcr": ("--vcr-record=none",)}
_OFF = {"pytest-recording": "no:recording", "pytest-vcr": "no:vcr"}
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "CI", "TURNTAPE_MODE")


def run(words: Sequence[str | Path], folder: Path, log: Path) -> int:
    """Run a command; what it says goes to `log`."""
    environ = {name: value for name, value in os.environ.items() if name not in _KEYS}
    with log.open("a", encoding="utf-8") as file:
        line = [str(word) for word in words]
        return subprocess.run(
            line, cwd=folder, env=environ, stdout=file, stderr=subprocess.STDOUT, check=False, timeout=PATIENCE
        ).returncode


def source_of(project: Project, folder: Path, log: Path) -> Path:
    """The unpacked source distribution. Raises RuntimeError when the index has none."""
    seeded = folder / "pip"
    run([UV, "venv", "-q", "--seed", "-p", sys.executable, seeded], folder, log)
    wanted = f"{project.name}=={project.version}"
    run(
        [seeded / "bin/python", "-m", "pip", "download", "-q", "--no-deps", "--no-binary", project.name, wanted],
        folder,
        log,
    )
    archives = sorted(folder.glob("*.tar.gz"))
    if not archives:
        raise RuntimeError(f"there is no source distribution of {wanted}; {log} says why")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder / "source", filter="data")
    return next((folder / "source").iterdir())


def installed(project: Project, source: Path, folder: Path, log: Path) -> Path:
    """A Python with the project, its tests' needs, vcrpy and turntape."""
    run([UV, "venv", "-q", "-p", sys.executable, folder / "env"], folder, log)
    python = folder / "env/bin/python"
    needs = ["pytest", "vcrpy", project.plugin, *project.needs, f"{ROOT}[import]"]
    if run([UV, "pip", "install", "-q", "--no-sources", "-p", python, source, *needs], folder, log):
        raise RuntimeError(f"{project.name} cannot be installed; {log} says why")
    return python


def moved(
    source: Path, tests: Sequence[str], python: Path, folder: Path, log: Path, plugin: str = "pytest-recording"
) -> Comparison:
    """Run the tests with vcrpy, move a copy of them, and run that."""
    before, after = folder / "before", folder / "after"
    for copy in (before, after):
        shutil.copytree(source, copy)
    pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "--rootdir=.", *tests]
    run([*pytest, *_ONLY_PLAYS[plugin], f"--junitxml={folder}/before.xml"], before, log)
    top = tests[0].partition("/")[0]
    if run([python, "-m", "turntape.proxy.cli", "import", "--pytest", top, "--apply"], after, log):
        print(f"{source.name}: the import left something out; {log} says what", flush=True)
    run([*pytest, *_ONLY_PLAYS[plugin], "-p", _OFF[plugin], f"--junitxml={folder}/after.xml"], after, log)
    return compare(read(folder / "before.xml"), read(folder / "after.xml"))


def shown(name: str, found: Comparison) -> str:
    """The row of a project, and a line for each test that was lost."""
    still = found.passed_before - len(found.lost)
    head = f"{name:<16} {found.passed_before:>18} {still:>16} {found.share:>7.1%} {found.gained:>18}"
    return "\n".join([head, *(f"    {test}: {reason}" for test, reason in found.lost.items())])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.suites")
    parser.add_argument("project", nargs="*", metavar="PROJECT")
    parser.add_argument("--checkout", metavar="NAME=DIR", action="append", default=[])
    parser.add_argument("--folder", metavar="DIR", help="work here, and keep it")
    options = parser.parse_args()
    missed = False
    print(f"{'project':<16} {'passed with vcrpy':>18} {'pass afterwards':>16} {'':>7} {'new with turntape':>18}")
    with tempfile.TemporaryDirectory(prefix="turntape-suites-") as scratch:
        root = Path(options.folder or scratch).resolve()
        for said in options.checkout:
            name, _, place = said.partition("=")
            folder = root / name
            folder.mkdir(parents=True)
            found = moved(Path(place).resolve(), ("tests",), Path(sys.executable), folder, folder / "log")
            print(shown(name, found), flush=True)
            missed |= found.share < BAR
        for project in PROJECTS if not options.checkout or options.project else ():
            if options.project and project.name not in options.project:
                continue
            folder = root / project.name
            folder.mkdir(parents=True)
            log = folder / "log"
            try:
                source = source_of(project, folder, log)
                found = moved(
                    source, project.tests, installed(project, source, folder, log), folder, log, project.plugin
                )
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as exc:
                print(f"{project.name:<16} {exc}", flush=True)
                missed = True
                continue
            print(shown(project.name, found), flush=True)
            missed |= found.share < BAR
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
