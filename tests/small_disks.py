"""What every process needs that a test lets run out of disk space."""

NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Variables of its environment. Python up to 3.13.0 leaves half a compiled module behind when the disk is full
(https://github.com/python/cpython/issues/126606), and no later process can import that module."""
