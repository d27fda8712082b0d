"""Which round trips are read as MCP, on any host, and that they are not turns."""

from dataclasses import replace

import pytest
from round_trips import CHAT, MESSAGES, exchanged
from tool_wire import SESSION, STREAM, answers, asks, encoded, events, http, initialize, initialized, notifies, stdio

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read

SIGNED_2026 = (("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "t"))
MCP: dict[str, RoundTrip] = {
    "a call answered in JSON": http(asks(1, "tools/call", name="t"), answers(1, content=[])),
    "a call answered as a stream": http(asks(1, "tools/call"), events(answers(1)), kind=STREAM),
    "initialize, before there is a session": http(initialize(), initialized(), headers=()),
    "a notification": http(notifies("notifications/initialized"), status=202),
    "an answer of the client": http(answers(4, roots=[]), status=202),
    "the stream of the server": http(None, events(notifies("notifications/message")), method="GET", kind=STREAM),
    "the end of a session": http(None, method="DELETE", status=204),
    "a session that is gone": http(asks(1, "tools/list"), b"Session not found", status=404, kind="text/plain"),
    "a request of 2026": http(asks("x", "tools/call", name="t"), answers("x"), headers=SIGNED_2026),
    "a stream of changes": http(asks(1, "subscriptions/listen"), events(), kind=STREAM, headers=()),
    "the old stream": http(None, events(b"/post?id=1", name="endpoint"), method="GET", kind=STREAM, headers=()),
    "a ping to the old transport": http(asks(1, "ping"), b"Accepted", status=202, kind="text/plain", headers=()),
    "an answer to the old transport": http(answers(1), b"Accepted", status=202, headers=()),
    "stdio": stdio(asks(1, "tools/call"), answers(1)),
    "stray text on stdout": stdio(b"Listening...", sender="server"),
    "any method over stdio": stdio(asks(1, "eth_blockNumber"), answers(1)),
}  # fmt: skip
NOT_MCP: dict[str, RoundTrip] = {
    "chat": exchanged(CHAT, {"model": "m", "messages": [{"role": "user", "content": '{"jsonrpc":"2.0"}'}]}, {}),
    "messages": exchanged(MESSAGES, {"model": "m", "messages": []}, {}),
    "an agent of another protocol": exchanged("http://a/", asks(1, "message/send"), answers(1)),
    "a stream of another protocol": exchanged("http://a/", asks(1, "message/stream"), events(answers(1))),
    "a stream of events": http(None, events(b"{}"), method="GET", kind=STREAM, headers=()),
    "a stream that did not say where": http(None, events(b"", name="endpoint"), method="GET", kind=STREAM, headers=()),
    "a ledger": http(asks(1, "eth_call"), answers(1), headers=()),
    "a page": http(None, b"<html>", method="GET", kind="text/html", headers=()),
}


@pytest.mark.parametrize("trip", MCP.values(), ids=MCP)
def test_it_is_mcp(trip: RoundTrip) -> None:
    reading = read(trip)
    assert (reading.protocol, reading.kind, reading.is_generation) == ("mcp", "tools", False)
    assert reading.problems == ()


@pytest.mark.parametrize("trip", NOT_MCP.values(), ids=NOT_MCP)
def test_it_is_not_mcp(trip: RoundTrip) -> None:
    assert read(trip).protocol != "mcp"


@pytest.mark.parametrize("host", ["api.openai.com/v1/chat/completions", "x/v1/messages", "x/invocations", "x/"])
def test_the_host_and_the_path_do_not_matter(host: str) -> None:
    assert read(http(asks(1, "tools/list"), answers(1), url=f"https://{host}")).protocol == "mcp"


def test_a_row_has_no_turn_and_no_layers() -> None:
    (done,) = label_all([http(asks(1, "tools/call", name="t"), events(answers(1, content=[])), kind=STREAM)])
    row = done.label
    assert (row["protocol"], row["turn"], row["model"], row["api"], row["client"]) == ("mcp", None, None, None, None)
    assert row["streamed"] is True and row["findings"] == []


def test_the_fields_of_the_message_are_parameters() -> None:
    reading = read(http(asks(1, "tools/call", name="t"), answers(1)))
    assert reading.request.parameters == {"id": 1, "method": "tools/call", "params": {"name": "t"}}


def test_a_one_way_message_over_stdio_is_not_an_error() -> None:
    assert read(stdio(notifies("notifications/initialized"))).error is None


def test_a_request_over_stdio_that_the_server_did_not_live_to_answer_is_an_error() -> None:
    trip = replace(stdio(asks(1, "tools/call")), failure=Failure("cut", "the server ended"))
    error = read(trip).error
    assert error is not None and error.message == "the server ended"


def test_an_error_status_is_read() -> None:
    error = read(MCP["a session that is gone"]).error
    assert error is not None and (error.status, error.message) == (404, "Session not found")


def test_a_cut_stream_is_still_mcp() -> None:
    whole = events(answers(1, content="x" * 50))
    assert read(http(asks(1, "tools/call"), whole[:30], kind=STREAM)).protocol == "mcp"
    assert read(http(encoded(asks(1, "tools/call"))[:-5], status=400)).protocol != "mcp"
    assert read(http(None, method="GET", kind=STREAM, headers=SESSION)).protocol == "mcp"
