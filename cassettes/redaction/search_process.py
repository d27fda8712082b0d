"""Searches a long body in another process.

The search is made of steps that keep the interpreter to themselves. In a body of many megabytes each takes so long that
nothing else in the process can run meanwhile, in a proxy also no other client.
"""

import logging
import pickle
import subprocess
import sys
from contextlib import suppress
from typing import Protocol

log = logging.getLogger(__name__)

LEAST = 4 << 20
"""Bodies of fewer bytes are searched where they are; a process takes about as long to start as the search."""
_COMMAND = (sys.executable, "-P", "-m", "turntape.cassettes.redaction.search_process")
_SAME, _CHANGED = b"=", b"!"


class Cleaner(Protocol):
    """A redactor: it can be sent to another process."""

    def cleaned_here(self, body: bytes, stream: bool = False) -> bytes: ...


def cleaned_elsewhere(redactor: Cleaner, body: bytes, stream: bool) -> bytes | None:
    """`body` without secrets, by another process; None when there is no answer from one."""
    try:
        rules = pickle.dumps((redactor, stream))
        # In its own session, since Ctrl-C must not lose what is being recorded.
        with subprocess.Popen(
            _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            with suppress(BrokenPipeError):
                process.stdin.write(len(rules).to_bytes(8) + rules)
                process.stdin.write(body)
                process.stdin.close()
            kind = process.stdout.read(1)
            clean = body if kind == _SAME else process.stdout.read()
    except Exception as exc:  # noqa: BLE001 - what cannot be searched there is searched here
        log.debug("a body could not be searched in another process: %s", exc)
        return None
    return clean if kind in (_SAME, _CHANGED) and len(clean) == len(body) else None


def main() -> None:
    given = sys.stdin.buffer
    try:
        redactor, stream = pickle.loads(given.read(int.from_bytes(given.read(8))))
    except Exception:  # noqa: BLE001 - a function of the user's that is not found here
        return
    body = given.read()
    try:
        clean = redactor.cleaned_here(body, stream)
    except Exception:  # noqa: BLE001 - the same happens in the process that asks, which reports it
        return
    if clean == body:
        sys.stdout.buffer.write(_SAME)
    else:
        sys.stdout.buffer.write(_CHANGED)
        sys.stdout.buffer.write(clean)


if __name__ == "__main__":
    main()
