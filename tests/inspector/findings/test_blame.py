"""Each hop of a call as the first that departs, and the same failure when it does not."""

from dataclasses import replace
from typing import Any

import pytest
from tool_stories import ADD, SAY, Story, offered, text
from tool_wire import answers, asks, http, initialize, initialized

from turntape.cassettes.tape.model import Failure

NEEDS_UNIT: dict[str, Any] = {
    **ADD,
    "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "unit": {"enum": ["m", "km"]}}},
}
FREE: dict[str, Any] = {
    **ADD,
    "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "unit": {"type": "string"}}},
}


def refused(said: str, *, written: str, sent: dict[str, Any], offers: dict[str, Any] = NEEDS_UNIT) -> Story:
    """The server states `NEEDS_UNIT` and refuses the call with these words."""
    story = Story([NEEDS_UNIT, SAY]).start()
    story.turn(("c1", "add", written), tools=offered(offers, SAY)).call("add", sent, text(said, isError=True))
    return story.results(("c1", said)).turn(tools=offered(offers, SAY))


def layer_of(story: Story, name: str = "tool-reported-error") -> str:
    (found,) = [layer for _, one, layer, _ in story.found() if one == name]
    return found


WORDS = "Input validation error: unit must be one of m, km"


@pytest.mark.parametrize(
    ("written", "sent", "offers", "layer"),
    [
        ('{"a":1,"unit":"ft"}', {"a": 1, "unit": "ft"}, NEEDS_UNIT, "model"),
        ('{"a":1,"unit":"ft"}', {"a": 1, "unit": "ft"}, FREE, "client"),
        ('{"a":1,"unit":"m"}', {"a": 1, "unit": "meters"}, NEEDS_UNIT, "client"),
        ('{"a":1,"unit":"m"}', {"a": 1, "unit": "m"}, NEEDS_UNIT, "tool"),
    ],
)
def test_a_refused_call_is_the_fault_of_the_first_hop_that_departs(
    written: str, sent: dict[str, Any], offers: dict[str, Any], layer: str
) -> None:
    assert layer_of(refused(WORDS, written=written, sent=sent, offers=offers)) == layer


def test_a_failure_that_is_not_about_the_arguments_stays_the_tools() -> None:
    story = refused("the disk is full", written='{"a":1,"unit":"ft"}', sent={"a": 1, "unit": "ft"})

    assert layer_of(story) == "tool"


@pytest.mark.parametrize(
    ("said", "severity"),
    [("Invalid elicitation response: branch: Field required", "info"), ("branch: Field required", "warning")],
)
def test_words_about_a_reply_are_not_about_the_arguments(said: str, severity: str) -> None:
    story = refused(said, written='{"a":1,"unit":"m"}', sent={"a": 1, "unit": "m"})

    assert (2, "tool-reported-error", "tool", severity) in story.found()


def dropped(*, answered: bool) -> Story:
    """The server pings during a call and ends; the client has answered, or not."""
    story = Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 1})
    story.exchange(asks(1, "ping"), answers(1) if answered else None, sender="server")
    if not answered:
        story.trips[-1] = replace(story.trips[-1], failure=Failure("cut", "it ended"))
    return story.results(("c1", "Connection closed")).turn()


def test_a_server_that_closes_because_its_client_does_not_answer() -> None:
    assert layer_of(dropped(answered=False), "tool-server-died") == "client"
    assert layer_of(dropped(answered=True), "tool-server-died") == "tool"


@pytest.mark.parametrize(
    ("status", "headers", "layer"),
    [
        (406, (("accept", "application/json, text/event-stream"),), "tool"),
        (406, (("accept", "application/json"),), "client"),
        (415, (("content-type", "application/json"),), "tool"),
        (415, (("content-type", "text/plain"),), "client"),
    ],
)
def test_a_status_is_compared_with_the_headers_of_the_request(
    status: int, headers: tuple[tuple[str, str], ...], layer: str
) -> None:
    story = Story()
    story.put(http(initialize(), initialized(), at=story.at))
    story.put(http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY]), at=story.at)).turn(("c1", "add", '{"a":1}'))
    story.put(http(asks(5, "tools/call", name="add", arguments={"a": 1}), b"no", status=status, at=story.at))
    refusal = story.trips[-1]
    others = tuple(one for one in refusal.request.headers if one[0].lower() != headers[0][0])
    story.trips[-1] = replace(refusal, request=replace(refusal.request, headers=(*others, *headers)))

    assert layer_of(story.results(("c1", "it broke")).turn(), "tool-server-error") == layer


@pytest.mark.parametrize(
    ("said", "sent", "layer"),
    [
        ("expected string, received null", {"a": 1, "unit": "m", "note": None}, "client"),
        ("Input should be a valid string [input_type=NoneType]", {"a": 1, "unit": "m", "note": None}, "client"),
        ("expected string, received array", {"a": 1, "unit": "m", "note": ["m"]}, "client"),
        ("expected string, received null", {"a": 1, "unit": "m", "note": "m"}, "tool"),
        ("expected string, received null", {"a": 1, "unit": "m"}, "tool"),
    ],
)
def test_a_type_that_only_the_client_sent_is_the_clients(said: str, sent: dict[str, Any], layer: str) -> None:
    """The server does not say which argument it means."""
    assert layer_of(refused(f"Invalid arguments: {said}", written='{"a":1,"unit":"m"}', sent=sent)) == layer
