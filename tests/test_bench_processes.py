"""What a benchmark starts ends with it, however it ends."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent / "bench"
CODE = """
import os, signal, sys, tempfile
sys.path.insert(0, sys.argv[1])
from _processes import started
with tempfile.TemporaryDirectory(dir=sys.argv[2]):
    started([sys.executable, "-c", "import time; print('runs', flush=True); time.sleep(3600)"])
    signal.pause()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends them there only")
@pytest.mark.parametrize("how", ["terminate", "kill"])
def test_what_it_has_started_ends_with_it(how: str, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CODE, str(BENCH), str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as bench:
        assert bench.stdout
        said = bench.stdout.readline()
        getattr(bench, how)()
        rest = bench.stdout.read()  # ends with the last process that has it

    assert (said, rest, bench.returncode) == ("runs\n", "", 143 if how == "terminate" else -9)
    assert bool([*tmp_path.iterdir()]) == (how == "kill"), "a folder is removed where that is possible"
