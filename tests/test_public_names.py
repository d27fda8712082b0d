"""What `import turntape` promises."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from public_names import PUBLIC

import turntape

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


@pytest.mark.parametrize("package", PUBLIC)
def test_the_public_names_are_these(package: str) -> None:
    assert tuple(importlib.import_module(package).__all__) == PUBLIC[package]


@pytest.mark.parametrize(("package", "name"), [(p, name) for p, names in PUBLIC.items() for name in names])
def test_every_public_name_can_be_imported(package: str, name: str) -> None:
    found = getattr(importlib.import_module(package), name)

    assert name == "__version__" or getattr(found, "__module__", "").startswith("turntape.")


@pytest.mark.parametrize("package", PUBLIC)
def test_any_other_name_is_missing(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Casette'"):
        _ = importlib.import_module(package).Casette


def test_a_name_is_the_same_object_wherever_it_is_imported_from() -> None:
    from turntape import cassettes, inspector

    for name in PUBLIC["turntape"]:
        home = cassettes if name in cassettes.__all__ else inspector
        assert name == "__version__" or getattr(turntape, name) is getattr(home, name)


def test_the_version_is_that_of_the_package() -> None:
    assert turntape.__version__ == tomllib.loads(PYPROJECT.read_text())["project"]["version"]


def test_the_names_are_listed_before_they_are_imported() -> None:
    code = "import turntape; print(*dir(turntape))"

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert set(PUBLIC["turntape"]) <= set(shown)


@pytest.mark.parametrize("package", PUBLIC)
def test_importing_a_package_imports_none_of_its_names(package: str) -> None:
    code = f"import sys, {package} as m; print(*[n for n in m.__all__ if n in vars(m)], len(sys.modules))"

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert len(shown) == 1
