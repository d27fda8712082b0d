"""A tool server made with fastmcp: over stdin and stdout, or with `http PORT` over streamable HTTP.

With `bridge PORT COMMAND ...` it offers the tools of another server, which is only for stdin and stdout, over HTTP.
"""

import asyncio
import sys
import uuid
from pathlib import Path
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

shop = FastMCP("shop")
STOCK = {"apples": 3, "pears": 0}


@shop.tool
def stock_of(fruit: str) -> dict[str, Any]:
    """How many there are."""
    if fruit not in STOCK:
        raise ToolError(f"there is no {fruit} in the shop at {Path.cwd()}")
    return {"fruit": fruit, "count": STOCK[fruit]}


@shop.tool
def order(fruit: str, count: int) -> str:
    """Order some, which changes the stock."""
    STOCK[fruit] = STOCK.get(fruit, 0) + count
    return f"order {uuid.uuid4()}: {count} {fruit}"


@shop.tool
async def deliver(fruit: str, context: Context) -> str:
    """Deliver, with progress."""
    for step in range(3):
        await context.report_progress(step, 3)
        await asyncio.sleep(0.05)
    return f"{STOCK.get(fruit, 0)} {fruit} delivered"


@shop.tool
def price_list() -> str:
    """A long text."""
    return "".join(f"item {number:05}: {number * 7 % 97} cents each, in boxes of twelve\n" for number in range(3000))


async def bridge(port: int, program: str, *arguments: str) -> None:
    """Offer the tools of another server. (`create_proxy` of fastmcp 4.1 offers none to clients of 2026-07-28.)"""
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport
    from fastmcp.tools import Tool, ToolResult

    async with Client(StdioTransport(command=program, args=list(arguments))) as behind:

        class Forwarded(Tool):
            async def run(self, arguments: dict[str, Any]) -> ToolResult:
                said = await behind.call_tool_mcp(self.name, arguments)
                if getattr(said, "is_error", False):
                    raise ToolError(" ".join(getattr(block, "text", "") for block in said.content))
                return ToolResult(content=said.content, structured_content=said.structured_content)

        server = FastMCP("bridge")
        for tool in await behind.list_tools():
            server.add_tool(Forwarded(name=tool.name, description=tool.description, parameters=tool.input_schema))
        await server.run_async(transport="http", host="127.0.0.1", port=port, show_banner=False)


def main(how: str = "stdio", port: str = "0", *command: str) -> None:
    if how == "bridge":
        asyncio.run(bridge(int(port), *command))
    elif how == "http":
        shop.run(transport="http", host="127.0.0.1", port=int(port), show_banner=False)
    else:
        shop.run(show_banner=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
