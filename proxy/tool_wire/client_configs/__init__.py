"""The configuration files in which clients list their MCP servers."""
