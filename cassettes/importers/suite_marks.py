"""Where the Python files of a suite give marks of vcrpy or cassetter to tests, and what is written there instead."""

import ast
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from ..frozen import frozen

_MARKS = frozenset({"vcr", "cassetter"})


@frozen
class Rewrite:
    """One place in a test file, and what is written there."""

    file: Path
    line: int
    old: str
    new: str
    start: int
    end: int
    is_mark: bool = True
    """False where a mark is only looked for."""
    is_import: bool = False


def marks_in(file: Path, settings: Callable[[str | None], Mapping[str, Any]]) -> list[Rewrite]:
    """Where a file has `pytest.mark.vcr` or `pytest.mark.cassetter`, with or without arguments, or names the mark.
    `settings` gives the arguments of a mark by the test or class that it decorates, and by None of any other mark."""
    data = file.read_bytes()
    if not any(name.encode() in data for name in _MARKS):
        return []
    try:
        tree = ast.parse(data, str(file))
    except SyntaxError:  # a file that only looks like Python
        return []
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    decorated = _decorated(tree)
    found: list[Rewrite] = []
    called: set[int] = set()
    has_pytest = any(isinstance(node, ast.Import) and node.names[0].name == "pytest" for node in ast.walk(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.Call) and _is_mark(node.func):
            called.add(id(node.func))
        elif _name_of_mark(node) is None and (not _is_mark(node) or id(node) in called):
            continue
        said = arguments_of(settings(decorated.get(id(node))))
        new = f"pytest.mark.turntape({said})" if said else "pytest.mark.turntape"
        written = new
        if (name := _name_of_mark(node)) is not None:
            written = new if name.is_given and said and has_pytest else '"turntape"'
            place: ast.expr = name.node
        elif isinstance(node, ast.Call) and _is_mark(node.func):
            place, written = node, new if _root(node.func) == "pytest" else new.removeprefix("pytest.")
        else:
            place, written = node, new if _root(node) == "pytest" else new.removeprefix("pytest.")
        start = starts[place.lineno - 1] + place.col_offset
        end = starts[(place.end_lineno or 1) - 1] + (place.end_col_offset or 0)
        is_mark = name is None or name.is_given
        found.append(Rewrite(file, place.lineno, data[start:end].decode(), written, start, end, is_mark))
    return sorted(found, key=lambda one: one.start)


def arguments_of(settings: Mapping[str, Any]) -> str:
    """The arguments of a mark as Python."""
    return ", ".join(f"{name}={_literal(value)}" for name, value in settings.items())


def _literal(value: object) -> str:
    """A value as Python, with double quotes."""
    if isinstance(value, str):
        return f'"{value}"' if repr(value) == f"'{value}'" and '"' not in value else repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, cast('list[object]', value)))}]"
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return f"{{{', '.join(f'{_literal(name)}: {_literal(one)}' for name, one in pairs)}}}"
    return repr(value)


def _decorated(tree: ast.Module) -> dict[int, str]:
    """The test or class that an expression decorates, by the expression. A class that others of the file inherit from
    has none: its marks are theirs too."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    inherited = {base.id for one in classes for base in one.bases if isinstance(base, ast.Name)}
    return {
        id(decorator): node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name not in inherited
        for decorator in node.decorator_list
    }


@frozen
class _Named:
    """A place where a mark is named by a text."""

    node: ast.expr
    is_given: bool
    """True when the mark is added, False when it is looked for."""


def _name_of_mark(node: ast.AST) -> _Named | None:
    match node:
        case ast.Call(
            func=ast.Attribute(attr="add_marker" | "get_closest_marker" | "iter_markers" as method),
            args=[ast.Constant(value=name) as text, *_],
        ) if name in _MARKS:
            return _Named(text, method == "add_marker")
        case ast.Compare(
            left=ast.Constant(value=name) as text,
            ops=[ast.In() | ast.NotIn()],
            comparators=[ast.Attribute(attr="keywords")],
        ) if name in _MARKS:
            return _Named(text, is_given=False)
        case _:
            return None


def _is_mark(node: object) -> bool:
    match node:
        case ast.Attribute(attr=name, value=ast.Attribute(attr="mark") | ast.Name(id="mark")):
            return name in _MARKS
        case _:
            return False


def _root(node: ast.expr) -> str:
    """`pytest` for `pytest.mark.vcr`, `mark` for `mark.vcr`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def direct_uses(tests: Path) -> list[tuple[Path, int]]:
    """Where the Python files of a suite open a recording without a mark, with `use_cassette` or as a `VCRTestCase`:
    file and line."""
    files = sorted(tests.rglob("*.py")) if tests.is_dir() else [tests]
    found: list[tuple[Path, int]] = []
    for file in files:
        data = file.read_bytes() if file.is_file() and not FOREIGN.intersection(file.parts) else b""
        if not any(name.encode() in data for name in _OPENS):
            continue
        try:
            tree = ast.parse(data, str(file))
        except SyntaxError:
            continue
        named = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and _last_name(node) in _OPENS]
        found += [(file, line) for line in sorted(node.lineno for node in named)]
    return found


def _last_name(node: ast.expr) -> str:
    """`use_cassette` for `vcr.use_cassette` and for the name alone, where it is read."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Load()) | ast.Name(id=name, ctx=ast.Load()):
            return name
        case _:
            return ""


_OPENS = frozenset({"use_cassette", "VCRMixin", "VCRTestCase"})
_ROOTS = ("pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini", ".git")
FOREIGN = frozenset({"site-packages", "node_modules", "__pycache__"})


def neighbours(files: set[Path]) -> list[Path]:
    """The modules of the suite that may give these test files their marks: below their common folder, and each
    `conftest.py` above it."""
    top = Path(os.path.commonpath([file.parent for file in files]))
    found = [
        path
        for path in top.rglob("*.py")
        if not any(part in FOREIGN or part.startswith(".") for part in path.relative_to(top).parts)
    ]
    for folder in top.parents if not any((top / name).exists() for name in _ROOTS) else ():
        found.append(folder / "conftest.py")
        if any((folder / name).exists() for name in _ROOTS):
            break
    return sorted(path for path in found if path.is_file())
