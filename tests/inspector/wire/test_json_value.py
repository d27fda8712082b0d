"""JSON values are narrowed without trust."""

import tracemalloc

import pytest

from turntape.inspector.wire.json_value import Object, add_text, as_count, compact, compact_size


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (3, 3),
        (3.9, 3),
        (-3, -3),
        (0, 0),
        (2**53, 2**53),
        (-(2**53), -(2**53)),
        (2**53 + 2, None),
        (1e300, None),
        (float("inf"), None),
        (float("nan"), None),
        (True, None),
        ("3", None),
        ([3], None),
        (None, None),
    ],
)
def test_a_count_is_a_number_that_json_exchanges_exactly(value: object, count: int | None) -> None:
    assert as_count(value) == count


@pytest.mark.parametrize("value", [{"a": [1, None, "é\n"]}, "\ud83d", {"n": 2**80}])
def test_the_size_of_a_value_is_that_of_its_bytes(value: object) -> None:
    assert compact_size(value) == len(compact(value).encode("utf-8", "surrogatepass"))


def test_a_text_grows_where_it_is() -> None:
    fields: Object = {"a": "x" * 1_000_000, "b": None, "c": 1}
    tracemalloc.start()
    try:
        for _ in range(10):
            add_text(fields, "a", "yz")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    for piece in ("d", None, ""):
        add_text(fields, "b", piece)

    assert fields["a"] == "x" * 1_000_000 + "yz" * 10
    assert most < 1_500_000  # a sum needs the old text and the new one at once
    assert list(fields) == ["a", "b", "c"] and fields["b"] == "d"
