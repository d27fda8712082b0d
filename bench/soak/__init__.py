"""Upstreams that misbehave, the proxy between them and raw clients, and what each side saw."""
