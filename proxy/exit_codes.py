"""The exit codes of `turntape`. `turntape run` and `fork` return the exit code of their command instead.

When that is 0, they may return `FINDINGS` (with `--prove` or `--replay`) or `NOT_RECORDED`.
"""

OK = 0
FINDINGS = 1
"""Something was found, or two things do not match."""
USAGE = 2
"""The command line, or a file that it names, is wrong."""
INTERNAL = 3
"""A bug in turntape, or an optional part of it that is not installed."""
NOT_RECORDED = 4
"""Some traffic was not recorded, because it could not be written or the cassette was deleted while recording."""
NOT_EXECUTABLE = 126
NOT_FOUND = 127
INTERRUPTED = 130
SIGNALLED = 128
"""Added to the number of the signal that ended the command, as shells do."""
