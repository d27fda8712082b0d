"""What the exit code of `turntape` says. `turntape run` passes its command's code through instead."""

OK = 0
FINDINGS = 1
"""Something was found or did not match, and the user asked to be told by the exit code."""
USAGE = 2
"""The command line, or a file that it names, is wrong."""
INTERNAL = 3
"""A fault of turntape itself, or a part of it that is not installed."""
NOT_EXECUTABLE = 126
NOT_FOUND = 127
SIGNALLED = 128
"""Added to the number of the signal that ended the command, as shells do."""
