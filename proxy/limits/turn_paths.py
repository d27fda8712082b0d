"""Which requests are turns, decided by method and path: no body of an API is parsed in the proxy's event loop.

A message to a tool server (MCP) may go to such a path too, as to `/messages` in the transport of 2024-11-05. It is
recognised by what it holds.
"""

from typing import cast

import orjson

from turntape.cassettes.apis.lookup import is_recorded_shape, is_turn_path
from turntape.cassettes.tape.model import Headers, split_url


def path_of(url: str) -> str:
    """The path of a URL, or of a request target, without its query and without a slash at the end."""
    return split_url(url).path.rstrip("/")


def makes_a_turn(method: str, url: str, headers: Headers = (), body: bytes = b"") -> bool:
    """Whether a request asks for a generated answer. `url` may be a path; `body` is decoded."""
    return method == "POST" and is_turn_path(path_of(url)) and not is_to_a_tool_server(headers, body)


def is_to_a_tool_server(headers: Headers, body: bytes) -> bool:
    """True for a message to a tool server: a request, a notification, or the answer to a request of the server."""
    return is_recorded_shape("POST", headers, body) or _is_answer(body)


def _is_answer(body: bytes) -> bool:
    """True for a JSON-RPC answer, which nothing marks as MCP's in the transport of 2024-11-05."""
    if b'"jsonrpc"' not in body:
        return False
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    fields = cast(dict[str, object], value) if isinstance(value, dict) else {}
    return fields.get("jsonrpc") == "2.0" and "method" not in fields
