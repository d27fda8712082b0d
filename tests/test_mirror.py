"""Tests mirror the modules by name, so that a reader finds the tests of a module, and the module of a test."""

from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
FLOORS = ("cassettes", "inspector", "proxy")


def files(folder: Path) -> list[str]:
    """The Python files below `folder`, as paths relative to it."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if "__pycache__" not in path.parts
    )


def strays(tests: Iterable[str], modules: Iterable[str]) -> list[str]:
    """Test files that mirror neither a module nor a package.

    `cassettes/tape/test_reader.py` mirrors `cassettes/tape/reader.py`, and `cassettes/test_tape.py` mirrors the package
    `cassettes/tape`.
    """
    known = {module.removesuffix(".py").removesuffix("/__init__") for module in modules}
    mirrored = {test: test.removesuffix(".py").replace("/test_", "/") for test in tests if "/test_" in test}
    return [test for test, module in mirrored.items() if module not in known]


def test_every_test_file_mirrors_a_module() -> None:
    modules = [f"{floor}/{name}" for floor in FLOORS for name in files(ROOT / floor)]
    tests = [f"{floor}/{name}" for floor in FLOORS for name in files(ROOT / "tests" / floor)]

    assert len(tests) > 100
    assert not strays(tests, modules)


def test_a_stray_test_file_is_found() -> None:
    modules = ["cassettes/tape/__init__.py", "cassettes/tape/reader.py"]

    assert strays(["cassettes/tape/test_reader.py", "cassettes/test_tape.py", "cassettes/conftest.py"], modules) == []
    assert strays(["cassettes/test_reader.py", "cassettes/tape/test_x.py"], modules) == [
        "cassettes/test_reader.py",
        "cassettes/tape/test_x.py",
    ]
