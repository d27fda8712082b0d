"""Whether a tool of a server and a tool that the model was offered can be one and the same.

Clients make their own names of those of servers and tools, and the way back is not unique: characters are replaced,
long names are cut, equal ones get a hash. So a name is never taken apart. All names that a client may make of a tool
are compared with the one that the model used.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from turntape.cassettes.regex import regex

_REPLACED = regex(r"[^A-Za-z0-9_-]")
_ALL_REPLACED = regex(r"[^A-Za-z0-9]")
_CUT = regex(r"(.{8,}?)(?:\.\.\.|…|_{3,})(.{8,})", re.DOTALL)
"""The beginning and the end of a long name (Gemini CLI keeps 30 characters of each)."""
_HASHED = regex(r"(.+?)_?[0-9a-f]{6,40}")
"""A name to which a hash was added, because it was long or not unique (Codex)."""
_BETWEEN = ("__", "_", "-", ".", "/", ":")

NONE, PLAIN, SUFFIX, NAMED = 0, 2, 1, 3
"""How well a name fits: not; the tool's own name; with some prefix; with the server's name."""


@lru_cache(maxsize=20_000)
def fits(offered: str, server: str, tool: str, others: frozenset[str] = frozenset()) -> int:
    """How well the name that the model used fits a tool of a server; 0 when it cannot be that tool.

    `others` are the names of the other servers: a name with one of them belongs to that one.
    """
    if not offered or not tool:
        return NONE
    spelled = set(_spelled(tool))
    if any(offered in _with_server(server, name) for name in spelled):
        return NAMED
    if any(_shortens(offered, whole) for name in spelled for whole in _with_server(server, name)):
        return NAMED
    if offered in spelled:
        return PLAIN
    if any(_shortens(offered, name) for name in spelled):
        return PLAIN
    if any(offered in _with_server(other, name) for other in others for name in spelled):
        return NONE
    if any(offered.endswith(between + name) for name in spelled for between in _BETWEEN):
        return SUFFIX
    return NONE


def _spelled(name: str) -> Iterator[str]:
    """A name as clients may write it."""
    yield name
    yield _REPLACED.sub("_", name)
    yield _ALL_REPLACED.sub("_", name)
    yield name.lower()


@lru_cache(maxsize=4_000)
def _with_server(server: str, tool: str) -> frozenset[str]:
    """A tool's name with its server's in front, in the ways that clients join them."""
    if not server:
        return frozenset()
    return frozenset(
        made
        for name in set(_spelled(server))
        for made in (
            f"mcp__{name}__{tool}",
            f"mcp_{name}_{tool}",
            *(f"{name}{between}{tool}" for between in _BETWEEN),
        )
    )


def _shortens(offered: str, whole: str) -> bool:
    """Whether the name that the model used is a shortened form of a whole one."""
    cut = _CUT.fullmatch(offered)
    if cut is not None and len(offered) < len(whole) and whole.startswith(cut[1]) and whole.endswith(cut[2]):
        return True
    hashed = _HASHED.fullmatch(offered)
    return hashed is not None and (whole == hashed[1] or (len(hashed[1]) >= 8 and whole.startswith(hashed[1])))


def best(offered: str, servers: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """The server and tool that a name fits best; None when it fits none, or two of different servers equally well."""
    given = list(servers)
    names = frozenset(server for server, _ in given)
    found = [(fits(offered, server, tool, names - {server}), server, tool) for server, tool in given]
    top = max((score for score, _, _ in found), default=NONE)
    chosen = [(server, tool) for score, server, tool in found if score == top]
    if top == NONE or (len({server for server, _ in chosen}) > 1 and top == SUFFIX):
        return None
    # Of several tools of one server, such as `add` and `b_add`, the one with the longest name is meant.
    return max(chosen, key=lambda one: len(one[1]))
