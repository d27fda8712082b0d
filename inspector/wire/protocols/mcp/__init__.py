"""MCP: the messages between a client and a tool server."""
