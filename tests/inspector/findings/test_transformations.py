"""Known ways in which programs damage a text, and texts that are meant so."""

import base64
import html
import json
from urllib.parse import quote

import pytest

from turntape.inspector.findings.transformations import damage, escaped_lines, html_escapes, markup_end, transformation

TEXT = 'Gr\u00fc\u00dfe from "Z\u00fcrich", 3 < 4 && x'
LINES = 'def f(x):\n    return "a" + x\n'


@pytest.mark.parametrize(
    ("was", "became", "how"),
    [
        (TEXT, html.escape(TEXT), "HTML-escaped"),
        (html.escape(TEXT), TEXT, "no longer HTML-escaped"),
        (TEXT, TEXT.encode().decode("cp1252", "replace"), "UTF-8 read as another encoding"),
        ("Z\u00fcrich", "Z\u00c3\u00bcrich", "UTF-8 read as another encoding"),
        ("it\u2019s", "it\u00e2\u20ac\u2122s", "UTF-8 read as another encoding"),
        ("\u00dc", "\u00c3\u009c", "UTF-8 read as another encoding"),
        (LINES, json.dumps(LINES)[1:-1], "with its line breaks and quotes escaped"),
        (TEXT, json.dumps(TEXT, ensure_ascii=False), "written as a JSON string"),
        (LINES, f"```python\n{LINES}```", "put into a code fence"),
        ("text.py", "text.py</parameter>\n</invoke>", None),
        ("text.py", "text.py</parameter>", "with markup of a call at its end"),
        ("text.py", "text.py<|im_end|>", "with markup of a call at its end"),
        ("a long enough text", base64.b64encode(b"a long enough text").decode(), "encoded as base64"),
        ("a b/c&d", quote("a b/c&d", safe=""), "URL-encoded"),
        ("read-me it's", "read\u2011me it\u2019s", "with typographic characters in place of plain ones"),
        ("Z\u00fcrich", "Zu\u0308rich", "with accents as separate characters"),
        ("text.py", "text.py\0", "with NUL characters"),
        ("a long strip", "a\u2581long\u2581strip", "with a tokenizer's marks in place of blanks"),
        ("Z\u00fcrich", "Z?rich", "with every character outside ASCII replaced by '?'"),
        ("Z\u00fcrich", "Zrich", "without every character outside ASCII"),
        ("Z\u00fcrich", "Z\ufffdrich", "with the replacement character for lost ones"),
        ("once", "onceonce", "said twice"),
        ("Once", "once", "in lower case"),
        ("Once", "ONCE", "in upper case"),
        ("one text", "another text", None),
        ("one  text", "one text", None),
        ("", "one", None),
    ],
)
def test_a_known_transformation_has_a_name(was: str, became: str, how: str | None) -> None:
    assert transformation(was, became) == how


@pytest.mark.parametrize(
    ("text", "what", "maker"),
    [
        ("a\0b", "a NUL character", "writer"),
        ("Z\u00c3\u00bcrich", "UTF-8 that was read as another encoding ('\u00c3\u00bc' for '\u00fc')", "encoding"),
        (
            "it\u00e2\u20ac\u2122s",
            "UTF-8 that was read as another encoding ('\u00e2\u20ac\u2122' for '\u2019')",
            "encoding",
        ),
        ("if (a &amp;&amp; b)", "HTML escapes ('&amp;&amp;')", "writer"),
        ("I don&#39;t know", "HTML escapes ('n&#39;t')", "writer"),
        ("one\\ntwo\\nthree\\n", "'\\n' in place of line breaks", "writer"),
    ],
)
def test_damage_shows_on_a_single_text(text: str, what: str, maker: str) -> None:
    assert damage(text) == (what, maker)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Z\u00fcrich",
        "\u00c3o Paulo",
        "na\u00efve caf\u00e9 \u00c5ngstr\u00f6m",
        "R&amp;D",
        "<p>a &amp;&amp; b</p>",
        "use &lt;br&gt; for a line",
        'print("a\\nb\\nc\\n")',
        "one\\ntwo",
        "one\\ntwo\\nthree\\nfour\nfive",
        "C:\\new",
    ],
)
def test_a_text_that_may_be_meant_so_has_no_damage(text: str) -> None:
    assert damage(text) is None


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("text.py</parameter>", "</parameter>"),
        ("text.py</parameter>\n</invoke>\n", "</invoke>"),
        ("text.py<|tool_call_end|>", "<|tool_call_end|>"),
        ("a</arg_value>", "</arg_value>"),
        ("<parameter name='a'>text.py</parameter>", None),
        ("a list</li>", None),
        ("</parameter> at the beginning", None),
    ],
)
def test_markup_of_a_call_at_the_end_was_not_begun_in_the_text(text: str, end: str | None) -> None:
    assert markup_end(text) == end


def test_operators_and_quotes_are_escapes_and_an_ampersand_is_not() -> None:
    assert html_escapes("a -&gt; b") == "-&gt;"
    assert html_escapes("x 2&gt;&amp;1") == "2&gt;&amp;1"
    assert html_escapes("&quot;no") is None
    assert html_escapes("x&quot;no&quot;") is not None
    assert html_escapes("salt &amp; pepper") is None


def test_escaped_lines_count_outside_of_strings_only() -> None:
    assert escaped_lines("import os\\nimport re\\nprint(1)\\n")
    assert not escaped_lines("import os\\nimport re")
    assert escaped_lines("it's\\nso\\nand\\n")
    assert escaped_lines('\\"' * 200_000 + "\\n" * 3)
    assert not escaped_lines("f('a\\n', 'b\\n', 'c\\n')")
