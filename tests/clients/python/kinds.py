"""What the agents with a tool server share. A script knows nothing of turntape."""

import os

TASK = "Call every tool once, in the order of the list, then say done."
COMMAND = os.environ["KINDS_PYTHON"]
"""The program of the tool server."""
ARGS = [os.environ["KINDS_SERVER"]]
CALLS = 30
"""No agent needs more model calls than this."""
