"""Whether the headers of a request over HTTP say what its body says.

From version 2026-07-28 on, each request repeats its version, its method and the name that it is about in headers, so
that what is in between need not read the body; before, only the version that the handshake ended with
(https://modelcontextprotocol.io/specification/2026-07-28/basic/transports, read 2026-11-25).
"""

import base64
import binascii
import re

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import RoundTrip

from ..wire.exchange import header
from ..wire.json_value import as_object, as_text, compact
from ..wire.protocols.mcp.shape import META, SESSION_HEADER
from .form import is_modern
from .tool_messages import ToolMessage

_VERSION, _METHOD, _NAME = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
_WITH_HEADER = "2025-06-18"
"""From this version on, each request after the handshake repeats its version."""
_TAKEN = ("application/json", "text/event-stream")
_ACCEPTED = 202
"""The status of a request whose answer comes on the stream of the older transport, which has none of these headers."""
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""By method: the parameter that a header repeats."""
_BEGIN, _END = "=?base64?", "?="
"""What is around a value that a header cannot hold."""


def flaw_of_headers(trip: RoundTrip, asked: ToolMessage, agreed: str | None) -> str | None:
    """How the headers of a request contradict it; None when they do not. The end of a sentence that begins with it.

    `agreed`: the version that the handshake ended with.
    """
    if trip.tool_wire is not None or asked.sender != "client" or asked.batched:
        return None
    if (lacking := _not_json(trip) or _not_taken(trip)) is not None:
        return lacking
    said = header(trip.request.headers, _VERSION)
    version = as_text(as_object(asked.params.get("_meta")).get(f"{META}protocolVersion"))
    if version is None:
        differs = said is not None and agreed is not None and said != agreed and not is_modern(agreed)
        if asked.method == "initialize" or trip.response is None or trip.response.status == _ACCEPTED:
            return None
        if said is None and agreed is not None and agreed >= _WITH_HEADER and not is_modern(agreed):
            return f"has no header `{_VERSION}`, which version {agreed} requires"
        if not differs:
            return None
        return f"says version {said!r} in its header `{_VERSION}`, and the handshake ended with {agreed!r}"
    if not is_modern(version):
        return None
    wanted = {_VERSION: version, _METHOD: asked.method}
    key = _NAMED.get(asked.method or "")
    if key is not None and (name := as_text(asked.params.get(key))) is not None:
        wanted[_NAME] = name
    for one, value in wanted.items():
        found = header(trip.request.headers, one)
        if found is None:
            return f"has no header `{one}`, which version {version} requires"
        if _plain(found) != value:
            return f"says {_plain(found)!r} in its header `{one}`, and {value!r} in its body"
    if header(trip.request.headers, SESSION_HEADER) is not None:
        return f"names a session, which version {version} does not have"
    return None


def _not_taken(trip: RoundTrip) -> str | None:
    """How a client does not take both forms of an answer over HTTP, of which a server chooses one."""
    takes = header(trip.request.headers, "accept")
    wanted = next((kind for kind in _TAKEN if takes is not None and "*/*" not in takes and kind not in takes), None)
    if wanted is None or trip.response is None or trip.response.status == _ACCEPTED:
        return None
    return f"does not have {wanted!r} in its header `Accept`, and MCP wants both forms there"


def _not_json(trip: RoundTrip) -> str | None:
    """How a request does not say that it is JSON."""
    kind = header(trip.request.headers, "content-type")
    if kind is None or kind.partition(";")[0].strip().lower() == _TAKEN[0]:
        return None
    return f"says {cut(kind, 40)!r} in its header `Content-Type`, where MCP wants {_TAKEN[0]!r}"


def speaks_of_headers(answer: ToolMessage, wrong: str) -> bool:
    """Whether a server fails a request for its headers; an error of the tool itself has nothing to do with them.

    `wrong`: what is wrong with them. A version that is left out is only meant where the answer speaks of versions.
    """
    said = compact(answer.error if answer.error is not None else (answer.result or {}).get("content"))
    if wrong.startswith(f"has no header `{_VERSION}`") and "version" not in said[:_SHORT].lower():
        return False
    return as_object(answer.error).get("code") in _CODES or _HEADERS.search(said[:_SHORT]) is not None


_CODES = (-32020, -32022)
"""With which version 2026-07-28 refuses headers and versions."""
_SHORT = 2_000
"""Characters of an answer that are read."""
_HEADERS = regex(
    r"\bheaders?\b|\bcontent.?type|\baccept|\bmcp-\w|protocol.?version|\bversion\b|\bsession\b|mismatch", re.IGNORECASE
)


def _plain(value: str) -> str:
    """A value as it was before it was put into a header."""
    if not value.startswith(_BEGIN) or not value.endswith(_END):
        return value
    try:
        return base64.b64decode(value[len(_BEGIN) : -len(_END)], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return value
