"""The house rules that a machine can check: floors, packages, and what is imported when."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from house import FLOORS, ROOT, imports, modules, sources

from turntape.inspector.wire.providers import PROVIDERS
from turntape.inspector.wire.registry import built_in

type Guard = Callable[[str, str], list[str]]
"""Takes a module's path and source, and returns its violations."""

LEVELS = {
    "cassettes": (
        "framing",
        "apis",
        "tape",
        "redaction",
        "matching",
        "faults",
        "recording",
        "replay",
        "server",
        "transports",
        "pytest_plugin",
    ),
    "inspector": ("wire", "analysis", "tools", "findings", "run", "otlp", "check", "compare", "views", "fleet"),
    "proxy": ("capture", "layers", "limits", "breakpoints", "prove", "engine", "sidecar", "tool_wire")
    + ("gateway", "workers", "launch", "doctor", "mcp_server", "cli"),
}
"""The levels within a floor, lowest first, by the same rule; a folder that is not listed may be used by all."""
ONLY_IN = {
    "mitmproxy": ("proxy",),
    "textual": ("inspector/views/tui",),
    "mcp": ("proxy/mcp_server",),
    "httpx": ("cassettes/transports", "inspector/otlp/sender.py", "proxy/scripted/agent.py"),
    "httpx2": ("cassettes/transports",),
    "vcr": (),
    "obstore": ("inspector/fleet",),
    "pyarrow": ("inspector/fleet",),
    "duckdb": ("inspector/fleet",),
}


def below(name: str, package: str) -> bool:
    """True for the package itself and everything in it."""
    return name == package or name.startswith(package + ".")


def upward_imports(where: str, source: str) -> list[str]:
    """Imports of a higher floor, or of a later level of the same floor."""
    floor, *rest = Path(where).with_suffix("").parts
    above = [f"turntape.{name}" for name in FLOORS[FLOORS.index(floor) + 1 :]]
    levels = LEVELS.get(floor, ())
    if rest and rest[0] in levels:
        above += [f"turntape.{floor}.{name}" for name in levels[levels.index(rest[0]) + 1 :]]
    return [name for name in imports(where, source) if any(below(name, package) for package in above)]


def stray_libraries(where: str, source: str) -> list[str]:
    """Imports of a library outside the folders that may know it."""
    tops = {name.split(".")[0] for name in imports(where, source)}
    return [top for top in sorted(tops & ONLY_IN.keys()) if not where.startswith(ONLY_IN[top])]


def taken_names(where: str, source: str) -> list[str]:
    """Imports of `cassettes`, `inspector` or `proxy` without `turntape.` in front."""
    return [name for name in imports(where, source) if name.split(".")[0] in FLOORS]


OF_ONE_API = ("inspector/wire/protocols/", "inspector/wire/providers.py", "proxy/scripted/apis/")
"""Where an API or a provider is described, and so may be named."""
ALSO_A_WORD = frozenset({"mcp"})
"""Protocols whose name is also that of a command or a key: only a comparison with a protocol names them."""
PROTOCOL_NAMES = frozenset(protocol.name for protocol in built_in()) - ALSO_A_WORD
PROVIDER_NAMES = frozenset(provider.name for provider in PROVIDERS)


NAMED = re.compile(rf"""["'](?:{"|".join(map(re.escape, PROTOCOL_NAMES | PROVIDER_NAMES | ALSO_A_WORD))})["']""")
"""One of the names as a text of its source: without any, there is nothing to look for in the tree."""


def named_apis(where: str, source: str) -> list[str]:
    """Branches and tables that name a protocol or a provider: what differs between APIs is a trait."""
    if where.startswith(OF_ONE_API) or not NAMED.search(source):
        return []
    found = ((node, _named(node)) for node in ast.walk(ast.parse(source)))
    return [f"line {getattr(node, 'lineno', '?')}: {', '.join(sorted(names))}" for node, names in found if names]


