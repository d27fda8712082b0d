"""The house rules that a machine can check: floors, packages, and what is imported when."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = ("cassettes", "inspector", "proxy")
"""Lowest first: a floor may import itself and what is before it."""
ONLY_IN = {
    "mitmproxy": ("proxy",),
    "textual": ("inspector/views/tui",),
    "httpx": ("cassettes/transports", "proxy/scripted/agent.py"),
    "httpx2": ("cassettes/transports",),
    "vcr": (),
}


def modules() -> list[Path]:
    return [p for floor in FLOORS for p in sorted((ROOT / floor).rglob("*.py")) if "__pycache__" not in p.parts]


def imports(path: Path) -> Iterator[str]:
    """The absolute names that a module imports, wherever in it the import stands."""
    package = ("turntape", *path.relative_to(ROOT).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: -node.level] if node.level else ()
            yield ".".join((*base, *([node.module] if node.module else [])))


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_only_point_down(path: Path) -> None:
    floor = path.relative_to(ROOT).parts[0]
    above = FLOORS[FLOORS.index(floor) + 1 :]

    climbing = [name for name in imports(path) if name.startswith(tuple(f"turntape.{f}" for f in above))]

    assert not climbing


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_library_is_known_only_where_it_belongs(path: Path) -> None:
    where = path.relative_to(ROOT).as_posix()

    strays = [
        name
        for name in imports(path)
        if name.split(".")[0] in ONLY_IN and not where.startswith(ONLY_IN[name.split(".")[0]])
    ]

    assert not strays


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_packages_are_imported_as_turntape(path: Path) -> None:
    assert not [name for name in imports(path) if name.split(".")[0] in FLOORS]


def test_every_package_on_disk_is_in_the_wheel() -> None:
    """setuptools ships listed packages only: an unlisted one works in the checkout and is missing for users."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]

    on_disk = {".".join(("turntape", *p.parent.relative_to(ROOT).parts)) for p in modules() if p.name == "__init__.py"}
    with_code = {".".join(("turntape", *p.parent.relative_to(ROOT).parts)) for p in modules()}

    assert sorted(listed) == sorted(on_disk)
    assert with_code == on_disk


def test_nobody_asks_for_a_provider_by_name() -> None:
    """What differs between APIs stands in a protocol's file or a table, never in a branch."""
    branch = re.compile(r"\b(el)?if\b.*\b(provider|protocol)(\.name)?\s*(==|in)\s*[\"'(]")

    assert not [
        f"{path.relative_to(ROOT)}:{number}"
        for path in modules()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if branch.search(line)
    ]


def test_the_top_level_names_are_not_taken() -> None:
    """`cassettes`, `inspector` and `proxy` belong to the user's own projects."""
    code = "import turntape.cassettes, turntape.inspector, turntape.proxy, sys; print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not {"cassettes", "inspector", "proxy"} & set(loaded)


@pytest.mark.parametrize(
    "code",
    [
        "import turntape.cassettes",
        "import turntape.inspector",
        "from turntape.proxy.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(code: str) -> None:
    heavy = {"mitmproxy", "textual", "genai_prices", "httpx", "httpx2", "pydantic"}

    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('MODULES', *sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    loaded = shown.rpartition("MODULES")[2].split()

    assert not heavy & set(loaded)
