"""What the agents with a tool server share. A script knows nothing of turntape."""

import json
import os

TASK = "Call every tool once, in the order of the list, then say done."
NAME = os.environ["TOOLS_NAME"]
COMMAND, *ARGS = json.loads(os.environ["TOOLS_COMMAND"])
"""The program of the tool server, and its arguments."""
URL = os.environ.get("TOOLS_URL")
"""Where the tool server is instead, when it is one over HTTP."""
CALLS = 30
"""No agent needs more model calls than this."""