def _named(node: ast.AST) -> set[str]:
    match node:
        case ast.Compare():
            names = set().union(*(_texts(one) for one in (node.left, *node.comparators)))
            providers = names & PROVIDER_NAMES if "provider" in ast.unparse(node) else set[str]()
            others = names & ALSO_A_WORD if "protocol" in ast.unparse(node) else set[str]()
            return names & PROTOCOL_NAMES | providers | others
        case ast.MatchValue():
            return _texts(node.value) & PROTOCOL_NAMES
        case ast.Dict() | ast.Set() | ast.List() | ast.Tuple():
            names = _texts(node)
            is_table_of_providers = len(names) > 1 and names <= PROVIDER_NAMES
            return names if is_table_of_providers else names & PROTOCOL_NAMES
        case ast.Call():
            return {text for one in node.args for text in _texts(one)} & PROTOCOL_NAMES
    return set()


def _texts(node: ast.expr) -> set[str]:
    """The strings of a constant or a collection, and the keys of a dictionary."""
    elements = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    elements = node.keys if isinstance(node, ast.Dict) else elements
    return {one.value for one in elements if isinstance(one, ast.Constant) and isinstance(one.value, str)}


GUARDS = (upward_imports, stray_libraries, taken_names, named_apis)


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.__name__)
def test_every_module_keeps_the_house_rules(guard: Guard) -> None:
    found = {where: guard(where, source) for where, source in sources().items()}
    assert len(found) > 500 and not {where: broken for where, broken in found.items() if broken}


@pytest.mark.parametrize(
    ("guard", "where", "source"),
    [
        (upward_imports, "cassettes/tape/reader.py", "from turntape.inspector import read"),
        (upward_imports, "cassettes/tape/reader.py", "def f():\n    import turntape.proxy.cli"),
        (upward_imports, "cassettes/tape/reader.py", "from ...proxy import cli"),
        (upward_imports, "cassettes/server/server.py", "from ..transports.replay import x"),
        (upward_imports, "cassettes/tape/reader.py", "from ..redaction.redactor import Redactor"),
        (upward_imports, "proxy/capture/routing.py", "from ..launch import environment"),
        (upward_imports, "proxy/sidecar/labeller_process.py", "def f():\n    from ..launch.child_process import spawn"),
        (upward_imports, "inspector/wire/parse.py", "from turntape import proxy"),
        (upward_imports, "inspector/wire/parse.py", "from ..analysis import threads"),
        (upward_imports, "inspector/findings/engine.py", "from .. import run"),
        (upward_imports, "inspector/run/labels.py", "from ..views.text.run_text import lines"),
        (stray_libraries, "inspector/views/report/page.py", "import textual.app"),
        (stray_libraries, "inspector/run/labels.py", "from mitmproxy import http"),
        (stray_libraries, "proxy/capture/routing.py", "def f():\n    import httpx2"),
        (stray_libraries, "cassettes/replay/player.py", "from httpx import Client"),
        (taken_names, "proxy/cli/__init__.py", "import cassettes.tape"),
        (taken_names, "cassettes/tape/reader.py", "from inspector.wire import parse"),
        (named_apis, "inspector/findings/rules/usage.py", "if context.reading.protocol == 'openai-chat': pass"),
        (named_apis, "inspector/findings/rules/usage.py", "known = name not in ('ollama-chat', 'x')"),
        (named_apis, "inspector/findings/rules/usage.py", "match name:\n    case 'cohere-v2': pass"),
        (named_apis, "inspector/findings/rules/usage.py", "_NAMED = frozenset({'gemini-generate', 'other'})"),
        (named_apis, "inspector/analysis/pricing.py", "PRICES = {'mistral-chat': 'mistral'}"),
        (named_apis, "inspector/analysis/pricing.py", "PRICES = {'mistral': 'a', 'openai': 'b'}"),
        (named_apis, "inspector/findings/rules/lint.py", "if reading.provider in ('openai', 'x'): pass"),
        (named_apis, "inspector/findings/rules/lint.py", "if 'azure' == who.provider: pass"),
        (named_apis, "proxy/breakpoints/addon.py", "traits = by_name('anthropic-messages')"),
        (named_apis, "inspector/findings/rules/usage.py", "if row.protocol == 'mcp': pass"),
    ],
)
def test_each_guard_finds_a_planted_violation(guard: Guard, where: str, source: str) -> None:
    assert guard(where, source)


