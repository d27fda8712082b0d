"""The clients that are tried with a tool server, as data: what to install and how to start them."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..environments import HERE

SERVER = (sys.executable, str(HERE / "python" / "kinds_mcp.py"))
"""The tool server's command."""
COMMAND = {"command": SERVER[0], "args": [SERVER[1]]}
RESPONSES = "Over the Responses API."
TASK = "Call every tool once, in the order of the list, then say done."


type Transport = Literal["stdio", "http"]
TRANSPORTS: tuple[Transport, ...] = ("stdio", "http")


def _nothing(_home: Path, _url: str | None) -> None:
    """A client that is configured in its code, by the variables."""


@dataclass(frozen=True, slots=True)
class ToolClient:
    """A client, and how its task is given to it."""

    name: str
    packages: tuple[str, ...]
    """The packages to install; the first is the client itself."""
    script: str = "x.mjs"
    """A script below this folder; for a program only its suffix counts."""
    program: tuple[str, ...] = ()
    """The program in the folder of the packages with its arguments; empty for a script."""
    configure: Callable[[Path, str | None], None] = _nothing
    """Writes its configuration below a home, which is also the working directory; without a URL, for the command."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()


def _write(path: Path, text: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


def _claude_code(home: Path, url: str | None) -> None:
    server = {"type": "http", "url": url} if url else COMMAND
    _write(home / ".claude.json", {"mcpServers": {"kinds": server}})


def _codex(home: Path, url: str | None) -> None:
    command = [f"command = {json.dumps(SERVER[0])}", f"args = [{json.dumps(SERVER[1])}]"]
    lines = [
        'model = "gpt-5"',
        "check_for_update_on_startup = false",
        'model_provider = "plain"',
        "[analytics]",
        "enabled = false",
        "[mcp_servers.kinds]",
        *([f"url = {json.dumps(url)}"] if url else command),
        "[model_providers.plain]",
        'name = "plain"',
        'base_url = "https://api.openai.com/v1"',
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
    ]
    _write(home / ".codex" / "config.toml", "\n".join(lines))


def _gemini_cli(home: Path, url: str | None) -> None:
    settings = {
        "mcpServers": {"kinds": {**({"httpUrl": url} if url else COMMAND), "trust": True}},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(home / ".gemini" / "settings.json", settings)


def _opencode(home: Path, url: str | None) -> None:
    server = {"type": "remote", "url": url} if url else {"type": "local", "command": list(SERVER)}
    _write(
        home / "opencode.json",
        {"autoupdate": False, "share": "disabled", "mcp": {"kinds": {**server, "enabled": True}}},
    )


def _copilot(home: Path, url: str | None) -> None:
    server = {"type": "http", "url": url} if url else {"type": "local", **COMMAND}
    _write(home / ".copilot" / "mcp-config.json", {"mcpServers": {"kinds": {**server, "tools": ["*"]}}})


TOOL_CLIENTS = (
    ToolClient(
        "Claude Code",
        ("@anthropic-ai/claude-code@latest",),
        program=("claude", "-p", TASK, "--model", "claude-sonnet-4-5", "--allowedTools", "mcp__kinds"),
        configure=_claude_code,
        environ={
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ENABLE_TOOL_SEARCH": "false",
        },
        notes=(
            "With `ENABLE_TOOL_SEARCH=false`, so that all tools are offered from the start; over the Messages API.",
        ),
    ),
    ToolClient(
        "Codex",
        ("@openai/codex@latest",),
        program=("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", TASK),
        configure=_codex,
        environ={"CODEX_API_KEY": "sk-scripted"},
        notes=(RESPONSES,),
    ),
    ToolClient(
        "Gemini CLI",
        ("@google/gemini-cli@latest",),
        program=("gemini", "-p", TASK, "-m", "gemini-2.5-pro", "--yolo", "--skip-trust"),
        configure=_gemini_cli,
        notes=("Over the Gemini API.",),
    ),
    ToolClient(
        "opencode",
        ("opencode-ai@latest",),
        program=("opencode", "run", "--auto", "--model", "openai/gpt-5", TASK),
        configure=_opencode,
        environ={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"},
        notes=(RESPONSES,),
    ),
    ToolClient(
        "Copilot CLI",
        ("@github/copilot@latest", "node@24"),
        program=("copilot", "-p", TASK, "--allow-all-tools", "--disable-builtin-mcps", "--no-auto-update"),
        configure=_copilot,
        environ={
            "COPILOT_PROVIDER_BASE_URL": "https://api.openai.com/v1",
            "COPILOT_PROVIDER_API_KEY": "sk-scripted",
            "COPILOT_MODEL": "gpt-5",
        },
        notes=("With `COPILOT_PROVIDER_BASE_URL`, over Chat Completions.",),
    ),
    ToolClient("OpenAI Agents SDK", ("openai-agents",), "python/openai_agents_tools.py"),
    ToolClient("pydantic-ai", ("pydantic-ai",), "python/pydantic_ai_tools.py"),
    ToolClient("LangChain", ("langchain-mcp-adapters", "langchain", "langchain-openai"), "python/langchain_tools.py"),
    ToolClient(
        "Vercel AI SDK",
        ("ai@latest", "@ai-sdk/mcp@latest", "@ai-sdk/openai@latest", "zod"),
        "node/ai_sdk_tools.mjs",
        notes=(RESPONSES,),
    ),
)
