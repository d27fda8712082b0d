"""Whether a cache was used and read: by the API's own counts."""

import pytest

from turntape.inspector.findings.prompt_cache import still_read
from turntape.inspector.wire.values import Usage


def usage(read: int | None, written: int | None = None, whole: int | None = 5000) -> Usage:
    return Usage(input=whole, cache_read=read, cache_write=written)


@pytest.mark.parametrize(
    ("then", "now", "expected"),
    [
        (usage(0, 4000), usage(4000), True),
        (usage(0, 4000), usage(3600), True),
        (usage(0, 4000), usage(3599), False),
        (usage(1000, 3000), usage(3600), True),
        (usage(1000, 3000), usage(1000), False),
        (usage(4000), usage(4000), True),
        (usage(4000), usage(3999), False),
        (usage(4800), usage(4319), False),
        (usage(4800), usage(4320), True),
        (usage(0), usage(4000), True),
        (usage(None), usage(4000), True),
        (usage(2000), usage(2000), False),
        (usage(0), usage(0), False),
        (usage(4000), usage(None), False),
    ],
)
def test_a_cache_was_read_when_nearly_all_that_it_held_was_read(then: Usage, now: Usage, expected: bool) -> None:
    assert still_read(then, now) is expected


def test_without_counts_nothing_was_read() -> None:
    assert not still_read(None, usage(4000))
    assert not still_read(usage(4000), None)
