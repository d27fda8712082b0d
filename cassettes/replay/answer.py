"""What a replayed answer looks like to a client, whether a transport or a server gives it."""

from ..tape.model import Response

MISS_STATUS = 404
"""The status of the answer to a request that no recording answers. No SDK retries it, and none takes it for a
problem with its key or its request."""

_NOT_REPLAYED = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive"})
"""Response headers that describe the recorded connection, or an encoding that the recording no longer has."""


def replayed_headers(response: Response) -> list[tuple[str, str]]:
    """The recorded headers that are sent in a replay."""
    return [(name, value) for name, value in response.headers if name.lower() not in _NOT_REPLAYED]
