"""Agent runs made up from this repository's files: prompts, calls, results and answers of every size."""

import json
from dataclasses import dataclass
from functools import cache
from random import Random

from bench.faults.dialects import Dialect
from bench.faults.identities import signature
from bench.faults.pieces import Block, Call, Message, Result, Text, Thinking, Tool

from .tokenizers import ROOT

_OTHER = (
    "Запрос не выполнен: файл не найден, повторите позже. ",
    "サーバーは応答しませんでした。設定を確認してください。",
    "Größe überschritten: höchstens fünf Einträge möglich. ",
)
_NAMES = ("read_file", "bash", "grep", "write_file", "list_folder", "query", "fetch", "edit", "search_docs", "deploy")


@dataclass(frozen=True, slots=True)
class Turn:
    """What is new in one turn: what the client sends, and what the model answers."""

    sent: tuple[Message, ...]
    answer: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    system: str
    tools: tuple[Tool, ...]
    turns: tuple[Turn, ...]


@cache
def _prose() -> tuple[str, ...]:
    texts = [path.read_text("utf-8") for path in sorted(ROOT.glob("docs/**/*.md"))]
    return tuple(part for text in texts for part in text.split("\n\n") if len(part) > 60)


@cache
def _code() -> tuple[str, ...]:
    return tuple(path.read_text("utf-8") for path in sorted(ROOT.glob("proxy/**/*.py")) if path.stat().st_size > 2_000)


def talk(seed: str, dialect: Dialect, turns: int) -> Talk:
    """A run of so many turns, the same for the same seed."""
    random = Random(seed)
    tools = tuple(_tool(random, name) for name in random.sample(_NAMES, random.randint(3, len(_NAMES))))
    system = "\n\n".join(random.choices(_prose(), k=random.randint(2, 30)))
    made: list[Turn] = []
    sent: tuple[Message, ...] = (Message("user", (Text(_said(random, 30, 1_500)),)),)
    for number in range(turns):
        answer = _answer(random, dialect, f"{seed}/{number}", tools)
        made.append(Turn(sent, answer))
        calls = [block for block in answer if isinstance(block, Call)]
        results = tuple(Result(call.id, call.name, _result(random)) for call in calls)
        sent = (Message("results", results),) if calls else (Message("user", (Text(_said(random, 10, 900)),)),)
    return Talk(system, tools, tuple(made))


def _answer(random: Random, dialect: Dialect, seed: str, tools: tuple[Tool, ...]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    if dialect.thinks:
        mark = signature(seed, 120 + random.randint(0, 40) * 4)
        blocks.append(Thinking(_said(random, 40, 900), mark, dialect.thinking_id(seed)))
    calls = random.choices((0, 1, 2, 3, 4), (2, 8, 3, 1, 1))[0]
    if not calls or random.random() < 0.4:
        blocks.append(Text(_said(random, 20, 600), dialect.text_id(seed)))
    for number in range(calls):
        tool, one = random.choice(tools), f"{seed}/{number}"
        arguments = json.dumps({"path": f"src/{random.choice(_NAMES)}/{random.randint(1, 99)}.py", **_more(random)})
        signed = signature(one, 80) if dialect.thinks and number == 0 and dialect.upstream == "gemini" else None
        blocks.append(Call(dialect.call_id(one, tool.name), tool.name, arguments, signed, dialect.item_id(one)))
    return tuple(blocks)


def _more(random: Random) -> dict[str, object]:
    if random.random() < 0.3:
        return {"content": _slice(random, random.choice(_code()), 50, 2_000)}
    return {"limit": random.randint(1, 500)} if random.random() < 0.5 else {}


def _said(random: Random, least: int, most: int) -> str:
    if random.random() < 0.1:
        return random.choice(_OTHER) * random.randint(1, 5)
    return _slice(random, "\n\n".join(random.choices(_prose(), k=6)), least, most)


def _result(random: Random) -> str:
    kind = random.random()
    if kind < 0.45:
        return _slice(random, random.choice(_code()), 20, 8_000)
    if kind < 0.65:
        lines = random.randint(1, 60)
        return "\n".join(
            f"2026-05-{random.randint(1, 28):02}T{random.randint(0, 23):02}:{random.randint(0, 59):02}:00Z "
            f"{random.choice(('INFO', 'WARN', 'ERROR'))} [{random.choice(_NAMES)}] id={random.getrandbits(48):x} "
            f"took {random.randint(1, 9_000)} ms"
            for _ in range(lines)
        )
    if kind < 0.8:
        rows = [{"id": random.randint(1, 10**6), "name": random.choice(_NAMES), "ok": True} for _ in range(20)]
        return json.dumps(rows[: random.randint(1, 20)])
    if kind < 0.85:
        return random.choice(_OTHER) * random.randint(1, 12)
    return random.choice(("ok", "done", "No matches found.", "exit code 1", _said(random, 20, 3_000)))


def _slice(random: Random, text: str, least: int, most: int) -> str:
    size = int(least * (most / least) ** random.random())
    start = random.randint(0, max(0, len(text) - size))
    return text[start : start + size] or "ok"


def _tool(random: Random, name: str) -> Tool:
    fields = random.sample(
        ("path", "limit", "content", "pattern", "recursive", "since", "format"), random.randint(1, 6)
    )
    schema = {
        "type": "object",
        "properties": {
            field: {"type": random.choice(("string", "integer")), "description": _slice(random, _prose()[at], 10, 120)}
            for at, field in enumerate(fields)
        },
        "required": fields[:1],
    }
    return Tool(name, _slice(random, random.choice(_prose()), 30, 900), schema)
