"""Orders from a file, for runs without a person: each held answer uses the next line.

The file may be a named pipe: then an answer is held until somebody writes a line. After the last line all answers are
passed.
"""

import sys
import threading
from pathlib import Path

from turntape.cassettes.errors import TurntapeError
from turntape.inspector.wire.rewrite import NotEditable

from . import editing, orders, prompt_text
from .held_answer import PASSED, Decision, HeldAnswer


class ScriptFile:
    """Decides about held answers. Raises TurntapeError when the file does not exist."""

    def __init__(self, path: Path) -> None:
        self.finished = False
        """True when no more answers need to be held."""
        self._path = path
        if not path.exists():
            raise TurntapeError(f"the file {str(path)!r} of --break-answers does not exist")
        self._stream = None if path.is_fifo() else path.open(encoding="utf-8")

    def decide(self, held: HeldAnswer, gone: threading.Event) -> Decision:
        """Carry out the next order. A faulty order refuses the answer, because its meaning is not known."""
        shown = prompt_text.lines(held, colour=False)
        if self._stream is None:
            self._stream = self._path.open(encoding="utf-8")  # waits until a writer opens the pipe
        while line := self._stream.readline():
            if not line.strip() or line.startswith("#"):
                continue
            _say([*shown, f"  {self._path}: {line.strip()}"])
            return self._carry_out(held, line)
        self.finished = True
        _say([*shown, f"  passed, and so are all others: {self._path} has ended"])
        return PASSED

    def _carry_out(self, held: HeldAnswer, line: str) -> Decision:
        try:
            order = orders.parse_order(line)
            match order.verb:
                case "pass":
                    return PASSED
                case "go":
                    self.finished = True
                    return PASSED
                case "error":
                    return orders.refused(order.argument)
                case "show":
                    raise ValueError("`show` is for a person at a terminal")
                case "edit":
                    decision, remark = editing.edited(held, self._text(held, order.argument))
        except (NotEditable, OSError, ValueError) as exc:
            _say([f"  the answer is refused, because {line.strip()!r} cannot be carried out: {exc}"])
            return orders.refused(f"{orders.REFUSED} ({exc})")
        if remark:
            _say([f"  note: {remark}"])
        return decision

    def _text(self, held: HeldAnswer, file: str) -> str:
        return Path(file).read_text(encoding="utf-8") if file else editing.edit_in_editor(held, None)


def _say(lines: list[str]) -> None:
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
