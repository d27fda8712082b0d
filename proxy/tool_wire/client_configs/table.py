"""The clients whose tool servers can be wrapped for one process, and how they are recognised."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from .claude_code import ClaudeCode
from .client import Client, Launch
from .codex import Codex
from .copilot_cli import CopilotCli
from .gemini_cli import GeminiCli
from .opencode import OpenCode

CLIENTS: tuple[Client, ...] = (ClaudeCode(), Codex(), GeminiCli(), OpenCode(), CopilotCli())

_BEFORE = frozenset({"env", "nohup", "time", "nice", "setsid", "exec", "npx", "bunx"})
"""Programs that start the program after them."""
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def recognised(command: Sequence[str], environ: Mapping[str, str], cwd: Path) -> tuple[Client, Launch] | None:
    """The client that a command starts; None when it is none of these."""
    words = list(command)
    place = 0
    environ = dict(environ)
    while place < len(words) - 1 and Path(words[place]).name in _BEFORE:
        place += 1
        while place < len(words) - 1 and (words[place].startswith("-") or _ASSIGNMENT.fullmatch(words[place])):
            if match := _ASSIGNMENT.fullmatch(words[place]):
                environ[match[1]] = match[2]
            place += 1
    if Path(words[place]).name == "node" and place < len(words) - 1:
        place += 1
    client = next((one for one in CLIENTS if _is(words[place], one)), None)
    if client is None:
        return None
    return client, Launch(tuple(words[: place + 1]), tuple(words[place + 1 :]), environ, cwd)


def _is(word: str, client: Client) -> bool:
    """True for `claude`, a path to it, `@anthropic-ai/claude-code@latest`, and a script in its package."""
    program, package = client.programs
    return (
        Path(word).name.removesuffix(".exe").removesuffix(".cmd") == program
        or re.fullmatch(rf"{re.escape(package)}(@[\w.^~-]+)?", word) is not None
        or f"/node_modules/{package}/" in word.replace("\\", "/")
    )
