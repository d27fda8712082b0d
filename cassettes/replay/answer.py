"""What a client sees of a replayed answer, the same for transports and the server."""

from ..tape.model import Response

MISS_STATUS = 400
"""The status of the answer to a request that was not recorded. No SDK retries it, and clients show its message. After
404 Claude Code and Copilot say instead that the model does not exist, and Codex tries five times more."""

_NOT_REPLAYED = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive"})
"""Response headers that describe the recorded connection, or an encoding that the recording no longer has."""


def replayed_headers(response: Response) -> list[tuple[str, str]]:
    """The recorded headers that are sent in a replay."""
    return [(name, value) for name, value in response.headers if name.lower() not in _NOT_REPLAYED]
