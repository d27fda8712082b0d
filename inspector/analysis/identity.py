"""Who sent a request: the session and the agent, as coding agents name themselves in headers and bodies.

Names as read in the agents' own requests (shared reference of failures, section D1, 2026-11-20).
"""

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import RoundTrip

from ..wire.exchange import header
from ..wire.json_value import as_object, as_text
from ..wire.values import Reading

SESSION_HEADERS: tuple[str, ...] = (
    "x-claude-code-session-id",
    "session-id",
    "session_id",
    "x-session-id",
    "x-opencode-session",
    "x-session-affinity",
    "x-conversation-id",
    "x-litellm-session-id",
    "helicone-session-id",
)
AGENT_HEADERS: tuple[str, ...] = ("x-claude-code-agent-id", "thread-id", "x-openai-subagent")
PARENT_HEADERS: tuple[str, ...] = ("x-claude-code-parent-agent-id", "x-codex-parent-thread-id")
CLASS_HEADERS: dict[str, str] = {
    "subagent": "subagent",
    "workflow": "subagent",
    "compaction": "compaction",
    "auxiliary": "side_call",
    "collab_spawn": "subagent",
    "review": "subagent",
    "compact": "compaction",
    "memory_consolidation": "side_call",
}
"""The values of `x-claude-code-request-class` and `x-openai-subagent`, and our words for them."""

_TRACEPARENT = regex(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}.*")
_SESSION = regex(r"_session_([0-9a-f-]{8,})$")


@frozen
class Identity:
    session: str | None = None
    agent: str | None = None
    parent: str | None = None
    kind: str | None = None
    """The kind that the request names: `subagent`, `compaction`, `side_call`."""
    trace: str | None = None
    """The trace id of W3C `traceparent`. Equal ids join requests; different ids prove nothing, because some clients
    begin a new trace with each call."""


def identity(round_trip: RoundTrip, reading: Reading) -> Identity:
    """The names that a request carries; all None for most clients."""
    headers = round_trip.request.headers

    def first(names: tuple[str, ...]) -> str | None:
        return next((value for name in names if (value := header(headers, name))), None)

    said = header(headers, "x-claude-code-request-class") or header(headers, "x-openai-subagent")
    return Identity(
        first(SESSION_HEADERS) or _session(reading),
        first(AGENT_HEADERS),
        first(PARENT_HEADERS),
        CLASS_HEADERS.get(said.strip().lower()) if said else None,
        _trace(header(headers, "traceparent")),
    )


def _trace(parent: str | None) -> str | None:
    found = _TRACEPARENT.fullmatch(parent.strip().lower()) if parent else None
    return found[1] if found else None


def _session(reading: Reading) -> str | None:
    """The session that older Claude Code writes into `metadata.user_id`."""
    user = as_text(as_object(reading.request.parameters.get("metadata")).get("user_id"))
    found = _SESSION.search(user) if user else None
    return found[1] if found else None
