"""Whether a tool's result is in what the model is shown, whatever the client wrapped it in."""

import json

import pytest

from turntape.inspector.tools.shown_text import ShownText

LONE = "x\ud800"
"""Half of a character: JSON can write it, UTF-8 cannot."""


@pytest.mark.parametrize(
    "shown",
    [
        "The file has 3 lines.",
        "Result:\nThe file has 3 lines.\n(done)",
        "The file\n  has 3   lines.",
        '{"output": "The file has 3 lines."}',
        'Result: {"content": [{"type": "text", "text": "The file has 3 lines."}]}',
        json.dumps({"result": json.dumps({"text": "The file has 3 lines."})}),
        "1\tThe file has\n2\t3 lines.",
    ],
)
def test_a_text_is_there_in_any_wrapping(shown: str) -> None:
    assert ShownText(shown).holds(" The file has 3 lines.\n")


@pytest.mark.parametrize(
    "shown", ["", "The file has 4 lines.", '{"output": "The file"}', "1\tThe file has\n3\t3 lines.", "3 The lines file"]
)
def test_another_text_is_not_there(shown: str) -> None:
    assert not ShownText(shown).holds("The file has 3 lines.")


def test_a_text_without_words_is_always_there() -> None:
    assert ShownText("anything").holds(" \n") and ShownText("").holds("")


def test_the_colours_of_a_terminal_and_a_byte_order_mark_may_be_gone() -> None:
    assert ShownText("ok, all green").holds("\x1b[1;32mok\x1b[0m, all green")
    assert ShownText("a,b").holds("\ufeffa,b")
    assert not ShownText("all green").holds("\x1b[1;32mok\x1b[0m, all green")


def test_equal_json_is_there_however_it_is_written() -> None:
    shown = ShownText('Found: {"b": [1, 2.0], "a": "x"} and no more')

    assert shown.holds('{"a":"x","b":[1,2]}') and shown.holds_value({"a": "x", "b": [1, 2]})
    assert shown.holds("[1,2]") and not shown.holds("[1,2,3]")
    assert not shown.holds_value({"a": "x", "b": [1]}) and not shown.holds_value({"a": "other"})


def test_text_that_has_half_a_character_is_compared_as_any_other() -> None:
    text = f'{{"name": "{LONE}", "n": 1}}'

    for shown in (ShownText(text), ShownText(json.dumps({"output": text})), ShownText("", raw={"output": [text]})):
        assert shown.holds(f'{{"n": 1, "name": "{LONE}"}}')
        assert not shown.holds('{"n": 1, "name": "x"}')
        assert shown.holds_value({"name": LONE, "n": 1}) and not shown.holds_value({"name": "x?", "n": 1})
    assert not ShownText("none of it").holds(text)


@pytest.mark.parametrize(
    ("text", "blank"),
    [
        ("", True), ("  \n", True), ("null", True), ("[]", True), ('{"content": [], "a": null}', True),
        ('{"a": {"b": ["", " "]}}', True), ("[input_text] [output_text]", True), ("[text]", False), ("0", False),
        ('{"a": 0}', False), ('{"a": false}', False), ('[["x"]]', False), ("no", False), (f'"{LONE}"', False),
    ],
)  # fmt: skip
def test_what_says_nothing_is_blank(text: str, blank: bool) -> None:
    assert ShownText(text).blank is blank


@pytest.mark.parametrize("key", ["content", "output", "response", "result", "json"])
@pytest.mark.parametrize("wrapper", [None, "toolResult", "functionResponse", "function_response"])
def test_the_content_of_a_part_is_read_without_what_is_around_it(key: str, wrapper: str | None) -> None:
    inner = {"id": "call_7", key: {"rows": [{"n": 1}]}}
    shown = ShownText("", raw=inner if wrapper is None else {wrapper: inner})

    assert shown.holds_value({"rows": [{"n": 1}]}) and shown.holds_value({"n": 1})
    assert not shown.holds_value("call_7")


