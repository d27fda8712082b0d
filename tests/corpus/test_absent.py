"""Each report over the corpus says so when the corpus is not there, and never reports a count of nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from . import corpus


@pytest.mark.parametrize("script", ["found.py", "prices.py", "table.py"])
def test_a_report_without_the_corpus_says_where_it_should_be(tmp_path: Path, script: str) -> None:
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name(script)],
        env={"TURNTAPE_CORPUS": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout, done.stderr) == (2, "", corpus.ABSENT + "\n")
