import pytest

from turntape.inspector.tools.arguments import differences, meaning, same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"b": 1.0, "a": "é"}, {"a": "é", "b": 1}),
        (None, {}),
        ({"i": 10000000000000000001}, {"i": 1e19}),
        ([True, None], [True, None]),
    ],
)
def test_what_clients_write_again_means_the_same(one: object, other: object) -> None:
    assert same(one, other)
    assert meaning(one) == meaning(other)
    assert list(differences(one, other)) == []


@pytest.mark.parametrize(
    ("one", "other", "paths"),
    [
        ({"a": 1}, {"a": True}, ["/a"]),
        ({"a": 1}, {"a": "1"}, ["/a"]),
        ({"a": 1}, {"a": "1.0"}, ["/a"]),
        ({"a": None}, {}, ["/a"]),
        ({}, {"x/y": 1}, ["/x~1y"]),
        ({"l": [1, 2]}, {"l": [1, 3]}, ["/l/1"]),
        ({"l": [1, 2]}, {"l": [1]}, ["/l"]),
        ("text", {"a": 1}, [""]),
    ],
)
def test_the_places_of_other_meaning_are_named(one: object, other: object, paths: list[str]) -> None:
    assert not same(one, other)
    assert list(differences(one, other)) == paths


def test_an_integer_beyond_all_doubles_is_itself() -> None:
    assert same({"i": 10**400}, {"i": 10**400})
    assert not same({"i": 10**400}, {"i": 10**400 + 1})


@pytest.mark.parametrize(("given", "found"), [(2**60 + 1, ["/i"]), (2**60, []), (float(2**60), [])])
def test_an_integer_that_was_rounded_is_joined_and_is_another_one(given: object, found: list[str]) -> None:
    assert same({"i": 2**60}, {"i": given})
    assert list(differences({"i": 2**60}, {"i": given})) == found
