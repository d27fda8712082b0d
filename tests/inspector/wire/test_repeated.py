from collections.abc import Iterator

from turntape.inspector.wire.json_value import as_array
from turntape.inspector.wire.repeated import Repeated


def numbered(items: object, pointer: str) -> Iterator[list[object]]:
    return ([f"{pointer}/{place}", item] for place, item in enumerate(as_array(items)))


def test_a_list_that_is_spelled_as_before_gives_the_same_objects() -> None:
    lists = Repeated(numbered)
    first = lists.of([{"a": 1, "b": 2}], "/tools")
    assert first == (["/tools/0", {"a": 1, "b": 2}],)
    assert lists.of([{"a": 1, "b": 2}], "/tools") is first


def test_another_order_of_keys_another_number_or_another_place_is_another_list() -> None:
    lists = Repeated(numbered)
    first = lists.of([{"a": 1, "b": 2}], "/tools")
    for items, pointer in (
        ([{"b": 2, "a": 1}], "/tools"),
        ([{"a": 1.0, "b": 2}], "/tools"),
        ([{"a": 1, "b": 2}], "/x"),
    ):
        assert lists.of(items, pointer) is not first
    assert lists.of(None, "/tools") == ()
