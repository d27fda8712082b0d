"""What users install works without the checkout."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our wheel, built from a copy of what git tracks, so that no build directory appears in the checkout."""
    source = tmp_path_factory.mktemp("source")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, tracked.decode().split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(path.read_bytes())
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(source)],
        check=True,
        capture_output=True,
    )
    return next(out.glob("*.whl"))


def test_the_wheel_holds_every_module(wheel: Path) -> None:
    shipped = set(zipfile.ZipFile(wheel).namelist())

    modules = {
        f"turntape/{p.relative_to(ROOT).as_posix()}"
        for floor in ("cassettes", "inspector", "proxy")
        for p in (ROOT / floor).rglob("*.py")
    }

    assert not modules - shipped
    assert {
        "turntape/cassettes/py.typed",
        "turntape/inspector/py.typed",
        "turntape/inspector/views/report/page.css",
        "turntape/inspector/views/report/page.js",
        "turntape/proxy/py.typed",
    } <= shipped


def test_an_installed_wheel_gives_a_working_turntape(wheel: Path, tmp_path: Path) -> None:
    """In an environment that has our dependencies and not our checkout."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    site = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    packages = Path(next(p for p in sys.path if p.endswith("site-packages")))
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    # The dependencies come from the environment of the tests: no test needs the network.
    for entry in packages.iterdir():
        if "turntape" not in entry.name and not (site / entry.name).exists():
            (site / entry.name).symlink_to(entry)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}

    shown = subprocess.run(
        [tmp_path / "env" / "bin" / "turntape", "--version"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert shown.stdout.startswith("turntape ")
    where = subprocess.run(
        [python, "-c", "import turntape.proxy.cli as m; print(m.__file__)"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert str(tmp_path) in where
