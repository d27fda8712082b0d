"""A module of a package can be imported without the package's own content, which comes when it is requested."""

import sys
from pathlib import Path

import pytest

from turntape.cassettes.lean_package import prepare

NAME = "heavy_package"


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / NAME
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import slow\nanswer = 42\n")
    (folder / "slow.py").write_text("")
    (folder / "quick.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in (NAME, f"{NAME}.slow", f"{NAME}.quick"):
        monkeypatch.setitem(sys.modules, name, None)  # so that it is gone after the test
        del sys.modules[name]


def test_a_module_is_imported_alone() -> None:
    prepare(NAME)
    from heavy_package import quick  # pyright: ignore[reportMissingImports]

    assert quick.value == 1
    assert f"{NAME}.slow" not in sys.modules


def test_the_content_comes_when_it_is_requested() -> None:
    prepare(NAME)
    import heavy_package  # pyright: ignore[reportMissingImports]

    assert heavy_package.answer == 42
    assert f"{NAME}.slow" in sys.modules
    with pytest.raises(AttributeError, match="unheard"):
        _ = heavy_package.unheard


def test_a_package_that_is_there_is_left_alone() -> None:
    import heavy_package  # pyright: ignore[reportMissingImports]

    prepare(NAME)

    assert sys.modules[NAME] is heavy_package


@pytest.mark.parametrize("name", ["no_such_package_here", "json.decoder"])
def test_what_is_not_a_package_is_left_alone(name: str) -> None:
    prepare(name)

    assert (name in sys.modules) == (name == "json.decoder")
