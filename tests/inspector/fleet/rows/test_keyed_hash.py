"""Keyed hashes: the same for equal values under one key, and never comparable with another."""

from turntape.inspector.fleet.rows.keyed_hash import DIGITS, KeyedHash, canonical


def test_equal_values_have_equal_hashes_whatever_the_order_of_keys() -> None:
    one = KeyedHash(b"key")

    assert one.value({"a": 1, "b": [{"d": 1, "c": 2}]}) == one.value({"b": [{"c": 2, "d": 1}], "a": 1})
    assert one.value({"a": 1}) != one.value({"a": 2})
    assert len(one.text("hi")) == DIGITS


def test_another_key_gives_another_hash() -> None:
    assert KeyedHash(b"one").text("hi") != KeyedHash(b"two").text("hi")


def test_values_that_json_libraries_refuse_have_a_hash() -> None:
    large, lone = {"b": 2**70, "a": 1}, {"b": "\ud800", "a": 1}

    assert canonical(large) == b'{"a":1,"b":1180591620717411303424}'
    assert KeyedHash(b"key").value(lone) == KeyedHash(b"key").value({"a": 1, "b": "\ud800"})
