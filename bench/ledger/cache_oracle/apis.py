"""Request bodies as prompts, and counts as usage, in the words of each API."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .prompt import FIVE_MINUTES, HOUR, Block, Counts, Level
from .tokenizer import count

type Json = dict[str, Any]

_FRAME = 4
"""Tokens that each message adds to its content."""
_LIFETIMES = {"5m": FIVE_MINUTES, "1h": HOUR, "30m": 1800.0, "12h": 12 * HOUR}


def _block(value: Any, level: Level, mark: float | None, frame: int = 0) -> Block:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Block(text, max(1, count(text)) + frame, mark, level)


def _marked(value: Any) -> tuple[Any, float | None]:
    """A block of Anthropic without its mark, and the mark's lifetime."""
    if not isinstance(value, dict) or "cache_control" not in value:
        return value, None
    rest = {key: item for key, item in value.items() if key != "cache_control"}
    return rest, _LIFETIMES[(value["cache_control"] or {}).get("ttl", "5m")]


def _listed(value: Any) -> list[Any]:
    return [{"type": "text", "text": value}] if isinstance(value, str) else list(value or [])


def anthropic_blocks(body: Json) -> Iterator[Block]:
    """Tools, system, messages; tools that are loaded later are not in the prompt."""
    for tool in body.get("tools") or []:
        if tool.get("defer_loading"):
            continue
        rest, mark = _marked(tool)
        yield _block(rest, "tools", mark)
    for part in _listed(body.get("system")):
        rest, mark = _marked(part)
        yield _block(rest, "system", mark)
    for message in body["messages"]:
        for place, part in enumerate(_listed(message["content"])):
            rest, mark = _marked(part)
            yield _block([message["role"], rest], "messages", mark, 0 if place else _FRAME)


def converse_blocks(body: Json) -> Iterator[Block]:
    """The same for Converse, where a mark is a block of its own after what it marks."""
    yield from _points((body.get("toolConfig") or {}).get("tools") or [], "tools")
    yield from _points(body.get("system") or [], "system")
    for message in body["messages"]:
        yield from _points(message["content"], "messages", message["role"])


def _points(parts: list[Json], level: Level, role: str = "") -> Iterator[Block]:
    held: Block | None = None
    for place, part in enumerate(parts):
        if "cachePoint" in part:
            if held is not None:
                lifetime = _LIFETIMES[part["cachePoint"].get("ttl", "5m")]
                held = Block(held.text, held.size, lifetime, held.level)
            continue
        if held is not None:
            yield held
        held = _block([role, part], level, None, 0 if place or not role else _FRAME)
    if held is not None:
        yield held


def chat_blocks(body: Json) -> Iterator[Block]:
    """Chat Completions: tools first, then the messages."""
    for tool in body.get("tools") or []:
        yield _block(tool, "tools", None)
    for message in body["messages"]:
        level: Level = "system" if message["role"] in ("system", "developer") else "messages"
        marks = [_point(part, body) for part in message.get("content") or [] if isinstance(part, dict)]
        bare = {key: _unpointed(value) for key, value in message.items()}
        yield _block(bare, level, next((one for one in marks if one is not None), None), _FRAME)


def responses_blocks(body: Json) -> Iterator[Block]:
    """Responses: tools, instructions, then the items."""
    for tool in body.get("tools") or []:
        yield _block(tool, "tools", None)
    if body.get("instructions"):
        yield _block(body["instructions"], "system", None, _FRAME)
    for item in _listed(body["input"]):
        marks = [_point(part, body) for part in item.get("content") or [] if isinstance(part, dict)]
        bare = {key: _unpointed(value) for key, value in item.items()}
        yield _block(bare, "messages", next((one for one in marks if one is not None), None), _FRAME)


def _point(part: Json, body: Json) -> float | None:
    point = part.get("prompt_cache_breakpoint")
    if point is None:
        return None
    return _LIFETIMES[point.get("ttl") or (body.get("prompt_cache_options") or {}).get("ttl", "30m")]


def _unpointed(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [
        {key: item for key, item in part.items() if key != "prompt_cache_breakpoint"}
        if isinstance(part, dict)
        else part
        for part in value
    ]


def gemini_blocks(body: Json) -> Iterator[Block]:
    """Gemini: system, tools, contents."""
    if body.get("systemInstruction"):
        yield _block(body["systemInstruction"], "system", None)
    for tool in body.get("tools") or []:
        yield _block(tool, "system", None)
    for content in body["contents"]:
        yield _block(content, "messages", None, _FRAME)


def anthropic_usage(counts: Counts, output: int) -> Json:
    return {
        "input_tokens": counts.fresh,
        "cache_read_input_tokens": counts.read,
        "cache_creation_input_tokens": counts.written,
        "cache_creation": {
            "ephemeral_5m_input_tokens": counts.written - counts.written_hour,
            "ephemeral_1h_input_tokens": counts.written_hour,
        },
        "output_tokens": output,
    }


def converse_usage(counts: Counts, output: int) -> Json:
    return {
        "inputTokens": counts.fresh,
        "outputTokens": output,
        "totalTokens": counts.input + output,
        "cacheReadInputTokens": counts.read,
        "cacheWriteInputTokens": counts.written,
    }


def chat_usage(counts: Counts, output: int) -> Json:
    return {
        "prompt_tokens": counts.input,
        "completion_tokens": output,
        "total_tokens": counts.input + output,
        "prompt_tokens_details": {"cached_tokens": counts.read, "cache_write_tokens": counts.written},
    }


def responses_usage(counts: Counts, output: int) -> Json:
    return {
        "input_tokens": counts.input,
        "input_tokens_details": {"cached_tokens": counts.read, "cache_write_tokens": counts.written},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": counts.input + output,
    }


def deepseek_usage(counts: Counts, output: int) -> Json:
    return {
        "prompt_tokens": counts.input,
        "completion_tokens": output,
        "total_tokens": counts.input + output,
        "prompt_cache_hit_tokens": counts.read,
        "prompt_cache_miss_tokens": counts.input - counts.read,
    }


def gemini_usage(counts: Counts, output: int) -> Json:
    cached = {"cachedContentTokenCount": counts.read} if counts.read else {}
    return {
        "promptTokenCount": counts.input,
        "candidatesTokenCount": output,
        "totalTokenCount": counts.input + output,
        **cached,
    }


@dataclass(frozen=True, slots=True)
class WireApi:
    """How one API writes prompts and counts."""

    blocks: Callable[[Json], Iterator[Block]]
    usage: Callable[[Counts, int], Json]


APIS: Mapping[str, WireApi] = {
    "anthropic-messages": WireApi(anthropic_blocks, anthropic_usage),
    "bedrock-converse": WireApi(converse_blocks, converse_usage),
    "openai-chat": WireApi(chat_blocks, chat_usage),
    "deepseek-chat": WireApi(chat_blocks, deepseek_usage),
    "openai-responses": WireApi(responses_blocks, responses_usage),
    "gemini-generate": WireApi(gemini_blocks, gemini_usage),
}
