"""Requests to the API's host that do not belong to one run.

Uploads of a client's own traces, as openai-agents sends them: each run sends other ids, in other batches, from its own
thread, and nothing in the run follows from the answer. So a replay gives each of them the recorded answer, whatever it
holds, and neither expects nor reports them.

Discovery of what a host offers (RFC 8615): an SDK asks once in a process, continues without an answer, and only the
first test of a process records it. A replay answers it if it can, and a missing answer fails nothing.
"""

from ..matching.request_key import path_key
from ..tape.model import split_url

PATHS = frozenset({"traces/ingest"})
"""Paths without base URL and version."""


def is_upload(method: str, url: str) -> bool:
    """True for a request that uploads traces; `url` may be a path."""
    return method.upper() == "POST" and path_key(url).partition("?")[0] in PATHS


def is_discovery(method: str, url: str) -> bool:
    """True for a request for `/.well-known/…`; `url` may be a path."""
    return method.upper() in ("GET", "HEAD") and "/.well-known/" in f"/{split_url(url).path}"
