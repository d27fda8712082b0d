"""What the agents with a tool server share. A script knows nothing of turntape."""

import os

TASK = "Call every tool once, in the order of the list, then say done."
COMMAND = os.environ["KINDS_PYTHON"]
"""The program of the tool server."""
ARGS = [os.environ["KINDS_SERVER"]]
URL = os.environ.get("KINDS_URL")
"""Where the tool server is instead, when it is one over HTTP."""
CALLS = 30
"""No agent needs more model calls than this."""
