"""Runs of a scripted agent against the simulated caches: what happens in them is drawn from a seed.

Each run is a list of round trips with the usage that the oracle gives. Things happen that happen to agents: results of
all sizes, waits, an edited system prompt, another tool, a changed history, a forced tool, marks in many places.
"""

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from turntape.cassettes.tape.model import Request, Response, RoundTrip

from .cache_oracle import backend
from .cache_oracle.apis import Json
from .cache_oracle.backend import CachedApi
from .cache_oracle.tokenizer import count

_WORDS = [
    "the",
    "build",
    "failed",
    "because",
    "a",
    "module",
    "could",
    "not",
    "be",
    "imported",
    "from",
    "this",
    "path",
    "while",
    "reading",
    "lines",
    "of",
    "the",
    "log",
    "file",
    "and",
    "each",
    "request",
    "returns",
    "an",
    "error",
    "with",
    "status",
    "code",
    "for",
    "user",
    "account",
    "in",
    "database",
    "table",
    "index",
    "value",
    "retry",
    "after",
    "timeout",
]
_START = 1_795_000_000.0
_EVENTS = ("grow",) * 24 + ("wait", "system", "tool", "edit", "force", "many")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one API writes the parts of a run."""

    url: str
    model: str
    body: Callable[["Agent"], Json]
    answer: Callable[[str, Json, Json], Json]
    """The answer's body, from its text, its tool call and its usage."""
    echo: Callable[[str, Json], Any]
    """The message or items with which the client sends an answer back."""
    result: Callable[[str, str], Any]
    make: Callable[[], CachedApi]


class Agent:
    """One scripted run. `strategy` says where it puts cache marks."""

    def __init__(self, seed: int, strategy: str, model: str) -> None:
        self.draw = random.Random(seed)
        self.strategy = strategy
        self.model = model
        self.system = self.text(600 + 200 * (seed % 20))
        self.tools = [self.tool(n) for n in range(3 + seed % 4)]
        self.history: list[Any] = []
        self.choice: str | None = None

    def text(self, words: int) -> str:
        """Prose with numbers and signs in it."""
        made: list[str] = []
        for _ in range(words):
            word = self.draw.choice(_WORDS)
            made.append(f"{word}={self.draw.randrange(10_000)};" if self.draw.random() < 0.1 else word)
        return " ".join(made)

    def tool(self, number: int) -> Json:
        """A tool as name, description and schema."""
        fields = {f"field_{n}": {"type": "string", "description": self.text(9)} for n in range(2 + number % 3)}
        schema = {"type": "object", "properties": fields, "required": list(fields)}
        return {"name": f"tool_{number}", "description": self.text(25), "schema": schema}


def _claude_tools(agent: Agent, mark: Json) -> list[Json]:
    tools = [{"name": t["name"], "description": t["description"], "input_schema": t["schema"]} for t in agent.tools]
    if "tools" in agent.strategy:
        tools[-1].update(mark)
    return tools


def _claude(agent: Agent) -> Json:
    mark = {"cache_control": {"type": "ephemeral", **({"ttl": "1h"} if "hour" in agent.strategy else {})}}
    messages = deepcopy(agent.history)
    system: Json = {"type": "text", "text": agent.system}
    if "system" in agent.strategy:
        system.update(mark)
    if "last" in agent.strategy:
        messages[-1]["content"][-1].update(mark)
    body = {
        "model": agent.model,
        "max_tokens": 1000,
        "tools": _claude_tools(agent, mark),
        "system": [system],
        "messages": messages,
    }
    if "automatic" in agent.strategy:
        body.update(mark)
    if agent.choice:
        body["tool_choice"] = {"type": "tool", "name": agent.choice}
    return body


def _claude_answer(text: str, call: Json, usage: Json) -> Json:
    return {
        "id": f"msg_{abs(hash(text)) % 10**12}",
        "type": "message",
        "role": "assistant",
        "content": _claude_echo(text, call)["content"],
        "stop_reason": "tool_use",
        "usage": usage,
    }


def _claude_echo(text: str, call: Json) -> Json:
    used = {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["input"]}
    return {"role": "assistant", "content": [{"type": "text", "text": text}, used]}


def _claude_result(call_id: str, text: str) -> Json:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": text}]}


