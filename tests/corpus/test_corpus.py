"""Real recorded traffic, read by our code and by an independent reader: they must say the same."""

from pathlib import Path

import pytest

from corpus import corpus
from corpus.agreement import compare, count

pytestmark = pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)

EXPLAINED: dict[tuple[str, str], str] = {}
"""Cassette and fact that differ, and why."""

FILES = corpus.files()


@pytest.mark.parametrize("path", FILES, ids=[path.name.removesuffix(".jsonl.zst") for path in FILES])
def test_every_cassette_agrees_with_the_independent_reader(path: Path) -> None:
    """Protocols, streams, tools, calls, finish words, errors: equal, or explained by name."""
    differences: list[str] = []
    for counts in count(path).values():
        assert not counts.faults, f"{counts.cassette}: {counts.faults}"
        for row in compare(counts):
            if row.ours != row.theirs and (row.cassette, row.fact) not in EXPLAINED:
                differences.append(f"{row.cassette} {row.fact}: ours {row.ours!r}, theirs {row.theirs!r}")
    assert not differences, "\n".join(differences)


def test_every_explanation_is_still_needed() -> None:
    """A difference that is gone leaves the table of explanations."""
    found = {
        (row.cassette, row.fact)
        for path in FILES
        for counts in count(path).values()
        for row in compare(counts)
        if row.ours != row.theirs
    }
    assert set(EXPLAINED) <= found
