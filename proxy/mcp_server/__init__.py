"""`turntape mcp-server`: read-only tools with which an agent reads tapes, over MCP."""
