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


def main(how: str = "stdio", port: str = "0", *command: str) -> None:
    if how == "bridge":
        from fastmcp.server import create_proxy

        bridge = create_proxy({"mcpServers": {"behind": {"command": command[0], "args": list(command[1:])}}})
        bridge.run(transport="http", host="127.0.0.1", port=int(port), show_banner=False)
    elif how == "http":
        shop.run(transport="http", host="127.0.0.1", port=int(port), show_banner=False)
    else:
        shop.run(show_banner=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
