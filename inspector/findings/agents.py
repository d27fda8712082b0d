"""Which agent sends a request: known by the beginning of its system prompt and by its tools."""

from functools import lru_cache

from ..analysis.conversation import without_space
from ..wire.values import RequestReading

_FRONT = 80
"""Characters. What follows may hold a clock, a state or an id."""
_READ = 400
"""Characters of each instruction that are looked at: a prompt can be long, and most of its front is not white space."""
_LEAST = 12
"""Characters. A shorter prompt is shared by many."""

type Agent = tuple[str, frozenset[str]]


def agent_of(request: RequestReading) -> Agent | None:
    """The agent; None when a request has neither tools nor a prompt by which it is known."""
    front = ""
    for part in request.instructions:
        if len(front) < _FRONT:
            front += without_space(part.text[:_READ])
    front = front[:_FRONT]
    tools = frozenset(tool.name for tool in request.tools)
    return _shared(front, tools) if tools or len(front) >= _LEAST else None


@lru_cache(maxsize=64)
def _shared(front: str, tools: frozenset[str]) -> Agent:
    """The same agent sends request after request, and many of them are remembered."""
    return front, tools
