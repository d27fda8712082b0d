"""What a browser needs so that a page of this machine may read the answers.

CORS, https://fetch.spec.whatwg.org/#http-cors-protocol (read 2026-11-30). Pages of other places never come here:
`visitors.py` refuses them. What the API allowed to pages when it was recorded is left out.
"""

from collections.abc import Iterable

from ..routes.admission import field
from ..tape.model import Headers

type Fields = list[tuple[bytes, bytes]]

_ALLOWED = b"access-control-"
_ASKED = (
    ("access-control-request-method", b"access-control-allow-methods"),
    ("access-control-request-headers", b"access-control-allow-headers"),
    ("access-control-request-private-network", b"access-control-allow-private-network"),
)


def is_preflight(method: str, headers: Headers) -> bool:
    """True for the question of a browser whether a page may send a request."""
    return method == "OPTIONS" and None not in (field(headers, "origin"), field(headers, _ASKED[0][0]))


def preflight_fields(headers: Headers) -> Fields:
    """The fields of the answer to such a question: yes."""
    given = [(name, value.encode("latin-1")) for asked, name in _ASKED if (value := field(headers, asked)) is not None]
    return readable(headers, [*given, (b"access-control-max-age", b"600")])


def readable(headers: Headers, fields: Iterable[tuple[bytes, bytes]]) -> Fields:
    """The fields of an answer, with those that let the page read it that sent a request with these headers."""
    origin = field(headers, "origin")
    if origin is None:
        return list(fields)
    kept = [one for one in fields if one[0].lower() not in (_ALLOWED + b"allow-origin", _ALLOWED + b"expose-headers")]
    return [
        *kept,
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", b"*"),
        (b"vary", b"origin"),
    ]
