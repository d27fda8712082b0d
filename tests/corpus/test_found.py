"""What docs/findings.md says of real traffic is what the rules find there."""

import re
from collections import Counter
from pathlib import Path

import pytest

from corpus import corpus
from corpus.found import findings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "findings.md"
ROW = re.compile(
    r"^\| `([a-z0-9-]+)` \| (error|warning) \| (model|api|client) \| (\d+) \| (\d+) \| (\d+) \| .+ \|$", re.MULTILINE
)
"""Class, severity, layer; how many were found, how many of them in healthy runs, and how many are true."""
TRUE = 0.95


def rows() -> list[tuple[tuple[str, str, str], int, int, int]]:
    return [((one[0], one[1], one[2]), int(one[3]), int(one[4]), int(one[5])) for one in ROW.findall(PAGE.read_text())]


def test_every_class_above_info_has_a_verdict_and_is_true() -> None:
    assert rows()
    assert [key for key, found, _, true in rows() if true < TRUE * found] == []


@pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)
def test_the_verdicts_are_about_what_is_found_now() -> None:
    above = [
        ((one.finding.id, one.finding.severity, one.finding.layer), one.healthy)
        for path in corpus.files()
        for one in findings(path)
        if one.finding.severity != "info"
    ]

    assert Counter(key for key, _ in above) == {key: found for key, found, _, _ in rows()}
    assert Counter(key for key, healthy in above if healthy) == {key: n for key, _, n, _ in rows() if n}
