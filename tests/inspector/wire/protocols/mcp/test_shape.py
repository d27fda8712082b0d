"""What is MCP by its shape, and what only looks like it."""

import json
from typing import Any

import pytest
from tool_wire import answers, asks, initialize, notifies

from turntape.inspector.wire.protocols.mcp.shape import (
    METHODS,
    is_endless,
    is_mcp,
    is_mcp_request,
    is_mcp_result,
    opening,
)

SIGNED = (("mcp-protocol-version", "2025-11-25"),)
OTHERS: dict[str, dict[str, Any]] = {
    "an agent's task": asks(1, "tasks/get", id="t"),
    "an agent's message": asks(1, "message/send", message={"role": "user", "parts": []}),
    "a language server": asks(1, "initialize", processId=1, rootUri=None, capabilities={}),
    "an editor's agent": asks(1, "initialize", protocolVersion=1, clientCapabilities={}),
    "a ledger": asks(1, "eth_blockNumber"),
    "a ping": asks(1, "ping"),
    "an answer": answers(1),
    "a method that is not text": {"jsonrpc": "2.0", "method": 5},
}


@pytest.mark.parametrize("message", OTHERS.values(), ids=OTHERS)
def test_json_rpc_of_others_is_not_mcp(message: dict[str, Any]) -> None:
    assert not is_mcp(message)
    assert not is_mcp_request("POST", (), json.dumps(message).encode())


@pytest.mark.parametrize("name", ["a ping", "an agent's task", "an answer", "a ledger"])
def test_a_header_of_mcp_proves_any_message(name: str) -> None:
    assert is_mcp_request("POST", SIGNED, json.dumps(OTHERS[name]).encode())


@pytest.mark.parametrize("method", ["tools/call", "tools/list", "resources/read", "notifications/cancelled"])
def test_a_method_that_only_mcp_has_is_enough(method: str) -> None:
    assert is_mcp_request("POST", (), json.dumps(notifies(method)).encode())


def test_initialize_says_a_version_and_the_client() -> None:
    assert is_mcp(initialize())
    assert is_mcp(asks(1, "initialize", protocolVersion=20251125, capabilities={}, clientInfo={"name": "a"}))
    assert is_mcp(asks(1, "initialize", protocolVersion="2025-11-25", capabilities={})), "its client forgot its name"
    editor = {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": {"name": "a"}}
    assert not is_mcp(asks(1, "initialize", **editor))
    assert not is_mcp(asks(1, "initialize", processId=1, capabilities={}, clientInfo={"name": "a"})), (
        "a language server"
    )


def test_a_key_of_mcp_in_meta_proves_any_method() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert is_mcp(asks(1, "tasks/get", _meta=meta))
    assert not is_mcp(asks(1, "tasks/get", _meta={"protocolVersion": "2026-07-28"}))


def test_a_batch_is_mcp_when_one_of_its_messages_is() -> None:
    batch = [asks(1, "eth_blockNumber"), asks(2, "tools/call", name="t")]
    assert is_mcp_request("POST", (), json.dumps(batch).encode())
    assert not is_mcp_request("POST", (), json.dumps(batch[:1]).encode())


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_stream_is_requested_and_a_session_ended_with_headers_of_mcp(method: str) -> None:
    assert is_mcp_request(method, (("Mcp-Session-Id", "1"),), b"")
    assert not is_mcp_request(method, (("accept", "text/event-stream"),), b"")


@pytest.mark.parametrize("body", [b"", b"no JSON", b'{"messages": []}', b"null", b"[]", b'"jsonrpc"', b'{"jsonrpc'])
def test_a_body_without_json_rpc_is_not_mcp_even_beside_its_headers(body: bytes) -> None:
    assert not is_mcp_request("POST", SIGNED, body)


@pytest.mark.parametrize("body", [b"no JSON", b"[]"])
def test_what_is_posted_into_a_session_is_mcp(body: bytes) -> None:
    assert is_mcp_request("POST", (("Mcp-Session-Id", "1"),), body)
    assert not is_mcp_request("POST", (("Mcp-Session-Id", "1"),), b" ")


def test_the_body_is_not_parsed_again_for_a_caller_that_has_it() -> None:
    parsed: list[bytes] = []

    def keep(body: bytes) -> object:
        parsed.append(body)
        return {"jsonrpc": "2.0", "method": "tools/list"}

    assert is_mcp_request("POST", (), b'"jsonrpc"', keep)
    assert not is_mcp_request("POST", (), b'{"messages": "of a model"}', keep)
    assert parsed == [b'"jsonrpc"']


def test_only_words_of_mcp_are_methods() -> None:
    assert "tools/call" in METHODS and "message/send" not in METHODS


LISTEN = json.dumps(asks(1, "subscriptions/listen")).encode()


def test_a_stream_of_the_servers_messages_has_no_end() -> None:
    assert is_endless("GET", SIGNED, b"") and is_endless("POST", SIGNED, LISTEN)
    assert not is_endless("GET", (), b"") and not is_endless("POST", (), LISTEN)
    assert not is_endless("DELETE", SIGNED, b"")
    assert not is_endless("POST", SIGNED, json.dumps(asks(1, "tools/call", name="subscriptions/listen")).encode())


@pytest.mark.parametrize("message", [answers(1), {"jsonrpc": "2.0", "id": 1, "error": {}}, [answers(1)]])
def test_the_answer_is_the_last_event(message: object) -> None:
    data = json.dumps(message).encode()
    assert is_mcp_result(b"event: message\r\nid: 1\r\ndata: " + data)
    assert is_mcp_result(b"data: " + data)
    assert not is_mcp_result(b"data: " + data[:-1])


@pytest.mark.parametrize("event", [b"", b"data: [DONE]", b"data: " + LISTEN, b': {"jsonrpc":"2.0","result":{}}'])
def test_another_event_is_not_the_last(event: bytes) -> None:
    assert not is_mcp_result(event)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_first_event_names_where_messages_go(end: bytes) -> None:
    whole = b": hello" + end * 2 + b"event: endpoint" + end + b"data: /messages?id=1" + end * 2
    assert opening(whole) == "/messages?id=1"
    assert opening(whole + b"data: more") == "/messages?id=1"
    for size in range(len(whole) - len(end)):
        assert opening(whole[:size]) is None


@pytest.mark.parametrize(
    "stream",
    [b"data: {}\n\n", b"event: endpoint\ndata: \n\n", b"event: endpoint\ndata: two words\n\n", b": x\n" * 9000],
)
def test_another_stream_names_nothing(stream: bytes) -> None:
    assert opening(stream) == ""


@pytest.mark.parametrize(
    "body", ['{"jsonrpc":"2.0",%s,"params":{"a":"%s"}}', '{"params":{"a":"%s"},%s,"jsonrpc":"2.0"}']
)
def test_a_large_message_is_known_by_its_beginning_or_its_end(body: str) -> None:
    method, long = '"method":"tools/call","id":1', "x" * 200_000
    sent = (body % ((method, long) if body.startswith('{"j') else (long, method))).encode()

    assert is_mcp_request("POST", (), sent)
    hidden = b'{"messages":["%s",%s,"%s"]}' % (long.encode(), sent, long.encode())
    assert not is_mcp_request("POST", (), hidden, lambda _: pytest.fail("a request for an LLM is not parsed"))
