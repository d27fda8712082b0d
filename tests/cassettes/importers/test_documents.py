"""Documents as plain values, and one sentence for each that cannot be read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from turntape.cassettes.importers.documents import (
    json_document,
    kind,
    number,
    status_code,
    text,
    toml_document,
    yaml_document,
)
from turntape.cassettes.importers.format import ImportFault, Origin

PATH = Path("a.file")
HERE = Origin("yaml", PATH, "interactions[0]")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (b"12:30", "12:30"), (b"2026-01-01", "2026-01-01"), (b"yes", "yes"), (b"010", "010"), (b"0x1f", "0x1f"),
        (b"true", True), (b"FALSE", False), (b"~", None), (b"Null", None), (b"-12", -12), (b"0", 0), (b"1.50", 1.5),
        (b"1e3", 1000.0), (b".5", 0.5), (b'"12"', "12"), (b"!!binary aGk=", b"hi"), (b"!binary aGk=", b"hi"),
        (b"!!python/bytes aGk=", b"hi"), (b"!!python/str hi", "hi"), (b"!!python/tuple [1, 2]", [1, 2]),
        (b"!!python/object/new:io.BytesIO {state: !!python/tuple [x, 0]}", "x"),
        (b"!!python/object/apply:a.B [hi]", "hi"), (b"!!python/object:a.B {x: 1}", {"x": 1}),
    ],
)  # fmt: skip
def test_a_plain_value_is_read_as_yaml_1_2_has_it(written: bytes, value: object) -> None:
    found = yaml_document(b"a: " + written, PATH)

    assert found == {"a": value} and isinstance(found, dict) and type(found["a"]) is type(value)


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (yaml_document, b"a: " + b"[" * 100_000),
        (yaml_document, b"a: " + b"{b: " * 100_000),
        (yaml_document, b"- " * 50_000 + b"x"),
        (yaml_document, b"\n".join(b" " * depth + b"a:" for depth in range(1200))),
        (json_document, b"[" * 100_000),
        (toml_document, b"a = " + b"[" * 100_000),
    ],
    ids=["yaml lists", "yaml mappings", "yaml blocks", "yaml indentation", "json", "toml"],
)
def test_values_that_are_nested_too_deeply_are_one_sentence(read: Callable[[bytes, Path], object], data: bytes) -> None:
    with pytest.raises(ImportFault, match="nested too deep") as raised:
        read(data, PATH)

    assert "\n" not in str(raised.value) and "'a.file'" in str(raised.value)


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (yaml_document, b"a: " + b"1" * 5000), (json_document, b"[" + b"1" * 5000 + b"]"),
        (toml_document, b"a = " + b"1" * 5000), (yaml_document, b"a: !!int x"), (yaml_document, b"a: !!timestamp x"),
        (yaml_document, b"a: !!bool x"),
        (yaml_document, b"a: !!python/bytes x"), (yaml_document, b"a: 'x"), (json_document, b"{"),
        (json_document, b"\xff"), (toml_document, b"a"), (toml_document, b"\xff"), (yaml_document, b"\xff\xff"),
        (yaml_document, b"a: &x [*x]"), (yaml_document, b"a: *x"),
    ],
    ids=lambda one: one.__name__ if callable(one) else repr(one[:20]),
)  # fmt: skip
def test_what_cannot_be_read_is_one_sentence(read: Callable[[bytes, Path], object], data: bytes) -> None:
    with pytest.raises(ImportFault) as raised:
        read(data, PATH)

    assert "\n" not in str(raised.value) and "'a.file'" in str(raised.value)


def test_wide_documents_are_not_deep() -> None:
    wide = b"a: [" + b"[1], {b: 2}, " * 600 + b"]\nc: '" + b"[" * 9_000 + b"'\n" + b"d: >\n" + b"  " + b"- " * 600
    found = yaml_document(wide, PATH)

    assert isinstance(found, dict) and len(found["a"]) == 1200


def test_aliases_that_make_a_huge_document_are_refused() -> None:
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [b"a%d: &a%d [%s]" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 10)]

    with pytest.raises(ImportFault, match="its aliases give more than 10,000,000 values"):
        yaml_document(b"\n".join(lines), PATH)
    assert yaml_document(b"\n".join(lines[:3]), PATH)


@pytest.mark.parametrize(
    ("value", "whole"), [(7, 7), (7.9, 7), ("12", 12), (" 12 ", 12), (-1, -1), (2**63 - 1, 2**63 - 1)]
)
def test_a_whole_number_may_be_written_as_text(value: object, whole: int) -> None:
    assert number(value, HERE, "the size") == whole


@pytest.mark.parametrize("value", [True, None, [], "x", "1.5", float("inf"), float("nan"), 2**63, -(2**63), "9" * 5000])
def test_any_other_value_is_not_a_number(value: object) -> None:
    with pytest.raises(ImportFault, match="the size is .*number"):
        number(value, HERE, "the size")


@pytest.mark.parametrize(("value", "fine"), [(100, True), ("999", True), (200, True), (99, False), (1000, False)])
def test_a_status_has_three_digits(value: object, fine: bool) -> None:
    if fine:
        assert status_code(value, HERE) == int(str(value))
    else:
        with pytest.raises(ImportFault, match="and not from 100 to 999"):
            status_code(value, HERE)


def test_a_text_that_is_missing_or_something_else_is_named() -> None:
    assert text({"a": ""}, "a", HERE) == ""
    with pytest.raises(ImportFault, match="'a' is missing"):
        text({}, "a", HERE)
    with pytest.raises(ImportFault, match="'a' is nothing and not text"):
        text({"a": None}, "a", HERE)


def test_types_have_plain_words() -> None:
    values = [None, True, 1, 1.5, "", b"", [], {}, set[int]()]

    assert [kind(one) for one in values] == [
        "nothing", "a truth value", "a number", "a number", "text", "bytes", "a list", "a mapping", "a set",
    ]  # fmt: skip
