"""The file: its model, its format, and reading and writing it."""
