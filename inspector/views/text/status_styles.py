"""The style of each label of the three layers, the same in every view."""

from .terminal_text import Style

FINISH: dict[str, Style] = {
    "complete": "good",
    "tool_calls": "good",
    "stop_sequence": "good",
    "pause": "warn",
    "length": "warn",
    "context_full": "bad",
    "refusal": "warn",
    "content_filter": "bad",
    "malformed": "bad",
    "limit": "warn",
    "error": "bad",
    "cancelled": "warn",
    "cut": "bad",
    "unknown": "warn",
}
OUTCOME: dict[str, Style] = {
    "dispatched": "good",
    "ended": "good",
    "partly": "warn",
    "not_dispatched": "bad",
    "open": "dim",
}
EMITTED: dict[str, Style] = {
    "partial_call": "bad",
    "call_as_text": "warn",
    "refusal": "warn",
    "reasoning_only": "warn",
    "empty": "warn",
    "none": "dim",
}
"""Styles of emissions other than text and calls."""

FINISH_WORDS = {
    "complete": "done",
    "tool_calls": "calls",
    "stop_sequence": "stop",
    "context_full": "full",
    "refusal": "refuse",
    "content_filter": "filter",
    "malformed": "broken",
    "cancelled": "cancel",
    "unknown": "?",
}
"""Finishes in at most six cells, for lists; the others are short enough."""
OUTCOME_WORDS = {"dispatched": "ran", "partly": "part", "not_dispatched": "no run"}
"""Outcomes in at most six cells, for lists."""

SEVERITY: dict[str, tuple[str, Style]] = {"error": ("✗", "bad"), "warning": ("!", "warn"), "info": ("i", "dim")}
EDGES: dict[str, str] = {
    "main": "main",
    "fork": "fork",
    "subagent": "subagent",
    "handoff": "handoff",
    "side_call": "side call",
    "compaction": "compaction",
    "rebuilt": "rebuilt",
}
"""The name of a thread's kind, by the edge of its first turn."""

REBUILT = "the prompt was rebuilt, with the last answer in it"
"""What views say of a turn whose edge is `rebuilt`."""

ASIDE = frozenset({"subagent", "side_call"})
"""Kinds of threads that are folded at first: they do work for the main thread."""