@pytest.mark.parametrize(
    ("guard", "where", "source"),
    [
        (upward_imports, "proxy/cli/__init__.py", "from turntape.cassettes import Cassette"),
        (upward_imports, "proxy/engine/engine.py", "from ..capture.routing import Router"),
        (upward_imports, "inspector/views/text/run_text.py", "from ...run.labels import Label"),
        (upward_imports, "inspector/run/labels.py", "from ..running import x"),
        (stray_libraries, "inspector/views/tui/app.py", "import textual.app"),
        (stray_libraries, "cassettes/transports/replay.py", "import httpx, httpx2"),
        (taken_names, "proxy/cli/__init__.py", "from turntape.cassettes import proxy"),
        (named_apis, "inspector/wire/protocols/cohere/v2.py", "NAMES = {'cohere-v2': 1}"),
        (named_apis, "inspector/wire/providers.py", "NAMES = ('openai', 'azure')"),
        (named_apis, "proxy/cli/commands/check.py", "if form == 'github': pass"),
        (named_apis, "proxy/cli/registry.py", "if command == 'mcp': pass"),
        (named_apis, "inspector/findings/rules/history.py", "MODELS = ('deepseek', 'moonshot', 'qwen')"),
        (named_apis, "inspector/findings/rules/usage.py", "if context.protocol.requests.marks_errors: pass"),
    ],
)
def test_each_guard_is_silent_where_nothing_is_wrong(guard: Guard, where: str, source: str) -> None:
    assert not guard(where, source)


def shadowed_processes(source: str) -> list[str]:
    """Processes of ours that import `email.py` of the folder where they start in place of Python's module."""
    return [line.strip() for line in source.splitlines() if 'executable, "-m", "turntape' in line]


def test_no_process_of_ours_imports_from_the_folder_where_it_starts() -> None:
    assert shadowed_processes('RUN = (sys.executable, "-m", "turntape.proxy.cli")')
    assert not shadowed_processes('RUN = (sys.executable, "-P", "-m", "turntape.proxy.cli")')

    assert not [line for path in modules() for line in shadowed_processes(path.read_text("utf-8"))]


def leaves_half_modules(source: str) -> bool:
    """True for a process that may run out of disk space while it compiles modules that others need."""
    return "RLIMIT_FSIZE" in source and not ("NO_BYTECODE" in source or "sys.dont_write_bytecode" in source)


def test_no_process_on_a_small_disk_leaves_half_a_module() -> None:
    here = Path(__file__)
    files = [path for folder in ("tests", "bench") for path in (ROOT / folder).rglob("*.py") if path != here]

    assert leaves_half_modules("resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))")
    assert not [str(path) for path in files if leaves_half_modules(path.read_text())]


def test_every_package_on_disk_is_in_the_wheel() -> None:
    """setuptools ships listed packages only: an unlisted one works in the checkout and is missing for users."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]

    on_disk = {".".join(("turntape", *p.parent.relative_to(ROOT).parts)) for p in modules() if p.name == "__init__.py"}
    with_code = {".".join(("turntape", *p.parent.relative_to(ROOT).parts)) for p in modules()}

    assert sorted(listed) == sorted({*on_disk, "turntape"})  # `turntape` itself is the folder `public`
    assert with_code == on_disk


def test_the_top_level_names_are_not_taken() -> None:
    """`cassettes`, `inspector` and `proxy` belong to the user's own projects."""
    code = "import turntape.cassettes, turntape.inspector, turntape.proxy, sys; print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not {"public", "cassettes", "inspector", "proxy"} & set(loaded)


@pytest.mark.parametrize(
    "code",
    [
        "import turntape; turntape.__version__; dir(turntape)",
        "import turntape.cassettes",
        "import turntape.inspector",
        "import turntape.proxy",
        "from turntape.proxy.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(code: str) -> None:
    heavy = {"mitmproxy", "textual", "genai_prices", "httpx", "httpx2", "pydantic", "obstore", "pyarrow", "duckdb"}

    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('MODULES', *sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    loaded = shown.rpartition("MODULES")[2].split()

    assert not heavy & set(loaded)


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        (
            "import turntape.proxy.launch.recorded_run, turntape.proxy.engine.engine",
            {"flask", "ldap3", "tornado", "pydantic"},
        ),
        ("from turntape.inspector.analysis.price_list import price_list; price_list()", {"httpx2", "asyncio", "ssl"}),
    ],
    ids=["a start of the proxy", "a price"],
)
def test_what_is_imported_brings_nothing_that_is_not_used(code: str, heavy: set[str]) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()

    assert "mitmproxy.proxy.layers" in loaded or "genai_prices.data" in loaded
    assert not heavy & set(loaded)
