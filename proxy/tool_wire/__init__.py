"""The tool wire: the wrapper in front of an MCP server, and the link over which it reaches the recorder of a run.

`wrapper` runs in the client's process tree and imports next to nothing. `link_server` and `recorder_process` run where
the cassette is written. `frames` is what goes over the link.
"""