def test_structured_content_of_one_value_is_there_as_that_value() -> None:
    assert ShownText("It is 12 degrees.").holds_value({"result": "12 degrees"})
    assert ShownText(" 12 ").holds_value({"result": 12}) and ShownText("True").holds_value({"result": True})
    assert ShownText("true").holds_value({"result": True})
    assert not ShownText("It is 12 degrees.").holds_value({"result": 12}), "a number may be there by accident"
    assert ShownText("Rows: [1, 2]").holds_value({"result": [1, 2]})
    assert not ShownText("").holds_value({"result": " "}), "no text says nothing"
    assert not ShownText("12").holds_value({"a": 12, "b": 3})
    assert ShownText("yes and no").holds_value("yes") and ShownText("n: 3").holds_value(3)


def test_words_that_became_one_are_named() -> None:
    assert ShownText("Hello world. Goodmorning.").glued("Hello world. Good morning.") == "loworld.Goodmorning."
    assert ShownText("Hello\nworld").glued("Hello world") is None, "other white space"
    assert ShownText("Hello world").glued("Hello world") is None
    assert ShownText("Hello").glued("Good bye") is None
    assert ShownText("a,b").glued("a, b") is None, "no letters are joined"
    assert ShownText("oneline and one line").glued("one line") is None, "it is there too"


CODE = "def f():\n    if x:\n        return 1\n    return 2\nend"


def test_code_without_its_indentation_is_named_by_its_first_indented_line() -> None:
    flat = "\n".join(line.strip() for line in CODE.splitlines())

    assert ShownText(flat).flattened(CODE) == "if x:"
    assert ShownText(" ".join(CODE.split())).flattened(CODE) == "if x:"
    assert ShownText(CODE).flattened(CODE) is None
    assert ShownText(CODE.replace("    ", "\t")).flattened(CODE) is None, "indented in another way"
    assert ShownText("something else").flattened(CODE) is None
    assert ShownText(flat + "\n---\n" + CODE).flattened(CODE) is None, "it is there too"


@pytest.mark.parametrize(
    "text",
    [
        "one\n  two\n  three\nfour",
        "\n".join(f"  {n}" for n in range(9)),
        '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}',
        "[\n 1,\n 2,\n 3]",
    ],
)
def test_few_indented_lines_one_column_and_json_may_be_flat(text: str) -> None:
    assert ShownText(" ".join(text.split())).flattened(text) is None


def test_how_much_of_both_ends_is_kept() -> None:
    text = "The beginning, a long middle, and the end."

    assert ShownText("The beginning … the end.").kept(text) == (len("The beginning"), len(" the end."))
    assert ShownText(text).kept(text) == (len(text), 0)
    assert ShownText("???").kept(text) == (0, 0)
    assert ShownText("and the end.").kept(text) == (0, len("and the end."))


def test_a_part_of_a_text_is_one_that_was_cut_and_not_one_that_was_written_by_another() -> None:
    text = "".join(f"line {n} of the log\n" for n in range(100))

    assert ShownText(text[:250]).is_part_of(text) and ShownText("Tail: " + text[-250:]).is_part_of(text)
    assert ShownText(text[:60] + "\n[output truncated]").is_part_of(text)
    assert not ShownText(text[:20] + " something that nobody returned").is_part_of(text)
    assert ShownText(text[:20] + "…").is_part_of(text)
    assert not ShownText("Nothing").is_part_of("other text") and not ShownText("").is_part_of(text)


def test_a_file_in_place_of_a_text_is_one_that_the_text_does_not_name() -> None:
    assert ShownText("Output saved to /tmp/out/run-1.txt").names_file("a long text")
    assert ShownText(r"full output: C:\logs\run.txt").names_file("a long text")
    assert not ShownText("Output saved to /tmp/out/run-1.txt").names_file("see /tmp/out/run-1.txt")
    assert not ShownText("see https://example.com/a/b.txt, saved").names_file("a long text")
    assert not ShownText("/tmp/out/run-1.txt").names_file("a long text"), "nothing says what it is"
