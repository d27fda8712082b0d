"""The story in the words of a client: with the names of its tools. A request without tools gets none of it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from turntape.proxy.scripted import SALES_EMAILS
from turntape.proxy.scripted.answer import Ask
from turntape.proxy.scripted.story import Call, Step, Story, step_after

ASIDE = Step("Emails to five companies")
"""The answer to a request for a title or a summary: a request without tools does not belong to the story."""
ENDED_BY_A_CALL: Story = (
    *SALES_EMAILS[:-1],
    replace(SALES_EMAILS[-1], calls=(Call("final_answer", {"answer": SALES_EMAILS[-1].text}),)),
)
"""For a framework whose agents end by calling a tool."""
AFTER_A_SEARCH: Story = (
    Step(
        calls=(
            Call(
                "ToolSearch", {"query": "select:mcp__emails__generate_email,mcp__emails__send_email", "max_results": 5}
            ),
        )
    ),
    *SALES_EMAILS,
)
"""For Claude Code's default mode: a tool of an MCP server is offered only after the model searched for it."""


def is_same_tool(name: str, plain: str) -> bool:
    """True for `plain` itself and for what clients make of it: `mcp__emails__send_email`, `Emails-send_email`."""
    same = re.escape(plain).replace(r"\-", "[-_]")
    return re.fullmatch(rf"(?:.*[^A-Za-z0-9])?{same}", name) is not None


def offered(tools: object) -> Iterator[str]:
    """The names of all tools that a request offers, wherever its API puts them."""
    if isinstance(tools, list):
        for tool in tools:
            yield from offered(tool)
    elif isinstance(tools, dict):
        if isinstance(name := tools.get("name"), str):
            yield name
        for key in ("function", "functionDeclarations", "function_declarations", "tools", "toolSpec"):
            yield from offered(tools.get(key))


def script_of(story: Story, server: str = "") -> Callable[[Ask], Step]:
    """The step that answers a request; a tool of this server comes before the client's own of the same name."""

    def step(ask: Ask) -> Step:
        names = list(offered(ask.fields.get("tools") or ask.fields.get("toolConfig")))
        if not names and not _is_continued(ask):
            return ASIDE
        answer = step_after(story, ask.answers)
        return replace(
            answer, calls=tuple(replace(call, name=_as_offered(call.name, names, server)) for call in answer.calls)
        )

    return step


def _is_continued(ask: Ask) -> bool:
    """True when the API holds the conversation, its tools among it."""
    thread = ask.fields.get("thread")
    return "previous_response_id" in ask.fields or (isinstance(thread, dict) and thread.get("type") == "continue")


def _as_offered(plain: str, names: list[str], server: str) -> str:
    same = [name for name in names if is_same_tool(name, plain)]
    return next((name for name in same if server in name), same[0] if same else plain)
