"""Reads the first line of a request, in the place of mitmproxy's function.

mitmproxy refuses a URL with bytes beyond ASCII, or without a path, when it comes in absolute form; in origin form, it
passes the same bytes on. Here both forms are passed on as they came: the server decides what it accepts. What is not
HTTP/1 is refused, in both forms.
"""

import re

from mitmproxy.net.http import url

from turntape.cassettes.excerpts import cut

_ABSOLUTE = re.compile(rb"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]+)(.*)", re.DOTALL)
_VERSION = re.compile(rb"HTTP/1\.[0-9]")
_LINE = "send METHOD, URL and HTTP/1.1, with a space between them, and no space or NUL in the URL"
_TUNNEL = "send CONNECT, HOST:PORT with a port from 1 to 65535, and HTTP/1.1"
_SHOWN = 200
"""Characters of a line that cannot be read."""


def read_request_line(line: bytes) -> tuple[str, int, bytes, bytes, bytes, bytes, bytes]:
    """Host, port, method, scheme, authority, path and version. Raises ValueError when the line cannot be read."""
    try:
        method, target, version = line.split()
        if not _VERSION.fullmatch(version):  # one of HTTP/2 has no such line
            raise ValueError
        if b"\0" in line:  # where some servers end the URL
            raise ValueError
        if target == b"*" or target.startswith(b"/"):
            return "", 0, method, b"", b"", target, version
        if method == b"CONNECT":
            host, port = url.parse_authority(target, check=True)
            return host, _needed(port), method, b"", target, b"", version
        found = _ABSOLUTE.fullmatch(target)
        if found is None:
            raise ValueError
        scheme, authority, path = found.groups()
        scheme = scheme.lower()  # RFC 3986, 3.1
        host, port = url.parse_authority(authority, check=True)
        path = path if path.startswith(b"/") else b"/" + path  # RFC 9112, 3.2.1
        return host, _needed(port or url.default_port(scheme)), method, scheme, authority, path, version
    except ValueError as exc:
        shown = cut(line.decode("utf-8", "backslashreplace"), _SHOWN)
        advice = _TUNNEL if line.startswith(b"CONNECT ") else _LINE
        raise ValueError(f"the first line of the request cannot be read: '{shown}'; {advice}") from exc


def _needed(port: int | None) -> int:
    if not port:
        raise ValueError
    return port
