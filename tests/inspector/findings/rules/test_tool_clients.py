from typing import Any

import pytest
from tool_stories import ADD, SAY, Story, offered
from tool_wire import answers, asks

MORE: list[dict[str, Any]] = [{**SAY, "name": name} for name in ("move", "purge")]


def paged(*given: dict[str, Any]) -> Story:
    """A list in two pages, both read, and a turn that offers some of the tools."""
    story = Story()
    story.exchange(asks(1, "tools/list"), answers(1, tools=[ADD, SAY], nextCursor="p2"))
    story.exchange(asks(2, "tools/list", cursor="p2"), answers(2, tools=MORE))
    return story.turn(tools=offered(*given, name=story.name("{}")))


def test_pages_that_were_read_and_not_offered() -> None:
    story = paged(ADD, SAY)

    assert story.found() == [(2, "client-tool-protocol-broken", "client", "warning")]
    assert story.says("client-tool-protocol-broken") == [
        "the client offers every tool of the first page of server 'files', and none of the 2 tools of its later pages"
    ]


@pytest.mark.parametrize("given", [[ADD, SAY, *MORE], [ADD, SAY, MORE[0]], [ADD], [SAY, MORE[1]]])
def test_a_choice_of_tools_is_not_a_page(given: list[dict[str, Any]]) -> None:
    assert paged(*given).found() == []


def defined(offer: dict[str, Any], **served: Any) -> Story:
    """A tool that its server defines in one way and the model is offered in another."""
    schema: dict[str, Any] = {"type": "object", **served}
    story = Story(tools=[{**ADD, "inputSchema": schema}, SAY]).start()
    tools = offered({**ADD, "inputSchema": {"type": "object", **offer}}, SAY, name=story.name("{}"))
    return story.turn(tools=tools)


ROWS = {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}}
ROW = {"row": {"type": "object"}}


def test_a_definition_that_lost_what_it_refers_to() -> None:
    story = defined({"properties": ROWS}, properties=ROWS, **{"$defs": ROW})

    assert story.found() == [(2, "client-tool-definition-differs", "client", "warning")]
    assert "it refers to '#/$defs/row', which was left out" in story.says("client-tool-definition-differs")[0]
    assert defined({"properties": ROWS, "$defs": ROW}, properties=ROWS, **{"$defs": ROW}).found() == []
    assert defined({"properties": ROWS}, properties=ROWS).found() == [], "the server itself left it out"


@pytest.mark.parametrize("lost", [{"enum": ["eu", "us"]}, {"description": "Never guess it."}])
def test_words_and_values_of_an_argument_that_are_not_passed_on(lost: dict[str, Any]) -> None:
    served = {"region": {"type": "string", **lost}}
    nested = {"region": {"anyOf": [{"type": "string", **lost}, {"type": "null"}]}}

    assert defined({"properties": {"region": {"type": "string"}}}, properties=served).found() == [
        (2, "client-tool-definition-differs", "client", "info")
    ]
    assert defined({"properties": nested}, properties=served).found() == []
