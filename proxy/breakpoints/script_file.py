"""Orders from a file, one a line, for runs that nobody sits at: a held answer takes the next one.

A named pipe serves too: the answer is held until somebody writes a line. At the end of the file the rest is passed.
"""

import sys
import threading
from pathlib import Path

from turntape.cassettes.errors import TurntapeError
from turntape.inspector.wire.rewrite import NotEditable

from . import orders, prompt_text
from .pending import PASSED, Decision, Held


class Script:
    def __init__(self, path: Path) -> None:
        self.over = False
        self._path = path
        if not path.exists():
            raise TurntapeError(f"there is no file {str(path)!r} to take the answers to breakpoints from")
        self._stream = None if path.is_fifo() else path.open(encoding="utf-8")

    def ask(self, held: Held, gone: threading.Event) -> Decision:
        """The next order of the file, carried out. A faulty one refuses the answer: what it meant is not known."""
        said = prompt_text.lines(held, colour=False)
        if self._stream is None:
            self._stream = self._path.open(encoding="utf-8")  # waits for a writer
        while line := self._stream.readline():
            if not line.strip() or line.startswith("#"):
                continue
            _say([*said, f"  {self._path}: {line.strip()}"])
            return self._carried_out(held, line)
        self.over = True
        _say([*said, f"  passed, and so is the rest: {self._path} has ended"])
        return PASSED

    def _carried_out(self, held: Held, line: str) -> Decision:
        try:
            order = orders.understood(line)
            match order.verb:
                case "pass":
                    return PASSED
                case "go":
                    self.over = True
                    return PASSED
                case "error":
                    return orders.refused(order.rest)
                case "show":
                    raise ValueError("`show` is for a person at a terminal")
                case "edit":
                    text = Path(order.rest).read_text(encoding="utf-8") if order.rest else None
                    decision, remark = orders.edited(held, text or orders.by_editor(held, None, None))
        except (NotEditable, OSError, ValueError) as exc:
            _say([f"  the answer is refused, since {line.strip()!r} cannot be carried out: {exc}"])
            return orders.refused(f"{orders.SENTENCE} ({exc})")
        if remark:
            _say([f"  note: {remark}"])
        return decision


def _say(lines: list[str]) -> None:
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
