"""A name for an MCP server, from the command that starts it."""

import re
from collections.abc import Sequence

_LAUNCHERS = frozenset(
    {"npx", "bunx", "uvx", "pnpx", "node", "bun", "deno", "python", "uv", "pipx", "docker", "podman", "npm", "pnpm"}
    | {"yarn", "env", "cmd", "sh", "bash", "tsx", "java", "poetry", "pdm", "hatch"}
)
_WORDS = frozenset({"run", "exec", "dlx", "tool", "x", "start", "python", "/c", "-m", "--"})
"""Words between a launcher and what it starts."""


def server_name(command: Sequence[str]) -> str:
    """`everything` for `npx -y @modelcontextprotocol/server-everything@1.2 --port 1`."""
    words = [word for word in command if word]
    while words and _plain(words[0]) in _LAUNCHERS:
        rest = words[1:]
        while rest and (rest[0] in _WORDS or rest[0].startswith("-") or re.match(r"[A-Za-z_]\w*=", rest[0])):
            rest = rest[1:]
        if not rest:
            break
        words = rest
    return _plain(words[0]) if words else "server"


def _plain(word: str) -> str:
    """The last part of a path, a package or an image, without version and suffix."""
    name = re.split(r"[/\\]", word.rstrip("/\\"))[-1]
    name = re.sub(r"(?<=.)[@:].*$|==.*$", "", name)
    name = re.sub(r"\.(exe|cmd|bat|py|js|mjs|cjs|ts|sh)$", "", name, flags=re.IGNORECASE)
    name = re.sub(r"^python[\d.]*$", "python", name)
    return re.sub(r"^(mcp-)?server-(?=.)|(?<=.)-mcp(-server)?$|(?<=.)-server$", "", name) or word
