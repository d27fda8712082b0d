"""How MCP is recognised: by its methods and headers, on any host and path.

Other protocols use JSON-RPC too (Agent2Agent, the Language Server Protocol, ledgers). So a method that others also
have is MCP only beside one of MCP's headers, or of MCP's keys in `_meta`.
"""

from collections.abc import Callable

from turntape.cassettes.framing import Event, decode
from turntape.cassettes.framing.sse import SseDecoder
from turntape.cassettes.tape.model import Headers

from ...json_value import Object, as_object, as_text, is_array, objects_in, parse_json

CLIENT_REQUESTS = frozenset(
    {
        "initialize",
        "server/discover",
        "ping",
        "tools/list",
        "tools/call",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "resources/subscribe",
        "resources/unsubscribe",
        "completion/complete",
        "logging/setLevel",
        "subscriptions/listen",
        "tasks/get",
        "tasks/list",
        "tasks/result",
        "tasks/cancel",
        "tasks/update",
    }
)
"""What a client asks a server, in any version from 2024-11-05 to 2026-07-28."""

SERVER_REQUESTS = frozenset({"ping", "roots/list", "sampling/createMessage", "elicitation/create"})
"""What a server asks a client, up to 2025-11-25; with tasks, it may also ask for those in `CLIENT_REQUESTS`."""

NOTIFICATIONS = frozenset(
    {
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/message",
        "notifications/roots/list_changed",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/elicitation/complete",
        "notifications/subscriptions/acknowledged",
        "notifications/tasks",
        "notifications/tasks/status",
    }
)
"""What either side says and nobody answers."""

METHODS = CLIENT_REQUESTS | SERVER_REQUESTS | NOTIFICATIONS

_SHARED = frozenset({"initialize", "ping", "tasks/get", "tasks/list", "tasks/result", "tasks/cancel", "tasks/update"})
"""Methods that other protocols have too."""

SESSION_HEADER = "mcp-session-id"
_HEADERS = frozenset({SESSION_HEADER, "mcp-protocol-version", "mcp-method", "mcp-name"})
META = "io.modelcontextprotocol/"
"""How MCP's own keys in `_meta` begin."""
_MARK = b'"jsonrpc"'
_EDGE = 64 << 10
"""The size of the beginning and of the end of a body, of which one has the mark if the body is a message."""
_LISTEN = b"subscriptions/listen"
BEGINNING = 16 << 10
"""The size of the beginning of a stream; its first event is in it, or it is not one of MCP."""


def has_mcp_header(headers: Headers) -> bool:
    """True when one of the header fields is MCP's own."""
    return any(name.lower() in _HEADERS for name, _ in headers)


def may_hold_messages(body: bytes) -> bool:
    """False for a body without any JSON-RPC message. It costs a search, and no parsing."""
    return _MARK in body


def _may_be_message(body: bytes) -> bool:
    """As `may_hold_messages`, for a body that is one message or a batch: one member of a message may be long."""
    return _MARK in (body if len(body) <= 2 * _EDGE else body[:_EDGE] + body[-_EDGE:])


def messages_of(value: object) -> list[Object]:
    """The JSON-RPC messages of a JSON value: itself, or those of a batch."""
    found = objects_in(value) if is_array(value) else [as_object(value)]
    return [message for message in found if message.get("jsonrpc") == "2.0"]


def is_answer(message: Object) -> bool:
    """True for a result or an error, which answers a request of the other side."""
    return "method" not in message and ("result" in message or "error" in message)


def is_mcp(message: Object, *, signed: bool = False) -> bool:
    """True when a JSON-RPC message is MCP's. `signed`: MCP's headers or its stream prove it whatever the method is."""
    method = as_text(message.get("method"))
    if method is None:
        return signed and is_answer(message)
    params = as_object(message.get("params"))
    if signed or any(key.startswith(META) for key in as_object(params.get("_meta"))):
        return True
    if method == "initialize":
        version = params.get("protocolVersion")
        # The protocol of editors and agents has numbers as versions, and `clientCapabilities`.
        is_version = isinstance(version, str) or (version is not None and "capabilities" in params)
        return is_version and ("clientInfo" in params or "capabilities" in params)
    return method in METHODS and method not in _SHARED


def _is_in_session(headers: Headers) -> bool:
    return any(name.lower() == SESSION_HEADER for name, _ in headers)


def is_mcp_request(method: str, headers: Headers, body: bytes, parsed: Callable[[bytes], object] = parse_json) -> bool:
    """True for an HTTP request that is MCP's by what it holds: a message, or the headers of a stream's request.

    What is posted into a session is MCP's also when it is not a message, as an empty batch is not.

    `parsed` gives the JSON value of the body, for a caller that has it already.
    """
    signed = has_mcp_header(headers)
    if method in ("GET", "DELETE"):
        return signed
    if method != "POST":
        return False
    if not _may_be_message(body):
        return _is_in_session(headers) and bool(body.strip())
    return any(is_mcp(message, signed=signed) for message in messages_of(parsed(body)))


def is_endless(method: str, headers: Headers, body: bytes) -> bool:
    """True for a request for the server's messages: a GET, or `subscriptions/listen`, which only the client ends."""
    if not has_mcp_header(headers):
        return False
    if method != "POST":
        return method == "GET"
    return _LISTEN in body and any(one.get("method") == _LISTEN.decode() for one in messages_of(parse_json(body)))


def is_mcp_result(event: bytes) -> bool:
    """True for an event of a stream whose data is the answer to a request: it is the last one of the stream."""
    if not may_hold_messages(event):
        return False
    return any(is_answer(message) for one in decode("sse", [(event + b"\n\n", 0)]) for message in _in(one))


def _in(event: Event) -> list[Object]:
    return messages_of(parse_json(event.data)) if event.kind == "data" else []


def opening(beginning: bytes) -> str | None:
    """The URL that a stream of the transport of 2024-11-05 names in its first event, `endpoint`.

    Empty for any other stream, None while the first event is not complete.
    """
    decoder = SseDecoder()
    first = next((event for event in decoder.feed(beginning) if event.kind == "data"), None)
    if first is None:
        return None if len(beginning) < BEGINNING else ""
    named = first.data.decode("utf-8", "replace").strip() if first.name == "endpoint" else ""
    return "" if any(character.isspace() for character in named) else named
