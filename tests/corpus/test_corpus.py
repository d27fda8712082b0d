"""Real recorded traffic, read by our code and by an independent reader: they must say the same."""

from collections import Counter
from pathlib import Path

import pytest

from corpus import corpus
from corpus.agreement import EXPLANATIONS, FACTS, Explanation, compare, count

pytestmark = pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)

FILES = corpus.files()


@pytest.mark.parametrize("path", FILES, ids=[path.name.removesuffix(".jsonl.zst") for path in FILES])
def test_every_cassette_agrees_with_the_independent_reader(path: Path) -> None:
    """Protocols, streams, tools, calls, finish words, errors: equal, or explained by name."""
    differences: list[str] = []
    for counts in count(path).values():
        assert not counts.faults, f"{counts.cassette}: {counts.faults}"
        for row in compare(counts):
            if row.ours != row.theirs and row.explanation is None:
                differences.append(f"{row.cassette} {row.fact}: ours {row.ours!r}, theirs {row.theirs!r}")
    assert not differences, "\n".join(differences)


def test_every_explanation_is_needed_and_all_but_a_thousandth_agrees() -> None:
    """Explanations that explain nothing go; tool calls and finish words meet the bar of 99.9 %."""
    used: set[Explanation] = set()
    agreed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for row in (row for path in FILES for counts in count(path).values() for row in compare(counts)):
        explanation = row.explanation if row.ours != row.theirs else None
        agreed[row.fact] += row.total if explanation else row.agreed
        total[row.fact] += row.total
        if explanation:
            used.add(explanation)
    assert used == set(EXPLANATIONS)
    assert all(agreed[fact] >= 0.999 * total[fact] for fact in FACTS)
