"""MCP as the tape sees it: its shape identifies it, and no path does."""

from turntape.cassettes.apis.interface import Api, Registration, Shape

from .shape import is_endless, is_mcp_request, is_mcp_result, opening

API = Api(shape=Shape(is_mcp_request, is_mcp_result, is_endless, opening))

MCP = Registration(f"{__package__}.tool_wire:MCP", API, "mcp")
