"""The source files of turntape, and what each of them imports."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
FLOORS = ("cassettes", "inspector", "proxy")
"""Lowest first: a floor may import itself and the floors before it."""


def modules() -> list[Path]:
    return [p for floor in FLOORS for p in sorted((ROOT / floor).rglob("*.py")) if "__pycache__" not in p.parts]


@cache
def imports(where: str, source: str) -> tuple[str, ...]:
    """The absolute names that the module at `where` (`proxy/cli/__init__.py`) imports, at any depth of its code."""
    return tuple(_imports(where, source))


def _imports(where: str, source: str) -> Iterator[str]:
    package = ("turntape", *Path(where).with_suffix("").parts)
    for node in statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: -node.level] if node.level else ()
            module = (*base, *([node.module] if node.module else []))
            yield ".".join(module)
            yield from (".".join((*module, alias.name)) for alias in node.names)


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements, and what holds statements: there are ten times as many expressions."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, None)
            waiting += inner if isinstance(inner, list) else []


def sources() -> dict[str, str]:
    """The text of each module by its path."""
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in modules()}
