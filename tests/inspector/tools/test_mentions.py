"""What the messages of a session name must have been there."""

from typing import Any

import pytest
from tool_wire import answers, asks, notifies, stdio

from turntape.inspector.tools.mentions import Mentions
from turntape.inspector.tools.tool_messages import ToolMessageReader

TASK = answers(2, task={"taskId": "t1", "status": "working"})
SUBSCRIBED = (asks(3, "resources/subscribe", uri="file:///a/"), answers(3))


def unknown(*exchanges: tuple[Any, ...]) -> list[str]:
    """Each exchange is a message, its answer or None, and `server` where the server sent it."""
    reader, mentions = ToolMessageReader(), Mentions()
    place = 0
    for sent, got, *by in exchanges:
        answered = place + 1 if got is not None else None
        trip = stdio(sent, got, sender="server" if by else "client", sequence=place, answered=answered, at=float(place))
        place += 2
        for message in reader.add(trip):
            mentions.add(message)
    return [one.text for one in mentions.unknown()]


@pytest.mark.parametrize(
    ("exchanges", "named"),
    [
        ([(asks(1, "ping"), None), (notifies("notifications/cancelled", requestId=1), None)], None),
        ([(notifies("notifications/cancelled", requestId=1), None), (asks(1, "ping"), answers(1))], None),
        ([(asks(1, "ping"), None), (notifies("notifications/cancelled", requestId="1"), None)], 'the request "1"'),
        ([(asks(1, "ping"), None), (notifies("notifications/cancelled", requestId=1), None, "server")], "request 1"),
        ([(asks(2, "tools/call"), TASK), (asks(4, "tasks/get", taskId="t1"), None)], None),
        ([(asks(2, "tools/call"), TASK), (asks(4, "tasks/get", taskId="t2"), None)], 'the task "t2"'),
        ([SUBSCRIBED, (notifies("notifications/resources/updated", uri="file:///a/b"), None, "server")], None),
        ([SUBSCRIBED, (notifies("notifications/resources/updated", uri="file:///ab"), None, "server")], "the resource"),
        ([(notifies("notifications/elicitation/complete", elicitationId="e"), None, "server")], 'the page "e"'),
    ],
)  # fmt: skip
def test_what_is_named_must_have_been_there(exchanges: list[tuple[Any, ...]], named: str | None) -> None:
    found = unknown(*exchanges)

    assert len(found) == (0 if named is None else 1)
    assert named is None or named in found[0]
