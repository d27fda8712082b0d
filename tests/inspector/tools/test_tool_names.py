import pytest

from turntape.inspector.tools.tool_names import NAMED, NONE, PLAIN, SUFFIX, best, fits

LONG = "a_tool_with_a_name_of_seventy_two_characters_which_is_more_than_allowed_"


@pytest.mark.parametrize(
    ("offered", "tool", "score"),
    [
        ("mcp__rich__add", "add", NAMED),
        ("mcp_rich_add", "add", NAMED),
        ("rich_add", "add", NAMED),
        ("rich__add", "add", NAMED),
        ("rich.add", "add", NAMED),
        ("add", "add", PLAIN),
        ("mcp__rich__a_b", "a.b", NAMED),
        ("mcp_rich_a.b", "a.b", NAMED),
        ("a_b_c", "a-b.c", PLAIN),
        ("other_add", "add", SUFFIX),
        ("added", "add", NONE),
        ("ladd", "add", NONE),
        ("Read", "add", NONE),
        ("", "add", NONE),
        ("add", "", NONE),
    ],
)
def test_a_name_fits_the_tools_that_a_client_may_have_made_it_of(offered: str, tool: str, score: int) -> None:
    assert fits(offered, "rich", tool) == score


def test_the_characters_of_the_servers_name_are_replaced_too() -> None:
    assert fits("mcp__my_server__add", "my server", "add") == NAMED


def test_a_cut_name_fits_the_whole_one_only() -> None:
    whole = f"mcp_rich_{LONG}"
    cut = f"{whole[:30]}...{whole[-30:]}"

    assert fits(cut, "rich", LONG) == NAMED
    assert fits(cut, "rich", LONG + "x") == NONE
    assert fits(cut, "poor", LONG) == NONE


def test_a_name_with_a_hash_fits_its_beginning() -> None:
    assert fits("look_up_word_0123456789ab", "rich", "look_up_word") == PLAIN
    assert fits("look_up_word_0123456789ab", "rich", "find_a_word") == NONE


def test_a_name_with_another_servers_name_is_that_servers() -> None:
    assert fits("mcp__poor__add", "rich", "add") == SUFFIX
    assert fits("mcp__poor__add", "rich", "add", frozenset({"poor"})) == NONE


def test_the_best_fit_is_the_one_with_the_servers_name() -> None:
    known = [("rich", "add"), ("poor", "add"), ("rich", "b_add")]

    assert best("mcp__poor__add", known) == ("poor", "add")
    assert best("rich_b_add", known) == ("rich", "b_add")
    assert best("x_b_add", known) is None
    assert best("x_b_add", [("rich", "add"), ("rich", "b_add")]) == ("rich", "b_add")
    assert best("Read", known) is None
    assert best("add", []) is None
