"""Cassettes as an HTTP server, for clients in any language."""
