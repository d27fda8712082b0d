"""Answers a line that is not a message of JSON-RPC. The SDK says nothing of it, and its sender would wait."""

import json
from typing import cast

from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError
from pydantic import ValidationError

from turntape.inspector.wire.json_value import as_object, is_object

_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
"""https://www.jsonrpc.org/specification, 5.1 (read 2026-11-30)."""


def refusal(fault: Exception) -> SessionMessage | None:
    """The error to send for what the SDK could not read; None for a blank line, and for what is not a request."""
    if not isinstance(fault, ValidationError):
        return None
    errors = fault.errors(include_url=False)
    first, line = errors[0], errors[0]["input"]
    if first["type"] == "json_invalid":
        if not isinstance(line, str) or not line.strip():
            return None
        code, message, value = _PARSE_ERROR, f"Parse error: {first['msg']}", _lenient(line)
    else:
        code, message = _INVALID_REQUEST, "Invalid request: it is not a message of JSON-RPC 2.0"
        inputs = cast("list[object]", [error["input"] for error in errors])  # of a field of the message, or all of it
        value = next(filter(is_object, inputs), line)
    said = as_object(value)
    if "method" not in said and ("result" in said or "error" in said):
        return None
    number = said.get("id")
    number = number if isinstance(number, int | str) and not isinstance(number, bool) else None
    if isinstance(number, str) and not number.isprintable():
        number = None
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message)))


def _lenient(line: str) -> object:
    """What a line says that is JSON but for half of a character that takes two; None for what is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
