"""Putting our wrapper in front of the tool servers of known clients.

One module per client knows where it keeps its configuration and how one process of it gets another one. `rewriting`
changes a configuration file of any of them, and back.
"""
