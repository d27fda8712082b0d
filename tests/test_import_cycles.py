"""Imports go one way: neighbours in a folder do not import each other, and every module can be imported first."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from house import imports, sources


def import_cycles(house: Mapping[str, str]) -> list[str]:
    """The pairs of neighbours in a folder, modules or packages, that import each other, also by a detour.

    `house` has each module's text by its path. A package's `__init__` does not count: it offers what is below it.
    """
    neighbours = _imported_neighbours(house)
    return [
        f"{one} -> {other}"
        for one, imported in sorted(neighbours.items())
        for other in sorted(imported)
        if one in _reachable(other, neighbours)
    ]


def _reachable(start: str, neighbours: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    ahead = [start]
    while ahead:
        one = ahead.pop()
        if one not in reached:
            reached.add(one)
            ahead += neighbours.get(one, ())
    return reached


def _imported_neighbours(house: Mapping[str, str]) -> dict[str, set[str]]:
    """Which of its neighbours in the same folder each module or package imports, from anywhere within it."""
    names = {(*Path(where).parent.parts, Path(where).stem): where for where in house}
    known = names.keys() | {name[:-1] for name in names}
    neighbours: dict[str, set[str]] = {}
    for ours, where in names.items():
        for name in imports(where, house[where]):
            top, *parts = name.split(".")
            theirs = tuple(parts) if top == "turntape" else ()  # a package of a library may have a name of ours
            differ = (i for i, (one, other) in enumerate(zip(ours, theirs, strict=False), 1) if one != other)
            level = next(differ, None)
            if level is not None and ours[-1] != "__init__" and theirs[:level] in known:
                neighbours.setdefault("/".join(ours[:level]), set()).add("/".join(theirs[:level]))
    return neighbours


def test_neighbours_import_one_way() -> None:
    house = sources()

    assert len(house) > 300
    assert sum(map(len, _imported_neighbours(house).values())) > 500
    assert not import_cycles(house)


HOUSE = {
    "proxy/__init__.py": "from .engine.engine import Engine",
    "proxy/engine/__init__.py": "",
    "proxy/engine/engine.py": "from ..capture import routing\nfrom .master import LeanMaster",
    "proxy/engine/master.py": "",
    "proxy/capture/routing.py": "from turntape.cassettes.errors import TurntapeError",
    "proxy/limits/limits.py": "",
}


@pytest.mark.parametrize(
    ("where", "source", "cycle"),
    [
        (
            "proxy/capture/routing.py",
            "from ..engine import Engine",
            ["proxy/capture -> proxy/engine", "proxy/engine -> proxy/capture"],
        ),
        (
            "proxy/engine/master.py",
            "def f():\n    from . import engine",
            ["proxy/engine/engine -> proxy/engine/master"],
        ),
        (
            "proxy/engine/master.py",
            "if TYPE_CHECKING:\n    import turntape.proxy.engine.engine",
            ["proxy/engine/master -> proxy/engine/engine"],
        ),
    ],
)
def test_a_planted_import_cycle_is_found(where: str, source: str, cycle: list[str]) -> None:
    assert not import_cycles(HOUSE)
    assert set(cycle) <= set(import_cycles({**HOUSE, where: source}))


def test_a_package_of_a_library_is_not_ours() -> None:
    assert not import_cycles({**HOUSE, "proxy/capture/routing.py": "from mitmproxy.proxy.engine import x"})


def test_an_import_cycle_with_a_detour_is_found() -> None:
    detour = {
        "proxy/capture/routing.py": "from ..limits.limits import x",
        "proxy/limits/limits.py": "from ..engine import master",
    }

    assert import_cycles({**HOUSE, **detour}) == [
        "proxy/capture -> proxy/limits",
        "proxy/engine -> proxy/capture",
        "proxy/limits -> proxy/engine",
    ]


def circular_imports(house: Mapping[str, str]) -> list[str]:
    """The packages of which a name is needed before `__init__` has made it, if the wrong module is imported first.

    `__init__` runs before any module of its package. What it imports at its top runs then too.
    """
    names = {(*Path(where).parent.parts, Path(where).stem): where for where in house}
    needed = {".".join(ours): set(_needed(ours, house[where], names)) for ours, where in names.items()}
    return sorted(
        f"{one} -> {other}"
        for one, others in needed.items()
        for other in others
        if "__init__" in f"{one} {other}" and one in _reachable(other, needed)
    )


def _needed(ours: tuple[str, ...], source: str, names: Mapping[tuple[str, ...], str]) -> Iterator[str]:
    """The modules and packages that must be complete before the imports at the top of a module are."""
    top = (node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom))
    for name in imports(names[ours], "\n".join(map(ast.unparse, top))):
        theirs = tuple(name.split(".")[1:])
        if theirs in names:
            yield ".".join(theirs)
        elif (*theirs, "__init__") not in names and (*theirs[:-1], "__init__") in names:
            yield ".".join((*theirs[:-1], "__init__"))  # a name that `__init__` has to make
        packages = ((*theirs[:end], "__init__") for end in range(1, len(theirs) + 1))
        yield from (".".join(each) for each in packages if each in names and each[:-1] != ours[: len(each) - 1])


def test_every_module_can_be_imported_first() -> None:
    house = sources()

    assert not circular_imports(house)


PACKAGE = {
    "inspector/__init__.py": "def __getattr__(name): from .wire.rewrite import remade",
    "inspector/wire/__init__.py": "",
    "inspector/wire/registry.py": "from .protocols.chat import CHAT",
    "inspector/wire/protocols/__init__.py": "",
    "inspector/wire/protocols/chat.py": "from ..rewrite.edit import x",
    "inspector/wire/rewrite/__init__.py": "from .rewrite import remade",
    "inspector/wire/rewrite/rewrite.py": "",
    "inspector/wire/rewrite/edit.py": "from . import remade",
}


@pytest.mark.parametrize(
    ("where", "source", "circular"),
    [
        (
            "inspector/wire/rewrite/rewrite.py",
            "from ..registry import detect",
            ["inspector.wire.protocols.chat -> inspector.wire.rewrite.__init__"],
        ),
        (
            "inspector/wire/rewrite/rewrite.py",
            "from . import edit",
            ["inspector.wire.rewrite.edit -> inspector.wire.rewrite.__init__"],
        ),
        (
            "inspector/wire/rewrite/rewrite.py",
            "from turntape.inspector.wire.rewrite import remade",
            ["inspector.wire.rewrite.rewrite -> inspector.wire.rewrite.__init__"],
        ),
    ],
)
def test_a_planted_circular_import_is_found(where: str, source: str, circular: list[str]) -> None:
    assert not circular_imports(PACKAGE)
    assert set(circular) <= set(circular_imports({**PACKAGE, where: source}))
