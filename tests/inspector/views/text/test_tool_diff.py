"""A result as it was returned, against what was seen."""

from dataclasses import replace
from typing import Any

import pytest
import tool_tapes

from turntape.inspector.tools.tool_run import KEPT
from turntape.inspector.views.text.tool_diff import MOST_LINES, as_returned, as_seen, cut_note, diff_lines, diff_pairs

CUT, STRUCTURED = tool_tapes.story().runs()[:2]


def marks(returned: str, seen: str) -> list[str]:
    signs = {"equal": " ", "removed": "-", "added": "+"}
    return [signs[line.change] + line.text for line in diff_lines(returned, seen)]


def test_what_is_missing_comes_before_what_is_new() -> None:
    assert marks("a\nb\nz", "x\ny\nw\nz") == ["-a", "-b", "+x", "+y", "+w", " z"]
    assert marks("a\nb\nc\nd", "a\nx\ny\nd") == [" a", "-b", "-c", "+x", "+y", " d"]


def test_equal_lines_next_to_a_difference_are_shown_and_others_counted() -> None:
    same = "\n".join("abcdefgh")

    assert marks(f"{same}\nold", f"{same}\nnew") == [" … 6 equal lines", " g", " h", "-old", "+new"]
    assert marks(f"old\n{same}", f"new\n{same}") == ["-old", "+new", " a", " b", " … 6 equal lines"]
    assert marks(same, same) == [" a", " b", " c", " d", " … 4 equal lines"]
    assert marks("a\nb\nc\nold", "a\nb\nc\nnew") == [" a", " b", " c", "-old", "+new"]  # one line is not left out


def test_side_by_side_a_side_may_have_no_line() -> None:
    found = list(diff_pairs("a\nb\nc", "a\nx"))
    pairs = [(pair.returned, pair.seen, pair.equal) for pair in found]

    assert not any(pair.left_out for pair in found)
    assert not any(line.left_out for line in diff_lines("a\nb", "a\nx"))
    assert pairs == [("a", "a", True), ("b", "x", False), ("c", None, False)]


def test_structured_content_is_written_alike_on_both_sides() -> None:
    assert as_returned(STRUCTURED).startswith('2 hits: tape, reel\nstructuredContent: {\n  "hits": 2,')
    assert [line for line in marks(as_returned(STRUCTURED), as_seen(STRUCTURED)) if line[0] != " "] == [
        "-2 hits: tape, reel"
    ]


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "image", "mimeType": "image/png", "data": "x" * 2_000}, "[image image/png 2.0 kB]"),
        ({"type": "resource_link", "uri": "file:///a"}, "[resource_link file:///a]"),
        ({"type": "resource", "resource": {"uri": "file:///a", "text": "hello"}}, "[resource file:///a]\nhello"),
        ({"type": "text", "text": "plain"}, "plain"),
    ],
)
def test_contents_other_than_text_are_named(block: dict[str, Any], text: str) -> None:
    assert as_returned(replace(CUT, result={"content": [block]})) == text


def test_an_error_and_a_result_too_large_for_a_row_have_their_text() -> None:
    assert as_returned(replace(CUT, result=None, error={"code": -1, "message": "no"})) == "no"
    assert as_returned(replace(CUT, result=None, returned_text="kept")) == "kept"
    assert as_returned(replace(CUT, result=None, returned_text=None)) == ""


def test_a_text_that_was_cut_for_the_row_is_said() -> None:
    assert cut_note(CUT) == ""
    assert cut_note(replace(CUT, returned_text="x" * KEPT)) == "only the first 20,000 characters are shown"
    assert (
        cut_note(replace(CUT, returned_text=None, seen_text="x" * KEPT)) == "only the first 20,000 characters are shown"
    )
    assert cut_note(replace(CUT, returned_text=None, seen_text=None)) == ""


def test_of_very_long_texts_the_first_lines_are_compared() -> None:
    long = "\n".join(f"{n}" for n in range(MOST_LINES))

    assert marks(f"{long}\nold", f"{long}\nnew")[-1] == " … 396 equal lines"
    assert cut_note(replace(CUT, returned_text=f"{long}\nold")) == "only the first 400 lines are compared"
    assert cut_note(replace(CUT, returned_text=long)) == ""
    assert cut_note(replace(CUT, returned_text=f"{long}\nold", seen_as="equal")) == ""


def test_what_was_seen_is_shown_as_it_is_unless_it_is_structured() -> None:
    assert as_seen(CUT) == tool_tapes.CUT
    assert as_seen(replace(CUT, seen_text=None)) == ""
    assert as_seen(replace(STRUCTURED, seen_text="no JSON")) == "no JSON"
    assert as_seen(replace(STRUCTURED, seen_text='{"a":"ä"}')) == 'structuredContent: {\n  "a": "ä"\n}'
