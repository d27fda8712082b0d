"""The answer of turntape itself, where no answer of the API can be sent on."""

import json
from http import HTTPStatus

from mitmproxy import http

from .wire_events import without_advice


def no_tunnel(host: str, port: int, error: str) -> http.Response:
    """The answer to a CONNECT whose server cannot be reached."""
    message = f"turntape cannot connect to {host}:{port}: {error}; the connection would fail without turntape too"
    body = json.dumps({"error": {"type": "turntape_bad_gateway", "code": 502, "message": message}}).encode()
    return http.Response.make(502, body, {"content-type": "application/json"})


def error_response(status_code: int, message: str = "") -> bytes:
    """The answer to a request that cannot be sent on, in the place of mitmproxy's page. It ends the connection."""
    reason = HTTPStatus(status_code).phrase
    kind = f"turntape_{reason.lower().replace(' ', '_')}"
    error = {"type": kind, "code": status_code, "message": without_advice(message) or reason}
    body = json.dumps({"error": error}).encode()
    head = f"HTTP/1.1 {status_code} {reason}\r\nconnection: close\r\ncontent-type: application/json\r\n"
    return b"%scontent-length: %d\r\n\r\n%s" % (head.encode(), len(body), body)
