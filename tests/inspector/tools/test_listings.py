"""The pages of one list of a server."""

from typing import Any

import pytest

from turntape.inspector.tools.listings import Listing

ONE, TWO = {"name": "one"}, {"name": "two"}


def found(*pages: tuple[str | None, dict[str, Any]], method: str = "tools/list") -> list[tuple[str, str]]:
    listing = Listing()
    return [wrong for cursor, result in pages for wrong in listing.page(method, cursor, result)]


def page(*tools: dict[str, Any], then: str | None = None) -> dict[str, Any]:
    return {"tools": list(tools)} if then is None else {"tools": list(tools), "nextCursor": then}


@pytest.mark.parametrize(
    ("pages", "wrong"),
    [
        ([(None, page(ONE, then="b")), ("b", page(TWO))], []),
        ([(None, page(ONE, then="b")), ("b", page(TWO, then="b"))], [("list_loops", "b")]),
        ([(None, page(ONE, then="b")), ("b", page(TWO, then="c")), ("c", page(then="b"))], [("list_loops", "b")]),
        ([(None, page(ONE, then="b")), ("b", page(ONE))], [("page_repeats", "one")]),
        ([(None, page(ONE, then="b")), ("b", page({**ONE, "title": "1"}))], []),
        ([(None, page(ONE)), (None, page(ONE))], []),
        ([(None, page(ONE, then="b")), ("b", page(TWO)), ("b", page(TWO))], []),
        ([(None, page("x", 1, then="b")), ("b", {"tools": {}})], []),  # type: ignore[arg-type]
    ],
    ids=["pages", "the page itself", "a circle", "again", "another", "a new list", "asked again", "no entries"],
)
def test_the_pages_of_a_list(pages: Any, wrong: list[tuple[str, str]]) -> None:
    assert found(*pages) == wrong


def test_the_entries_of_other_lists_have_other_names() -> None:
    one = {"resources": [{"uri": "a:b", "name": "x"}], "nextCursor": "2"}

    assert found((None, one), ("2", one), method="resources/list") == [("list_loops", "2")]
    assert found((None, one), ("2", {**one, "nextCursor": None}), method="resources/list") == [("page_repeats", "a:b")]
