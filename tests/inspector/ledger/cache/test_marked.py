"""A cache that keeps what a request marks: what it reads and writes, and what the answers teach it."""

from dataclasses import dataclass, field

import pytest

from turntape.inspector.ledger import Figure
from turntape.inspector.ledger.cache.marked import MarkedCache
from turntape.inspector.ledger.cache.prediction import NOTHING, UNKNOWN, Answered, Prediction
from turntape.inspector.ledger.cache.prefix_tree import ROOT, PrefixTree
from turntape.inspector.ledger.cache.prompt import Mark, Prompt
from turntape.inspector.wire.cache_rules import Marks
from turntape.inspector.wire.values import Usage

SHORT, LONG = 300.0, 3600.0


@dataclass
class Cached:
    """A cache of prompts whose blocks are words; a block has 4 bytes for each of its letters."""

    rule: Marks = field(default_factory=lambda: Marks(minimum=100, tail=3))
    place: int = -1

    def __post_init__(self) -> None:
        self.tree = PrefixTree()
        self.cache = MarkedCache(self.rule, self.tree)

    def prompt(
        self, words: str, *marks: int, at: float = 0.0, lifetime: float = SHORT, keyed: bool = False, ready: float = 0.0
    ) -> Prompt:
        node, nodes = ROOT, list[int]()
        for word in words.split():
            node = self.tree.child(node, hash(word), "messages", 4 * len(word))
            nodes.append(node)
        self.place += 1
        return Prompt(
            self.place, at, ready or at + 1, (), nodes, (), tuple(Mark(mark, lifetime) for mark in marks), (),
            keyed, self.rule.implicit,
        )  # fmt: skip

    def answer(
        self, prompt: Prompt, total: int | None, read: int | None, written: int | None, *, sums: bool = False
    ) -> Prediction:
        """Predict a request, then show the cache what its answer counts."""
        found = self.cache.predict(prompt)
        usage = Usage(input=total, cache_read=read, cache_write=written, output=1)
        self.cache.learn(prompt, found, Answered(usage, sums))
        return found

    def begun(self) -> "Cached":
        """After a first request: `system` and `ask` are kept, with 1,000 and 1,500 tokens."""
        self.answer(self.prompt("system", 0), 1003, 0, 1000)
        self.answer(self.prompt("system ask", 1, at=10), 1503, 1000, 500)
        return self


def test_nothing_is_said_of_a_first_request() -> None:
    cached = Cached()

    assert cached.cache.predict(cached.prompt("system", 0)) == UNKNOWN


def test_what_an_earlier_request_marked_is_read_to_the_token() -> None:
    cached = Cached().begun()

    found = cached.cache.predict(cached.prompt("system ask answer more", 3, at=20))

    assert (found.expected, found.read, found.position) == ("expected", Figure.exact(1500), 1)


def test_another_beginning_reads_nothing() -> None:
    cached = Cached().begun()

    found = cached.cache.predict(cached.prompt("other ask", 1, at=20))

    assert (found.expected, found.read, found.position) == ("expected", NOTHING.read, -1)


def test_an_entry_lives_from_its_last_use_for_its_lifetime() -> None:
    cached = Cached().begun()
    cached.answer(cached.prompt("system ask", 1, at=200), 1503, 1500, 0)

    assert cached.cache.predict(cached.prompt("system ask", 1, at=499)).position == 1
    late = cached.cache.predict(cached.prompt("system ask", 1, at=500))
    assert (late.position, late.read, late.dead, late.dead_tokens) == (-1, NOTHING.read, 2, 1500)


def test_an_earlier_request_that_is_answered_later_does_not_shorten_a_life() -> None:
    cached = Cached().begun()
    cached.answer(cached.prompt("system ask", 1, at=200), 1503, 1500, 0)
    cached.answer(cached.prompt("system ask", 1, at=100), 1503, 1500, 0)

    assert cached.cache.predict(cached.prompt("system ask", 1, at=450)).position == 1


def test_a_longer_lifetime_stays_when_a_mark_asks_for_less() -> None:
    cached = Cached()
    cached.answer(cached.prompt("system", 0, lifetime=LONG), 1003, 0, 1000)
    cached.answer(cached.prompt("system", 0, at=10), 1003, 1000, 0)

    assert cached.cache.predict(cached.prompt("system", 0, at=3000)).position == 0


def test_an_entry_cannot_be_read_before_its_answer_has_begun() -> None:
    cached = Cached()
    cached.answer(cached.prompt("system", 0, ready=5.0), 1003, 0, 1000)

    assert cached.cache.predict(cached.prompt("system", 0, at=4.9)).position == -1
    assert cached.cache.predict(cached.prompt("system", 0, at=5.0)).position == 0


def test_only_so_many_blocks_before_a_mark_are_searched() -> None:
    for look_back, position in ((3, 1), (2, -1), (None, 1)):
        cached = Cached(Marks(minimum=100, look_back=look_back)).begun()
        assert cached.cache.predict(cached.prompt("system ask b c", 3, at=20)).position == position


def test_each_mark_searches_the_blocks_before_it() -> None:
    """The nearer mark is searched first, and no block twice."""
    cached = Cached(Marks(minimum=100, look_back=2)).begun()
    marks = [Mark(1, SHORT), Mark(5, SHORT)]

    assert list(cached.cache._searched(marks)) == [5, 4, 1, 0]
    assert list(cached.cache._searched([Mark(4, SHORT), Mark(5, SHORT)])) == [5, 4, 3]
    assert cached.cache.predict(cached.prompt("system ask b c d e", 1, 5, at=20)).position == 1


