"""What is imported is declared in pyproject.toml, and what is declared there is imported."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from house import statements

from turntape.proxy.cli.command_line import EXTRAS as INSTALLS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = PROJECT["dependency-groups"]
FLOORS = ("cassettes", "inspector", "proxy")

NOT_DECLARED = {
    "pydantic-core": "the errors of pydantic, which pins its version",
    "vcr": "what a suite that moves was recorded with: it is asked where it is installed",
    "pytest": "the pytest plugin runs only inside a pytest",
    "sitecustomize": "a module of the user, which Python imports when it starts",
    "heavy-package": "a package that a test makes",
    "botocore": "a part of boto3",
    "httpcore": "the connections of httpx",
    "httpcore2": "the connections of httpx2",
    "werkzeug": "the web server of moto",
    "anyio": "the event loops of the MCP SDK",
    "mcp-types": "a part of mcp 2",
    "h2": "the HTTP/2 of mitmproxy",
    "chdb": "one of the engines of `make fleet`, which installs it",
    "datafusion": "one of the engines of `make fleet`, which installs it",
    "polars": "one of the engines of `make fleet`, which installs it",
    "dialects": "a module beside bench/fleet/documented.py, which runs as a script",
    "pyspark": "one of the engines of `make fleet`, which installs it",
    "protobuf": "a part of opentelemetry-proto, whose messages it reads",
}
"""What is imported without being declared, and why that is right."""
NOT_IMPORTED = {
    "flask-cors": "the server of moto loads it",
    "httptools": "uvicorn loads it where it is there",
    "ruff": "a command",
    "pyright": "a command",
    "mypy": "a command",
    "build": "a command",
    "setuptools": "builds the wheel",
    "zizmor": "a command",
    "pytest-timeout": "a plugin of pytest: the setting `timeout`",
    "pytest-textual-snapshot": "a plugin of pytest: the fixture `snap_compare`",
    "mkdocs-material": "a theme of mkdocs, which is a command",
    "turntape": "this project",
}
"""What is declared without being imported, and why that is right."""


_BY_CALL = re.compile(r"import_module|importorskip")


def normal(requirement: str) -> str:
    """The name in a requirement, as PEP 503 compares names."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The dotted names of other projects that a file imports, also by `import_module("name")`."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    text = path.read_text()
    tree = ast.parse(text)
    # Only a call hides in an expression, and looking at each expression of the repository takes long.
    for node in ast.walk(tree) if _BY_CALL.search(text) else statements(tree):
        match node:
            case ast.Import(names=names):
                found = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), names=names, level=0):
                found = [f"{module}.{alias.name}" for alias in names]
            case ast.Call(func=ast.Name(id="import_module") | ast.Attribute(attr="import_module" | "importorskip")):
                found = [a.value for a in node.args[:1] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            case _:
                continue
        yield from (name for name in found if not name.startswith("."))


def ours() -> set[str]:
    """The names by which files of this repository import each other."""
    folders = (ROOT, ROOT / "tests", ROOT / "tests" / "clients", ROOT / "bench", ROOT / "docs")
    files = (path for folder in folders for path in folder.iterdir() if path.is_dir() or path.suffix == ".py")
    return {"turntape", *(path.stem for path in files)}


@cache
def distributions(folder: str) -> dict[str, str]:
    """The projects that the files in a folder import, and one file for each."""
    ignored = ours() | sys.stdlib_module_names | {"compression"}
    used: dict[str, str] = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        if "clients/python" in path.as_posix():
            continue  # each of these agents runs in its own environment
        for name in imported(path):
            if name.partition(".")[0] not in ignored:
                for project in providers(name):
                    used.setdefault(normal(project), path.relative_to(ROOT).as_posix())
    return used


@cache
def providers(name: str) -> tuple[str, ...]:
    """The projects that a dotted name comes from: by their files where several share a top-level package.

    A package of `NOT_DECLARED` has its own name, whether its project is installed or not.
    """
    top = name.partition(".")[0]
    if top in NOT_DECLARED:
        return (top,)
    projects = tuple(dict.fromkeys(top_level().get(top, [top])))
    parts = name.split(".")
    while len(projects) > 1 and len(parts) > 1:
        stem = "/".join(parts)
        found = tuple(project for project in projects if files_of(project) & {f"{stem}.py", f"{stem}/__init__.py"})
        inside = found or tuple(p for p in projects if any(file.startswith(f"{stem}/") for file in files_of(p)))
        if inside:
            return inside
        parts.pop()
    return projects


@cache
def top_level() -> Mapping[str, list[str]]:
    return packages_distributions()


@cache
def files_of(project: str) -> frozenset[str]:
    return frozenset(file.as_posix() for file in distribution(project).files or ())


def declared(*requirements: list[str]) -> set[str]:
    return {normal(name) for names in requirements for name in names if isinstance(name, str)}


BASE = declared(PROJECT["project"]["dependencies"])
PRODUCT = BASE | declared(*EXTRAS.values())
TESTS = PRODUCT | declared(GROUPS["test"])
BENCH = TESTS | declared(GROUPS["bench"])
MAY_IMPORT = {**dict.fromkeys(FLOORS, PRODUCT), "docs": TESTS, "tests": TESTS, "bench": BENCH}


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_what_is_imported_is_declared(folder: str) -> None:
    undeclared = distributions(folder).keys() - MAY_IMPORT[folder] - NOT_DECLARED.keys()

    assert {name: distributions(folder)[name] for name in undeclared} == {}


def test_what_is_declared_is_imported() -> None:
    used = {name for folder in MAY_IMPORT for name in distributions(folder)}
    groups = declared(*GROUPS.values())

    assert (PRODUCT | groups) - used - NOT_IMPORTED.keys() - {"vcrpy"} == set()


def test_what_the_product_declares_is_imported_by_the_product() -> None:
    used = {name for floor in FLOORS for name in distributions(floor)}

    assert PRODUCT - used - NOT_IMPORTED.keys() == set()


def test_a_missing_module_of_each_optional_part_is_reported_with_that_part() -> None:
    """`turntape` then prints `pip install 'turntape[PART]'`, and not an internal error."""
    files = (path for floor in FLOORS for path in (ROOT / floor).rglob("*.py"))
    modules = {
        (name.partition(".")[0], project) for path in files for name in imported(path) for project in providers(name)
    }
    parts = {part: declared(names) for part, names in EXTRAS.items() if part != "all"}
    optional = {
        module: normal(project) for module, project in modules if normal(project) in PRODUCT - BASE - {"turntape"}
    }

    assert {
        module for module, project in optional.items() if project not in parts.get(INSTALLS.get(module, ""), ())
    } == set()
    assert set(INSTALLS.values()) == parts.keys()


def test_no_exception_is_left_over() -> None:
    """A reason for something that is not so any more hides the next mistake."""
    used = {name for folder in MAY_IMPORT for name in distributions(folder)}
    groups = declared(*GROUPS.values())

    assert NOT_DECLARED.keys() - used == set()
    assert NOT_DECLARED.keys() & PRODUCT == set()
    assert NOT_IMPORTED.keys() - (PRODUCT | groups) == set()
    assert NOT_IMPORTED.keys() & used == set()


def test_imports_are_found_however_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("import a.b as c\nfrom d.e import f\nfrom .g import h\nx = import_module('i.j')\n")

    assert list(imported(path)) == ["a.b", "d.e.f", "i.j"]


def test_a_shared_package_is_found_by_its_files() -> None:
    assert providers("google.genai.types") == ("google-genai",)
    assert providers("google.protobuf.message") == ("protobuf",)
    assert providers("opentelemetry.proto.collector.trace.v1.trace_service_pb2.X") == ("opentelemetry-proto",)


def test_names_are_compared_as_the_registry_does() -> None:
    assert declared(["Foo_Bar.baz>=1; python_version < '3.14'"]) == {"foo-bar-baz"}
