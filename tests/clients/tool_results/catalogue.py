"""The clients that are tried with a tool server, as data: what to install and how to start them."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..environments import HERE

SERVER = (sys.executable, str(HERE / "python" / "kinds_mcp.py"))
"""The command of the tool server with all kinds of results."""
RESPONSES = "Over the Responses API."
TASK = "Call every tool once, in the order of the list, then say done."


type Transport = Literal["stdio", "http"]
TRANSPORTS: tuple[Transport, ...] = ("stdio", "http")


@dataclass(frozen=True, slots=True)
class Configured:
    """The tool server that a client is configured with."""

    name: str
    command: tuple[str, ...]
    url: str | None = None
    """Where it is instead, when it is one over HTTP."""

    @property
    def started(self) -> dict[str, object]:
        """`command` and `args`, as most clients have them."""
        return {"command": self.command[0], "args": list(self.command[1:])}

    @property
    def variables(self) -> dict[str, str]:
        """For the agents that read no configuration."""
        given = {"TOOLS_NAME": self.name, "TOOLS_COMMAND": json.dumps(self.command)}
        return {**given, "TOOLS_URL": self.url} if self.url else given


def kinds(url: str | None = None) -> Configured:
    """The server with all kinds of results."""
    return Configured("kinds", SERVER, url)


def _nothing(_home: Path, _server: Configured) -> None:
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
    """The program in the folder of the packages with its arguments; empty for a script.

    `{server}` is the server's name.
    """
    configure: Callable[[Path, Configured], None] = _nothing
    """Writes its configuration below a home, which is also the working directory."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()


def _write(path: Path, text: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


def _claude_code(home: Path, server: Configured) -> None:
    entry = {"type": "http", "url": server.url} if server.url else server.started
    _write(home / ".claude.json", {"mcpServers": {server.name: entry}})


def _codex(home: Path, server: Configured) -> None:
    command = [f"command = {json.dumps(server.command[0])}", f"args = {json.dumps(server.command[1:])}"]
    lines = [
        'model = "gpt-5"',
        "check_for_update_on_startup = false",
        'model_provider = "plain"',
        "[analytics]",
        "enabled = false",
        f"[mcp_servers.{server.name}]",
        "required = true",  # otherwise it does not wait for the server, and its first turns have no tools
        *([f"url = {json.dumps(server.url)}"] if server.url else command),
        "[model_providers.plain]",
        'name = "plain"',
        'base_url = "https://api.openai.com/v1"',
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
    ]
    _write(home / ".codex" / "config.toml", "\n".join(lines))


def _gemini_cli(home: Path, server: Configured) -> None:
    settings = {
        "mcpServers": {server.name: {**({"httpUrl": server.url} if server.url else server.started), "trust": True}},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(home / ".gemini" / "settings.json", settings)


def _opencode(home: Path, server: Configured) -> None:
    remote = {"type": "remote", "url": server.url}
    entry = remote if server.url else {"type": "local", "command": list(server.command)}
    _write(
        home / "opencode.json",
        {"autoupdate": False, "share": "disabled", "mcp": {server.name: {**entry, "enabled": True}}},
    )


def _copilot(home: Path, server: Configured) -> None:
    entry = {"type": "http", "url": server.url} if server.url else {"type": "local", **server.started}
    _write(home / ".copilot" / "mcp-config.json", {"mcpServers": {server.name: {**entry, "tools": ["*"]}}})


TOOL_CLIENTS = (
    ToolClient(
        "Claude Code",
        ("@anthropic-ai/claude-code@latest",),
        program=("claude", "-p", TASK, "--model", "claude-sonnet-4-5", "--allowedTools", "mcp__{server}"),
        configure=_claude_code,
        environ={
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ENABLE_TOOL_SEARCH": "false",
            "MCP_CONNECTION_NONBLOCKING": "false",  # otherwise a slow server's tools are not in its first turns
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