def test_a_prefix_that_is_shorter_than_the_api_keeps_is_named() -> None:
    cached = Cached(Marks(minimum=1200)).begun()

    found = cached.cache.predict(cached.prompt("system other", 0, at=20))

    assert (found.position, found.short) == (-1, True)


@pytest.mark.parametrize(("keyed", "expected"), [(True, "expected"), (False, "possible")])
def test_where_a_key_is_needed_no_read_is_promised_without_it(keyed: bool, expected: str) -> None:
    cached = Cached(Marks(minimum=100, needs_key=True)).begun()

    assert cached.cache.predict(cached.prompt("system ask", 1, at=20, keyed=keyed)).expected == expected


def test_a_read_that_nobody_wrote_shows_that_others_use_the_cache() -> None:
    """So it does in the first request, and where more is read than was written."""
    first, more = Cached(), Cached().begun()
    first.answer(first.prompt("system", 0), 1003, 1000, 0)
    more.answer(more.prompt("system ask more", 2, at=20), 2003, 1900, 100)

    assert first.cache.predict(first.prompt("other", 0, at=20)).expected == "possible"
    assert more.cache.predict(more.prompt("other", 0, at=30)).expected == "possible"
    assert Cached().begun().cache.predict(Cached().prompt("other", 0, at=30)).expected == "expected"


@pytest.mark.parametrize(("read", "expected"), [(1502, "expected"), (1503, "possible")])
def test_counts_of_one_prefix_may_differ_by_two_tokens(read: int, expected: str) -> None:
    cached = Cached().begun()
    cached.answer(cached.prompt("system ask more", 2, at=20), 2003, read, 2000 - read)

    assert cached.cache.predict(cached.prompt("other", 0, at=30)).expected == expected


def test_an_answer_that_counts_neither_takes_the_entry_back() -> None:
    cached = Cached().begun()
    cached.answer(cached.prompt("system ask", 1, at=20), 1503, 0, 0)
    silent = Cached().begun()
    silent.answer(silent.prompt("system ask", 1, at=20), 1503, None, None)

    assert cached.cache.predict(cached.prompt("system ask", 1, at=30)).position == 0
    assert silent.cache.predict(silent.prompt("system ask", 1, at=30)).position == 1


def test_sums_over_several_runs_of_the_model_teach_no_size() -> None:
    cached = Cached().begun()
    cached.answer(cached.prompt("system ask more", 2, at=20), 9000, 5000, 500, sums=True)

    assert cached.tree.tokens[cached.prompt("system ask more").nodes[-1]] is None
    assert cached.cache.predict(cached.prompt("system ask more", 2, at=30)).position == 2
    assert cached.cache.predict(cached.prompt("other", 0, at=30)).expected == "expected"


def test_what_is_written_is_what_the_marks_add_to_the_read() -> None:
    cached = Cached().begun()
    prompt = cached.prompt("system ask more", 2, at=20)

    found = cached.cache.predict(prompt)

    assert cached.cache.written(prompt, found, 2003) == Figure.exact(500)
    assert cached.cache.written(prompt, found, 1503) == Figure.exact(0)
    assert cached.cache.written(prompt, found, None) is None
    assert cached.cache.written(prompt, UNKNOWN, 2003) is None
    bare = cached.prompt("system ask more", at=20)
    assert cached.cache.written(bare, cached.cache.predict(bare), 2003) == Figure.exact(0)


def test_before_an_answer_shows_the_end_of_a_prompt_it_is_a_guess() -> None:
    cached = Cached(Marks(minimum=100, tail=3))

    assert cached.cache.end(cached.prompt("system ask", 1), 1003) == Figure(1000, 996, 1003, "estimated")
    assert cached.cache.end(cached.prompt("system ask"), 1003) is None


def test_the_end_of_a_mark_within_a_prompt_is_shared_out_by_bytes_behind_what_is_known() -> None:
    """`system` is known; `four` and `eighteen` have 4 and 8 letters."""
    cached = Cached()
    prompt = cached.prompt("system four eighteen", 1)
    assert cached.cache.end(prompt, 1803) == Figure(1000, 0, 1803, "estimated")

    cached.answer(cached.prompt("system", 0), 1003, 0, 1000)
    assert cached.cache.end(prompt, 2203) == Figure(1400, 1000, 2203, "estimated")


def test_a_prompt_that_the_api_keeps_unasked_has_a_mark_at_its_end() -> None:
    cached = Cached(Marks(minimum=100, implicit=True))
    last = Mark(2, cached.rule.lifetime)

    assert cached.cache._marks(cached.prompt("a b c")) == [last]
    assert cached.cache._marks(cached.prompt("a b c", 0)) == [Mark(0, SHORT), last]
    assert cached.cache._marks(cached.prompt("a b c", 0, 2, lifetime=LONG)) == [Mark(0, LONG), Mark(2, LONG)]
    assert cached.cache._marks(cached.prompt("")) == []


def test_only_the_last_marks_are_kept() -> None:
    cached = Cached(Marks(minimum=100, most_written=1))
    cached.answer(cached.prompt("system ask", 0, 1), 1503, 0, 1500)

    assert cached.cache.predict(cached.prompt("system other", 0, 1, at=20)).position == -1
    assert cached.cache.predict(cached.prompt("system ask", 1, at=20)).position == 1


def test_the_longest_kept_beginning_can_be_reached() -> None:
    cached = Cached().begun()

    assert cached.cache.reachable(cached.prompt("system ask more").nodes) == 1500
    assert cached.cache.reachable(cached.prompt("system other").nodes) == 1000
    assert cached.cache.reachable(cached.prompt("other").nodes) is None
