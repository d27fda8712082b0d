"""docs/settings.md is up to date, and names every key and every environment variable of the code."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from turntape.cassettes.routes.base_urls import BASE_URLS, KEYS
from turntape.proxy.capture.certificates import USERS
from turntape.proxy.capture.upstream_proxy import NO_PROXIES, PROXIES
from turntape.proxy.cli.reference_page import page
from turntape.proxy.cli.settings_page import READ, SETTINGS, main, render, setting_keys
from turntape.proxy.launch.environment import CERTIFICATES, SWITCHES

ROOT = Path(__file__).parents[3]
SAMPLES = {"API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY", "TURNTAPE_SURVEY"}
"""Names in code that is printed for the user, in the demo's own agent, and between two processes of one command."""

MENTIONS = re.compile("environ|getenv|TURNTAPE_")
"""What is in every module that has a variable: the others need not be parsed."""


def variables(source: str) -> Iterator[str]:
    """The environment variables that a module reads by a literal name, and every TURNTAPE_ name in it."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=base, attr="get"), args=[ast.Constant(value=str(name)), *_]) if (
                ast.unparse(base).endswith("environ")
            ):
                yield name
            case ast.Call(func=ast.Attribute(attr="getenv"), args=[ast.Constant(value=str(name)), *_]):
                yield name
            case ast.Subscript(value=base, slice=ast.Constant(value=str(name))) if ast.unparse(base).endswith(
                "environ"
            ):
                yield name
            case ast.Constant(value=str(name)) if name.startswith("TURNTAPE_") and name.isupper():
                yield name
            case _:
                pass


@cache
def in_code() -> frozenset[str]:
    paths = (path for floor in ("cassettes", "inspector", "proxy") for path in (ROOT / floor).rglob("*.py"))
    sources = (path.read_text(encoding="utf-8") for path in paths)
    return frozenset(name for source in sources if MENTIONS.search(source) for name in variables(source))


def test_every_way_to_read_a_variable_is_recognised() -> None:
    source = (
        "os.environ.get('A'); environ.get('B', ''); os.getenv('C'); os.environ['D']; self._environ['E']\n"
        "X = 'TURNTAPE_F'; other.get('G'); other['H']; y = 'TURNTAPE_ and words'"
    )

    assert set(variables(source)) == {"A", "B", "C", "D", "E", "TURNTAPE_F"}


def test_the_page_is_up_to_date() -> None:
    assert page("settings.md").read_text(encoding="utf-8") == render(), "run `make docs`"


def test_every_key_of_the_settings_is_on_the_page() -> None:
    assert list(SETTINGS) == setting_keys()


def test_every_variable_of_the_code_is_on_the_page() -> None:
    text = render()
    tables = {row.variable for row in BASE_URLS} | {row.variable for row in CERTIFICATES} | set(USERS) | set(KEYS)
    tables |= {*PROXIES, *NO_PROXIES, *(name for name, _, _ in SWITCHES)}

    assert [name for name in sorted(tables | in_code() - SAMPLES) if f"`{name}`" not in text] == []
    assert {"TURNTAPE_HOME", "TURNTAPE_MODE", "CI", "NO_COLOR"} <= in_code()


def test_no_variable_on_the_page_is_unknown_to_the_code() -> None:
    by_library = {"COLUMNS"}  # shutil.get_terminal_size reads it

    assert set(READ) - in_code() - by_library - set(USERS) == set()


def test_it_writes_and_checks_the_page(tmp_path: Path) -> None:
    assert main(["-o", str(tmp_path / "a.md")]) == 0
    assert main(["--check", "-o", str(tmp_path / "a.md")]) == 0