def _converse(agent: Agent) -> Json:
    point = {"cachePoint": {"type": "default"}}
    messages = deepcopy(agent.history)
    tools: list[Json] = [
        {"toolSpec": {"name": t["name"], "description": t["description"], "inputSchema": {"json": t["schema"]}}}
        for t in agent.tools
    ]
    system: list[Json] = [{"text": agent.system}]
    if "tools" in agent.strategy:
        tools.append(point)
    if "system" in agent.strategy:
        system.append(point)
    if "last" in agent.strategy:
        messages[-1]["content"].append(point)
    config: Json = {"tools": tools}
    if agent.choice:
        config["toolChoice"] = {"tool": {"name": agent.choice}}
    return {"system": system, "messages": messages, "toolConfig": config}


def _converse_echo(text: str, call: Json) -> Json:
    used = {"toolUse": {"toolUseId": call["id"], "name": call["name"], "input": call["input"]}}
    return {"role": "assistant", "content": [{"text": text}, used]}


def _converse_answer(text: str, call: Json, usage: Json) -> Json:
    return {"output": {"message": _converse_echo(text, call)}, "stopReason": "tool_use", "usage": usage}


def _converse_result(call_id: str, text: str) -> Json:
    return {"role": "user", "content": [{"toolResult": {"toolUseId": call_id, "content": [{"text": text}]}}]}


def _chat(agent: Agent) -> Json:
    tools = [
        {
            "type": "function",
            "function": {"name": t["name"], "description": t["description"], "parameters": t["schema"]},
        }
        for t in agent.tools
    ]
    messages = [{"role": "system", "content": agent.system}, *agent.history]
    return {"model": agent.model, "tools": tools, "messages": messages}


def _chat_echo(text: str, call: Json) -> Json:
    function = {"name": call["name"], "arguments": json.dumps(call["input"])}
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [{"id": call["id"], "type": "function", "function": function}],
    }


def _chat_answer(text: str, call: Json, usage: Json) -> Json:
    choice = {"index": 0, "message": _chat_echo(text, call), "finish_reason": "tool_calls"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage}


def _chat_result(call_id: str, text: str) -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def _responses(agent: Agent) -> Json:
    tools = [
        {"type": "function", "name": t["name"], "description": t["description"], "parameters": t["schema"]}
        for t in agent.tools
    ]
    items = [deepcopy(item) for item in agent.history]
    body: Json = {"model": agent.model, "instructions": agent.system, "tools": tools, "prompt_cache_key": "agent"}
    if "explicit" in agent.strategy:
        body["prompt_cache_options"] = {"mode": "explicit"}
        texts = [item for item in items if item.get("role") == "user"]
        texts[-1]["content"][-1]["prompt_cache_breakpoint"] = {"mode": "explicit"}
    return {**body, "input": items}


def _responses_answer(text: str, call: Json, usage: Json) -> Json:
    used = {
        "type": "function_call",
        "call_id": call["id"],
        "name": call["name"],
        "arguments": json.dumps(call["input"]),
    }
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return {"id": "resp_1", "object": "response", "status": "completed", "output": [said, used], "usage": usage}


def _user(dialect: str, text: str) -> Json:
    return {
        "anthropic-messages": {"role": "user", "content": [{"type": "text", "text": text}]},
        "bedrock-converse": {"role": "user", "content": [{"text": text}]},
        "openai-responses": {"role": "user", "content": [{"type": "input_text", "text": text}]},
    }.get(dialect, {"role": "user", "content": text})


def _responses_echo(text: str, call: Json) -> list[Json]:
    return _responses_answer(text, call, {})["output"]


def _responses_result(call_id: str, text: str) -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


