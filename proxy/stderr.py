"""What the processes of a recording say at once, beside the output of the command."""

import sys
from contextlib import suppress


def say_problem(sentence: str) -> None:
    """One sentence, at once."""
    # Not through the log: the proxy takes what is logged. In one write: the command writes there too.
    with suppress(OSError, ValueError):
        sys.stderr.write(f"turntape: {sentence}\n")
        sys.stderr.flush()
