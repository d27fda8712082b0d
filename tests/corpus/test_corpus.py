"""Real recorded traffic, read by our code and by an independent reader: they must say the same."""

import pytest

from corpus import corpus
from corpus.agreement import EXPLANATIONS, Explanation, compare, count

pytestmark = pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)


def test_every_cassette_agrees_with_the_independent_reader() -> None:
    """Protocols, streams, tools, calls, finish words, errors: equal, or explained by name.

    An explanation that explains nothing must go. The corpus is read once.
    """
    differences: list[str] = []
    used: set[Explanation] = set()
    for counts in (counts for path in corpus.files() for counts in count(path).values()):
        differences += [f"{counts.cassette}: {fault}" for fault in counts.faults]
        for row in compare(counts):
            explanation = row.explanation if row.ours != row.theirs else None
            if explanation:
                used.add(explanation)
            elif row.ours != row.theirs:
                differences.append(f"{row.cassette} {row.fact}: ours {row.ours!r}, theirs {row.theirs!r}")

    assert not differences, "\n".join(differences)
    assert used == set(EXPLANATIONS)
