"""Turns of an agent with a prompt cache, for tests: what is marked, and what the answer counts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from round_trips import CHAT, MESSAGES, exchanged

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import CacheEntry, ledger_of
from turntape.inspector.run.labels import label_all

MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
POLICY = "Answer shortly and with care. " * 300
TOOL = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}


def text(words: str, mark: dict[str, Any] | None = None) -> dict[str, Any]:
    """A text block, with a mark or without one."""
    return {"type": "text", "text": words, **(mark or {})}


def asks(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def says(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [text(words)]}


def claude(
    messages: Sequence[dict[str, Any]],
    counts: tuple[int, int, int],
    *,
    at: float = 0.0,
    system: str = POLICY,
    mark: dict[str, Any] | None = None,
    tools: Sequence[dict[str, Any]] = (TOOL,),
    model: str = "claude-sonnet-4-6",
    answer: str = "Fine.",
    output: int = 40,
    content: Sequence[dict[str, Any]] = (),
    diagnosed: dict[str, Any] | None = None,
    status: int = 200,
    **fields: Any,
) -> RoundTrip:
    """A turn of Claude: `counts` are read, written and fresh; `mark` is that of the system prompt.

    `diagnosed` are the API's own diagnostics, `content` comes before the text of the answer.
    """
    read, written, fresh = counts
    body = {
        "model": model,
        "max_tokens": 100,
        "tools": list(tools),
        "system": [text(system, mark)],
        "messages": list(messages),
        **fields,
    }
    said: dict[str, Any] = {
        "id": f"msg_{at:.0f}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [*content, text(answer)],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": fresh,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens": output,
        },
        **({"diagnostics": diagnosed} if diagnosed else {}),
    }
    if status != 200:
        said = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    return replace(exchanged(MESSAGES, body, said, status=status), started_at=at)


def gpt(
    messages: Sequence[dict[str, Any]],
    counts: tuple[int, int, int],
    *,
    at: float = 0.0,
    model: str = "gpt-4.1",
    **fields: Any,
) -> RoundTrip:
    """A turn of GPT-4.1: `counts` are input, read and output."""
    total, read, output = counts
    body = {"model": model, "messages": list(messages), **fields}
    usage = {
        "prompt_tokens": total,
        "completion_tokens": output,
        "total_tokens": total + output,
        "prompt_tokens_details": {"cached_tokens": read},
    }
    said = {
        "object": "chat.completion",
        "model": body["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}],
        "usage": usage,
    }
    return replace(exchanged(CHAT, body, said), started_at=at)


def entries(*trips: RoundTrip) -> list[CacheEntry]:
    """What the ledger says of the cache of each turn."""
    numbered = [replace(trip, index=index) for index, trip in enumerate(trips)]
    found = [turn.cache for turn in ledger_of(label_all(numbered)).turns]
    return [entry for entry in found if entry is not None]