_GPT = "https://api.openai.com/v1/"
DIALECTS: dict[str, tuple[str, Dialect, tuple[str, ...]]] = {
    "Claude": (
        "anthropic-messages",
        Dialect(
            "https://api.anthropic.com/v1/messages",
            "claude-sonnet-4-6",
            _claude,
            _claude_answer,
            _claude_echo,
            _claude_result,
            backend.claude,
        ),
        ("system+last", "last", "tools+system+last", "automatic", "system", "hour system+last", "none"),
    ),
    "Claude on Bedrock": (
        "bedrock-converse",
        Dialect(
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-6-v1%3A0/converse",
            "us.anthropic.claude-sonnet-4-6-v1:0",
            _converse,
            _converse_answer,
            _converse_echo,
            _converse_result,
            backend.converse,
        ),
        ("system+last", "last", "tools+system+last"),
    ),
    "GPT-5.6": (
        "openai-responses",
        Dialect(
            f"{_GPT}responses",
            "gpt-5.6",
            _responses,
            _responses_answer,
            _responses_echo,
            _responses_result,
            backend.gpt_5_6,
        ),
        ("implicit",),
    ),
    "GPT-5.6 explicit": (
        "openai-responses",
        Dialect(
            f"{_GPT}responses",
            "gpt-5.6",
            _responses,
            _responses_answer,
            _responses_echo,
            _responses_result,
            lambda: backend.gpt_5_6(implicit=False),
        ),
        ("explicit",),
    ),
    "GPT-4.1": (
        "openai-chat",
        Dialect(f"{_GPT}chat/completions", "gpt-4.1", _chat, _chat_answer, _chat_echo, _chat_result, backend.gpt_4_1),
        ("",),
    ),
    "DeepSeek": (
        "deepseek-chat",
        Dialect(
            "https://api.deepseek.com/chat/completions",
            "deepseek-v4-flash",
            _chat,
            _chat_answer,
            _chat_echo,
            _chat_result,
            backend.deepseek,
        ),
        ("",),
    ),
    "xAI": (
        "openai-responses",
        Dialect(
            "https://api.x.ai/v1/responses",
            "grok-4.3",
            _responses,
            _responses_answer,
            _responses_echo,
            _responses_result,
            lambda: backend.grid(64, api="openai-responses", own=128),
        ),
        ("",),
    ),
    "Mistral": (
        "mistral-chat",
        Dialect(
            "https://api.mistral.ai/v1/chat/completions",
            "mistral-large-latest",
            _chat,
            _chat_answer,
            _chat_echo,
            _chat_result,
            lambda: backend.grid(16),
        ),
        ("",),
    ),
}
"""By name: the shape of messages, how it is written, and the strategies for marks."""


def run(name: str, seed: int, turns: int = 14) -> list[RoundTrip]:
    """One run of an API of `DIALECTS`."""
    shape, dialect, strategies = DIALECTS[name]
    agent = Agent(seed, strategies[seed % len(strategies)], dialect.model)
    api = dialect.make()
    agent.history.append(_user(shape, agent.text(40)))
    return list(_turns(agent, shape, dialect, api, turns))


def _turns(agent: Agent, shape: str, dialect: Dialect, api: CachedApi, turns: int) -> Iterator[RoundTrip]:
    at = _START
    for number in range(turns):
        happens = agent.draw.choice(_EVENTS) if number else "grow"
        at += _happen(agent, happens, shape)
        body = dialect.body(agent)
        text = agent.text(agent.draw.randrange(5, 80))
        call = {"id": f"call_{number}", "name": agent.tools[0]["name"], "input": {"field_0": agent.text(6)}}
        echo = dialect.echo(text, call)
        echoes = echo if isinstance(echo, list) else [echo]
        output = sum(count(json.dumps(one, ensure_ascii=False, separators=(",", ":"))) + 4 for one in echoes)
        usage = api.answer({"model": dialect.model, **body}, echoes, output, at)
        answer = dialect.answer(text, call, usage)
        yield _trip(dialect.url, body, answer, number, at)
        agent.choice = None
        agent.history += echoes
        results = 12 if happens == "many" else 1
        for _ in range(results):
            agent.history.append(dialect.result(call["id"], agent.text(agent.draw.choice((5, 60, 300, 1500)))))
        if shape in ("anthropic-messages", "bedrock-converse") and results > 1:
            merged = [block for message in agent.history[-results:] for block in message["content"]]
            agent.history[-results:] = [{"role": "user", "content": merged}]


def _happen(agent: Agent, what: str, shape: str) -> float:
    """Let something happen before a turn; returns how long it takes."""
    match what:
        case "wait":
            return 400.0
        case "system":
            agent.system = f"It is {agent.draw.randrange(24)}:15. {agent.system}"
        case "tool":
            agent.tools.append(agent.tool(len(agent.tools)))
        case "edit":
            agent.history[0] = _user(shape, agent.text(45))
        case "force":
            agent.choice = agent.tools[0]["name"] if shape.startswith("anthropic") else None
        case _:
            pass
    return float(agent.draw.randrange(2, 40))


def _trip(url: str, body: Json, answer: Json, index: int, at: float) -> RoundTrip:
    kind = (("content-type", "application/json"),)
    dump = json.dumps
    return RoundTrip(
        Request("POST", url, kind, dump(body).encode()),
        Response(200, headers=kind, content=dump(answer).encode()),
        at,
        index=index,
    )


def priced_turn(model: str, read: int, written: int, written_hour: int, fresh: int, output: int) -> RoundTrip:
    """One turn of Claude with these counts."""
    usage = {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written + written_hour,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": written_hour},
        "output_tokens": output,
    }
    said = {"type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": "end_turn"}
    body = {"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    return _trip("https://api.anthropic.com/v1/messages", body, {**said, "usage": usage}, 0, _START)
