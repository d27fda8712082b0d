"""What users install works without the checkout."""

import email
import ensurepip
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from public_names import PUBLIC

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our source distribution, and the wheel that is built from it.

    It is built from a copy of what git tracks, so that no build directory appears in the checkout.
    """
    source = tmp_path_factory.mktemp("source")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, tracked.decode().split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(path.read_bytes())
    out = tmp_path_factory.mktemp("dist")
    # Without isolation, which would fetch the build backend.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


def test_a_source_distribution_holds_what_builds_the_wheel_and_no_part_of_the_tests(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "public/__init__.py"} <= names
    assert not {name for name in names if name.startswith(("tests", "bench", "docs"))}


def test_the_wheel_holds_every_module(wheel: Path) -> None:
    shipped = set(zipfile.ZipFile(wheel).namelist())

    modules = {
        f"turntape/{p.relative_to(ROOT).as_posix()}"
        for floor in ("cassettes", "inspector", "proxy")
        for p in (ROOT / floor).rglob("*.py")
    }

    assert not modules - shipped
    assert {
        "turntape/__init__.py",
        "turntape/py.typed",
        "turntape/cassettes/py.typed",
        "turntape/inspector/py.typed",
        "turntape/inspector/views/report/page.css",
        "turntape/inspector/views/report/page.js",
        "turntape/proxy/py.typed",
    } <= shipped


def test_links_of_the_page_on_the_index_lead_into_the_repository(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        page = email.message_from_bytes(archive.read(name)).get_payload()
    assert isinstance(page, str)
    targets = re.findall(r'(!?)\[[^\]]*\]\(([^)]+)\)|src(?:set)?="([^"]+)"', page)
    inner = {target.split("/main/")[-1] for _, *either in targets for target in either if "/turntape/" in target}

    assert [target for _, *either in targets for target in either if target and "://" not in target] == []
    assert {"docs/play.svg", "docs/mcp.md", "docs/view-run-120x40-dark.svg"} <= inner
    assert [one for one in sorted(inner) if not (ROOT / one).exists()] == []
    assert all("raw.githubusercontent.com" in f"{link}{source}" for sign, link, source in targets if sign or source)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has our wheel and our dependencies, and not our checkout."""
    home = tmp_path_factory.mktemp("env")
    venv.create(home)
    site = next((home / "lib").glob("python*/site-packages"))
    packages = Path(next(p for p in sys.path if p.endswith("site-packages")))
    # The pip that Python carries runs as it is: to install it first takes three times as long.
    pip = next((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"))
    install = [home / "bin" / "python", pip / "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*install, wheel], check=True)
    # The dependencies come from the environment of the tests: no test needs the network.
    for entry in packages.iterdir():
        if "turntape" not in entry.name and not (site / entry.name).exists():
            (site / entry.name).symlink_to(entry)
    return home


def output(home: Path, program: str, *arguments: str) -> str:
    """What a program of the environment prints, away from the checkout."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    command = [home / "bin" / program, *arguments]
    return subprocess.run(command, cwd=home, env=environ, capture_output=True, text=True, check=True).stdout


def test_an_installed_wheel_gives_a_working_turntape(environment: Path) -> None:
    assert output(environment, "turntape", "--version").startswith("turntape ")
    assert str(environment) in output(environment, "python", "-c", "import turntape.proxy.cli as m; print(m.__file__)")


NAMES = """
import importlib, turntape
for package in ("turntape", "turntape.cassettes", "turntape.cassettes.vcr", "turntape.inspector", "turntape.proxy"):
    for name in importlib.import_module(package).__all__:
        getattr(importlib.import_module(package), name)
        print(package, name)
print(turntape.__file__)
"""


def test_an_installed_wheel_gives_every_public_name(environment: Path) -> None:
    *names, where = output(environment, "python", "-c", NAMES).splitlines()

    assert names == [f"{package} {name}" for package, public in PUBLIC.items() for name in public]
    assert str(environment) in where
