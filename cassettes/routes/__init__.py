"""Upstreams: their names, hosts and paths, and the environment variables that point clients at them."""
