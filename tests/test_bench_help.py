"""`--help` of every benchmark prints what it measures and which options it has, and measures nothing."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted(path.stem for path in (ROOT / "bench").glob("*.py") if not path.stem.startswith("_"))
PACKAGES = ["bench", *sorted(f"bench.{path.parent.name}" for path in (ROOT / "bench").glob("*/__main__.py"))]


@pytest.fixture(autouse=True)
def asked_for_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arguments, what a benchmark imports, and no process that it could measure."""

    def measured(_: object, command: object, *rest: object, **options: object) -> None:
        raise AssertionError(f"it starts {command}")

    monkeypatch.setattr(subprocess.Popen, "__init__", measured)
    monkeypatch.setattr(sys, "argv", ["bench", "--help"])
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.parametrize("name", FILES)
def test_a_benchmark_of_one_file_prints_its_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "bench" / f"{name}.py"), run_name="__main__")

    assert (ended.value.code, capsys.readouterr().out.partition(" ")[0]) == (0, "usage:")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_benchmark_of_several_files_prints_its_help(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another test of this process may have imported it; `runpy` warns of that.
    monkeypatch.delitem(sys.modules, f"{name}.__main__", raising=False)
    try:
        with pytest.raises(SystemExit) as ended:
            runpy.run_module(name, run_name="__main__", alter_sys=False)
    except ModuleNotFoundError as exc:
        pytest.skip(f"{exc.name} is not installed")

    assert (ended.value.code, capsys.readouterr().out.partition(" ")[0]) == (0, "usage:")
