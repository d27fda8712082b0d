"""What docs/findings.md says of real traffic is what the rules find there."""

import re
from collections import Counter
from pathlib import Path

import pytest

from corpus import corpus
from corpus.found import findings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "findings.md"
ROW = re.compile(r"^\| `([a-z0-9-]+)` \| (model|api|client) \| (\d+) \| .+ \|$", re.MULTILINE)


@pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)
def test_every_error_on_real_traffic_has_its_verdict() -> None:
    errors = Counter(
        (str(finding["id"]), str(finding["layer"]))
        for path in corpus.files()
        for _, _, finding in findings(path)
        if finding["severity"] == "error"
    )

    assert errors == {(name, layer): int(count) for name, layer, count in ROW.findall(PAGE.read_text())}
