"""Suites that open their recordings with `use_cassette`: their imports of vcrpy as imports of `turntape.cassettes.vcr`,
and the recordings that they may name.

A path may be made at run time, so every recording of vcrpy below the tests is one that may be named.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..frozen import frozen
from .suite_marks import FOREIGN, Rewrite
from .vcr_instead import instead_of
from .vcrpy import sniff

_OURS: Mapping[str, frozenset[str]] = {
    "vcr": frozenset({"VCR", "default_vcr", "mode", "use_cassette"}),
    "vcr.cassette": frozenset({"Cassette"}),
    "vcr.config": frozenset({"VCR", "RecordMode"}),
    "vcr.errors": frozenset({"CannotOverwriteExistingCassetteException", "UnhandledHTTPRequestError"}),
    "vcr.filters": frozenset(
        {
            "decode_response",
            "remove_headers",
            "remove_post_data_parameters",
            "remove_query_parameters",
            "replace_headers",
            "replace_post_data_parameters",
            "replace_query_parameters",
        }
    ),
    "vcr.matchers": frozenset(
        {"body", "headers", "host", "method", "path", "port", "query", "raw_body", "scheme", "uri"}
    ),
    "vcr.record_mode": frozenset({"RecordMode"}),
    "vcr.request": frozenset({"Request", "HeadersDict"}),
    "vcr.unittest": frozenset({"VCRMixin", "VCRTestCase"}),
}
"""The names of vcrpy that `turntape.cassettes.vcr` has, by module."""
_PLACE = "turntape.cassettes.vcr"
_ENDINGS = frozenset({"", ".yaml", ".yml", ".json"})
_HEAD = 65536


@frozen
class Imports:
    """What one file imports of vcrpy."""

    rewrites: tuple[Rewrite, ...]
    """Empty when the file uses something that we do not have."""
    foreign: tuple[str, ...]
    """What that is, with its line: `12: vcr.patch`."""

    @property
    def said(self) -> list[str]:
        """The same, with what to do instead."""
        return [_said(one) for one in self.foreign]


def imports_in(file: Path) -> Imports:
    """The imports of vcrpy in a file, and what is written in their place."""
    data = file.read_bytes()
    if b"vcr" not in data:
        return Imports((), ())
    try:
        tree = ast.parse(data, str(file))
    except SyntaxError:
        return Imports((), ())
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[Rewrite] = []
    foreign: list[str] = []
    names: set[str] = set()
    for node in ast.walk(tree):
        new = _written(node, names, foreign)
        if new is not None and isinstance(node, ast.stmt | ast.expr):
            start = starts[node.lineno - 1] + node.col_offset
            before = data[starts[node.lineno - 1] : start].decode()
            new = new.replace("\n", f"\n{before}" if not before.strip() else "; ")
            end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
            found.append(Rewrite(file, node.lineno, data[start:end].decode(), new, start, end, False, is_import=True))
    foreign += _foreign_uses(tree, names)
    return Imports(() if foreign else tuple(sorted(found, key=lambda one: one.start)), tuple(foreign))


def _said(foreign: str) -> str:
    """One use that is not mapped, and what to do instead."""
    name = re.sub(r"^\d+: (?:import )?(?:from )?", "", foreign).replace(" import ", ".")
    instead = instead_of(name)
    return f"{foreign} is not in {_PLACE}{f'; {instead}' if instead else ''}"


def _written(node: ast.AST, names: set[str], foreign: list[str]) -> str | None:
    """What is written in place of an import; the names that it gives to vcrpy, and what we do not have, are noted."""
    match node:
        case ast.Import(names=aliases) if any(_is_vcrpy(alias.name) for alias in aliases):
            theirs = [alias for alias in aliases if _is_vcrpy(alias.name)]
            others = ", ".join(map(ast.unparse, (alias for alias in aliases if alias not in theirs)))
            foreign += [f"{node.lineno}: import {alias.name}" for alias in theirs if alias.name != "vcr"]
            names.update(alias.asname or "vcr" for alias in theirs)
            ours = dict.fromkeys(alias.asname for alias in theirs)
            said = [f"from turntape.cassettes import vcr{f' as {given}' if given else ''}" for given in ours]
            return "\n".join([*([f"import {others}"] if others else ()), *said])
        case ast.ImportFrom(module=str(module), level=0, names=aliases) if _is_vcrpy(module):
            missing = [alias.name for alias in aliases if alias.name not in _OURS.get(module, ())]
            foreign += [f"{node.lineno}: from {module} import {name}" for name in missing]
            said = ", ".join(alias.name + (f" as {alias.asname}" if alias.asname else "") for alias in aliases)
            return f"from {_PLACE}{module.removeprefix('vcr')} import {said}"
        case ast.Call(func=ast.Attribute(attr="importorskip"), args=[ast.Constant(value="vcr")]):
            return f'{ast.unparse(node.func)}("{_PLACE}")'
        case _:
            pass
    return None


def _is_vcrpy(module: str) -> bool:
    return module == "vcr" or module.startswith("vcr.")


def _foreign_uses(tree: ast.AST, names: set[str]) -> Iterator[str]:
    """Where the module is used for something that ours does not have: `vcr.stubs`."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in names:
                if attr not in _OURS["vcr"] and f"vcr.{attr}" not in _OURS:
                    yield f"{node.lineno}: {name}.{attr}"
            case _:
                pass


def recordings_below(tests: Path) -> list[Path]:
    """The recordings of vcrpy below a folder, or beside a file."""
    top = tests if tests.is_dir() else tests.parent
    files = (path for path in top.rglob("*") if path.suffix in _ENDINGS and path.is_file())
    own = (path for path in files if not _is_hidden(path.relative_to(top).parts))
    return sorted(path for path in own if _is_recording(path))


def _is_hidden(parts: Sequence[str]) -> bool:
    return any(part in FOREIGN or part.startswith(".") for part in parts)


def _is_recording(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return sniff(file.read(_HEAD))
    except OSError:
        return False
