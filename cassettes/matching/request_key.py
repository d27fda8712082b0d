"""The key of a request: method, path without base URL and version, and the canonical body.

The host, the order of keys, white space in JSON, the credential, and the version in the base URL are ignored.
"""

import re
from functools import lru_cache
from hashlib import blake2b
from string import ascii_letters, digits
from urllib.parse import parse_qsl, urlencode

import orjson

from ..apis.lookup import api_at
from ..redaction.field_names import SECRET_PARAMETERS
from ..redaction.redactor import Redactor
from ..regex import regex
from ..routes.upstreams import BY_NAME
from ..tape.content_encoding import decoded
from ..tape.model import Headers, split_url

_VERSION = regex(r"v\d+[a-z]*\d*$")
_BASES = frozenset({"api", "openai", "inference", "compatible-mode", "paas"})
"""Path segments that hosts put before the version."""
_ENCODING = "content-encoding"
_ESCAPE = regex(r"%[0-9A-Fa-f]{2}")
_MARK = regex(r"REDACTED(?:-[0-9a-f]{8})?\**")
"""A value that the redactor has replaced."""
_NEEDS_NONE = frozenset(f"{ascii_letters}{digits}-._~!$&'()*+,;=:@")
"""Signs that a path segment may have as they are: some clients escape them, others do not (RFC 3986, section 3.3)."""


@lru_cache(1024)
def path_key(target: str) -> str:
    """The endpoint that a URL or an origin-form target names, without route, base and version; with what counts of its
    query."""
    parts = split_url(target)
    segments = [_spelled(segment) for segment in parts.path.split("/") if segment]
    if len(segments) > 2 and segments[0] == "s" and segments[2] in BY_NAME:
        segments = segments[2:]
    if len(segments) > 1 and segments[0] in BY_NAME:
        segments = segments[1:]
    while len(segments) > 1 and (segments[0] in _BASES or _VERSION.match(segments[0])):
        # Ollama's `/api/chat` is an endpoint; `/api/v1/chat/completions` is one under a base, as after `/api/paas/v4`.
        if segments[0] == "api" and not (segments[1] in _BASES or _VERSION.match(segments[1])):
            break
        segments = segments[1:]
    endpoint = "/".join(segments)
    idle = api_at(endpoint).idle_query if parts.query else ()
    query = sorted(
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name.lower() not in SECRET_PARAMETERS and name not in idle and not _MARK.fullmatch(value)
    )
    return endpoint + (f"?{urlencode(query)}" if query else "")


def _spelled(segment: str) -> str:
    """A path segment without the escapes that it does not need."""
    return _ESCAPE.sub(_sign, segment) if "%" in segment else segment


def _sign(escape: "re.Match[str]") -> str:
    sign = chr(int(escape[0][1:], 16))
    return sign if sign in _NEEDS_NONE else escape[0].upper()


def is_without_address(url: str) -> bool:
    """True for the URL of a recording whose address was replaced by a word."""
    return "/" not in url


def header(headers: Headers, name: str) -> str:
    """The first value of a header, or an empty string."""
    return next((value for key, value in headers if key.lower() == name), "")


def plain(body: bytes, headers: Headers) -> bytes:
    """A request body with its content-encoding undone, as in a recording; unchanged if it cannot be decoded."""
    for name, value in headers:
        if len(name) == len(_ENCODING) and name.lower() == _ENCODING:
            return decoded(body, value)[0]
    return body


def canonical(body: bytes) -> bytes:
    """JSON with sorted keys and no spaces; any other body as it is."""
    if body[:1] in (b"{", b"["):
        try:
            return orjson.dumps(orjson.loads(body), option=orjson.OPT_SORT_KEYS)
        except (orjson.JSONDecodeError, TypeError):
            return body
    return body


def digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def body_key(body: bytes, headers: Headers, redactor: Redactor) -> bytes:
    """The digest of a body's canonical form, without its secrets."""
    boundary = re.search(r'boundary="?([^";]+)', header(headers, "content-type"))
    if boundary:
        body = body.replace(boundary[1].encode(), b"boundary")
    return digest(canonical(redactor.normalise(redactor.body(body))))
