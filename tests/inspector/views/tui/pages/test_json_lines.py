"""JSON values as lines."""

from turntape.inspector.views.tui.pages.json_lines import fields_of, json_line, keyed, pretty


def test_json_has_keys_and_values_in_their_looks() -> None:
    assert json_line('  "a": "b",') == [("  ", "plain"), ('"a"', "key"), (": ", "dim"), ('"b",', "string")]
    assert pretty({"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}'
    assert "NaN" in pretty({"a": float("nan")}) or "null" in pretty({"a": float("nan")})


def test_an_object_is_written_as_people_do() -> None:
    assert list(fields_of({"a": {"b": 1}, "c": ["x", {"d": None}]})) == [
        ("", "a", ""),
        ("  ", "b", "1"),
        ("", "c", ""),
        ("  - ", "", "x"),
        ("  - ", "d", "null"),
    ]


def test_a_value_that_does_not_fit_goes_below_its_name() -> None:
    body = keyed([("", "short", "1"), ("", "long", "one two three four five six")], {"short": ("no number", "bad")})
    shown = ["".join(text for text, _ in line) for line in body(20)]

    assert shown == ["short: 1  no number", "long: ", "  one two three four", "  five six"]
