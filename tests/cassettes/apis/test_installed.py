"""The entry points, with and without those of other packages."""

import subprocess
import sys
import zipfile
from importlib.metadata import entry_points as asked
from pathlib import Path

import pytest

from turntape.cassettes.apis import installed
from turntape.cassettes.apis.installed import OwnPoint, entry_points

GROUPS = ["turntape.protocols", "turntape.rules"]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which packages are imported too."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def declare(folder: Path, package: str, text: str) -> None:
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(text)


@pytest.mark.parametrize("group", GROUPS)
def test_our_own_are_those_that_the_library_gives(group: str) -> None:
    found = entry_points(group=group)

    assert all(isinstance(point, OwnPoint) for point in found)
    assert {(p.name, p.value, p.dist and p.dist.name) for p in found} == {
        (p.name, p.value, p.dist and p.dist.name) for p in asked(group=group)
    }
    assert [point.load() for point in found] == [p.load() for f in found for p in asked(group=group, name=f.name)]


@pytest.mark.parametrize("group", GROUPS)
def test_those_of_another_package_are_found(elsewhere: Path, group: str) -> None:
    declare(elsewhere, "acme_tools", f"[{group}]\nacme = json:loads\n")

    assert ("acme", "json:loads") in {(point.name, point.value) for point in entry_points(group=group)}


def test_another_group_of_another_package_costs_nothing(elsewhere: Path) -> None:
    declare(elsewhere, "acme_tools", "[console_scripts]\nacme = json:loads\n")

    assert all(isinstance(point, OwnPoint) for point in entry_points(group=GROUPS[0]))


def test_of_two_installations_of_turntape_the_first_one_counts(elsewhere: Path) -> None:
    declare(elsewhere, "turntape", "[turntape.protocols]\nbuilt-in = json:loads\nCase = json:dumps\n")

    assert entry_points(group=GROUPS[0]) == (OwnPoint("built-in", "json:loads"), OwnPoint("Case", "json:dumps"))


def test_where_packages_come_from_an_archive_the_library_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "acme.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("acme-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
        file.writestr("acme-1.0.dist-info/entry_points.txt", "[turntape.rules]\nacme = json\n")
    monkeypatch.syspath_prepend(archive)

    assert "acme" in {point.name for point in entry_points(group="turntape.rules")}


def test_where_packages_are_found_in_another_way_the_library_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        @staticmethod
        def find_distributions(context: object) -> list[object]:
            return []

        @staticmethod
        def find_spec(*names: object) -> None:
            return None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])

    assert not any(isinstance(point, OwnPoint) for point in entry_points(group=GROUPS[0]))


def test_without_an_installation_the_library_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["/no/such/place"])

    assert installed._own(GROUPS[0]) is None


def test_reading_a_cassette_imports_no_library_for_packages() -> None:
    code = (
        "from turntape.inspector.wire.registry import protocols; protocols()\n"
        "from turntape.inspector.findings.catalogue import catalogue; catalogue()\n"
        "import sys; print('importlib.metadata' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout.split() == ["False"]
