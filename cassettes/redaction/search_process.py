"""Searches a long body in another process.

The search is made of steps that keep the interpreter to themselves. In a body of many megabytes each takes so long that
nothing else in the process can run meanwhile, in a proxy also no other client.
"""

import logging
import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Protocol

from ..orphan import end_with
from .not_searched import NotSearched

log = logging.getLogger(__name__)

LEAST = 4 << 20
"""Bodies of fewer bytes are searched where they are; a process takes about as long to start as the search."""
_LEAST_IN_A_HURRY = 16 << 10
"""The same for who does not wait: these take some milliseconds."""
_COMMAND = (sys.executable, "-P", "-m", "turntape.cassettes.redaction.search_process")
GIVEN_UP = "turntape was stopped before the search for secrets ended"
_SAME, _CHANGED = b"=", b"!"


class Cleaner(Protocol):
    """A redactor: it can be sent to another process."""

    def cleaned_here(self, body: bytes, stream: bool) -> bytes: ...


class SearchElsewhere:
    """Searches one body after another, each in a new process, until nobody waits for that any more."""

    def __init__(self) -> None:
        self.least = LEAST
        """The length of the shortest body that is searched by a process."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._given_up = False

    def give_up(self) -> None:
        """End the search that runs, and begin no other. Any thread may call this."""
        with self._lock:
            self._given_up = True
            self.least = _LEAST_IN_A_HURRY
            if self._process is not None:
                self._process.kill()

    def clean(self, redactor: Cleaner, body: bytes, stream: bool) -> bytes | None:
        """`body` without secrets; None when there is no answer from a process. Raises NotSearched after `give_up`."""
        try:
            rules = pickle.dumps((redactor, stream))
            with self._started() as process:
                assert process.stdin is not None and process.stdout is not None
                with suppress(BrokenPipeError):
                    process.stdin.write(len(rules).to_bytes(8) + rules)
                    process.stdin.write(body)
                    process.stdin.close()
                kind = process.stdout.read(1)
                clean = body if kind == _SAME else process.stdout.read()
        except NotSearched:
            raise
        except Exception as exc:  # noqa: BLE001 - what cannot be searched there is searched here
            log.debug("a body could not be searched in another process: %s", exc)
            kind = clean = b""
        with self._lock:
            self._process = None
        if kind in (_SAME, _CHANGED) and len(clean) == len(body):
            return clean
        if self._given_up:
            raise NotSearched(GIVEN_UP)
        return None

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._given_up:
                raise NotSearched(GIVEN_UP)
            # In its own session, since Ctrl-C must not lose what is being recorded.
            self._process = subprocess.Popen(
                [*_COMMAND, str(os.getpid())], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
            return self._process


def main() -> None:
    end_with(int(sys.argv[1]))
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
