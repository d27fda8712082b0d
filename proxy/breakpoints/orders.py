"""Orders about a held answer, `pass`, `edit [FILE]`, `error MESSAGE`, `show`, `go`, and what comes of an edit."""

import os
import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.rewrite import NotEditable, document, remade

from ..launch.child_process import RESTORED
from .pending import Decision, Held

type Verb = Literal["pass", "edit", "error", "show", "go"]
VERBS: dict[str, Verb] = {
    "p": "pass",
    "pass": "pass",
    "e": "edit",
    "edit": "edit",
    "x": "error",
    "error": "error",
    "s": "show",
    "show": "show",
    "g": "go",
    "go": "go",
}
SENTENCE = "a person refused this answer at a breakpoint of turntape"


@dataclass(frozen=True, slots=True)
class Order:
    verb: Verb
    rest: str = ""


def understood(line: str) -> Order:
    """An order by its line. Raises ValueError in one sentence."""
    word, _, rest = line.strip().partition(" ")
    verb = VERBS.get(word.lower())
    if verb is None:
        raise ValueError(f"{word!r} is not pass, edit, error, show or go")
    return Order(verb, rest.strip())


def refused(message: str) -> Decision:
    return Decision("refused", message=message or SENTENCE)


def edited(held: Held, text: str) -> tuple[Decision, str | None]:
    """What comes of a document that was edited, and a remark on it. Raises NotEditable."""
    pieces = remade(held.round_trip, text)
    return Decision("edited", pieces), _remark(held, b"".join(pieces))


def _remark(held: Held, body: bytes) -> str | None:
    """Where the new answer contradicts itself in a way that clients stumble over."""
    from dataclasses import replace

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
    """The user's editor, as a command."""
    return shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "vi")


def by_editor(held: Held, text: str | None, terminal: int | None) -> str:
    """What the editor leaves of the answer's document, or of `text`; raises NotEditable when it fails.

    It runs in `terminal` when there is one, else with our own files.
    """
    command = editor(os.environ)
    with tempfile.TemporaryDirectory(prefix="turntape-edit-") as folder:
        path = Path(folder) / f"turn-{held.number}.json"
        path.touch(0o600)
        path.write_text(text if text is not None else document(held.round_trip), encoding="utf-8")
        files = [] if terminal is None else [(os.POSIX_SPAWN_DUP2, terminal, number) for number in (0, 1, 2)]
        try:
            # Signals are held back in us; the editor gets them.
            pid = os.posix_spawnp(
                command[0],
                [*command, str(path)],
                os.environ,
                file_actions=files,
                setsigmask=(),
                setsigdef=RESTORED,
            )
        except OSError as exc:
            raise NotEditable(f"the editor {command[0]!r} cannot be run ({exc.strerror}): set EDITOR") from exc
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code:
            raise NotEditable(f"the editor {command[0]!r} ended with exit code {code}")
        return path.read_text(encoding="utf-8")
