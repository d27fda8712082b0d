"""One module per command: its arguments and its `main`. Heavy imports are inside `main`."""
