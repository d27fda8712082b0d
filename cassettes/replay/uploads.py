"""Uploads of a client's own traces to the API's host, as openai-agents sends them.

Each run sends other ids, in other batches, from its own thread, and nothing in the run follows from the answer. So
a replay gives each of them the recorded answer, whatever it holds, and neither expects nor reports them.
"""

from ..matching.request_key import path_key

PATHS = frozenset({"traces/ingest"})
"""Paths without base URL and version."""


def is_upload(method: str, url: str) -> bool:
    """True for a request that uploads traces; `url` may be a path."""
    return method.upper() == "POST" and path_key(url).partition("?")[0] in PATHS
