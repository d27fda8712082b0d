"""How many levels of JSON a process of ours can follow."""

import sys

_FRAMES = 8_000
"""orjson reads up to 1,024 levels. Code that visits all of a body has a few frames of Python for each."""


def follow_all_levels() -> None:
    """Let this process visit all of every JSON body that can be parsed, however deep. For processes of ours alone."""
    sys.setrecursionlimit(max(_FRAMES, sys.getrecursionlimit()))
