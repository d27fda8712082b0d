"""Editing a held answer: as a document, in the user's editor, and back into the bytes of its protocol."""

import os
import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.rewrite import NotEditable, document, remade

from ..signals import RESTORED
from .held_answer import Decision, HeldAnswer


def edited(held: HeldAnswer, text: str) -> tuple[Decision, str | None]:
    """The decision for an edited document, and a remark about it. Raises NotEditable."""
    pieces = remade(held.round_trip, text)
    return Decision("edited", pieces), _remark(held, b"".join(pieces))


def _remark(held: HeldAnswer, body: bytes) -> str | None:
    """Where the new answer contradicts itself in a way that confuses clients."""
    response = held.round_trip.response
    assert response
    reading = read(replace(held.round_trip, response=replace(response, content=body, chunks=())))
    if reading.emission is None or reading.finish is None:
        return None
    if reading.finish.label == "tool_calls" and not reading.emission.calls:
        return f"the finish word is {reading.finish.raw!r} and there are no calls"
    if reading.error is not None:
        return f"the answer is an error now: {reading.error.message}"
    return None


def editor(environ: Mapping[str, str]) -> list[str]:
    """The user's editor, as a command: `$VISUAL`, `$EDITOR` or `vi`."""
    return shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "vi")


def edit_in_editor(held: HeldAnswer, terminal: int | None) -> str:
    """The document of the answer after the user edited it. Raises NotEditable when the editor fails.

    The editor uses the file descriptor `terminal` when there is one, else our own standard streams.
    """
    command = editor(os.environ)
    with tempfile.TemporaryDirectory(prefix="turntape-edit-") as folder:
        path = Path(folder) / f"turn-{held.number}.json"
        path.touch(0o600)
        path.write_text(document(held.round_trip), encoding="utf-8")
        files = [] if terminal is None else [(os.POSIX_SPAWN_DUP2, terminal, number) for number in (0, 1, 2)]
        try:
            # Our own process blocks signals; the editor must get them.
            pid = os.posix_spawnp(
                command[0],
                [*command, str(path)],
                os.environ,
                file_actions=files,
                setsigmask=(),
                setsigdef=RESTORED,
            )
        except OSError as exc:
            raise NotEditable(f"the editor {command[0]!r} cannot be started ({exc.strerror}): set EDITOR") from exc
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code:
            raise NotEditable(f"the editor {command[0]!r} ended with exit code {code}")
        return path.read_text(encoding="utf-8")
