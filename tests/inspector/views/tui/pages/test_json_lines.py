"""JSON values as lines."""

from turntape.inspector.views.tui.pages.json_lines import fields_of, json_line, keyed, pretty
from turntape.inspector.views.tui.pages.text_lines import Prose


def test_json_has_keys_and_values_in_their_looks() -> None:
    assert json_line('  "a": "b",') == [("  ", "plain"), ('"a"', "key"), (": ", "dim"), ('"b",', "string")]
    assert pretty({"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}'
    assert "NaN" in pretty({"a": float("nan")}) or "null" in pretty({"a": float("nan")})


def test_the_rest_of_a_broken_text_looks_like_its_beginning() -> None:
    value = {"said": "the tools take what they need, not 12 of them, and nothing more", "n": [12, -1.5, True, None]}
    shown = [line for line in Prose(pretty(value), 24, json_line) if line[-1][0]]
    looks = {text: look for line in shown for text, look in line if text.strip()}

    assert {looks[text] for text in looks if any(c.isalpha() for c in text) and "said" not in text} >= {"string"}
    assert [look for text, look in looks.items() if "they" in text or "nothing" in text] == ["string", "string"]
    assert [looks[text] for text in ("12,", "-1.5,", "true,", "null")] == ["number"] * 4
    assert (looks["{"], looks["}"], looks["]"]) == ("dim", "dim", "dim")


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
