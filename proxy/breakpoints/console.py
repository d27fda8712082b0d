"""A person at the terminal decides about each held answer.

The command uses the same terminal, and waits for this answer. Its terminal settings are restored afterwards.
Needs a POSIX terminal: `/dev/tty` is missing on Windows.
"""

import os
import select
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from turntape.inspector.wire.rewrite import NotEditable, document

from . import editing, orders, prompt_text
from .held_answer import PASSED, Decision, HeldAnswer

_PROMPT = "  pass, edit, error MESSAGE, show, or go on without breakpoints? [p/e/x/s/g] "
_LOOK = 0.2
"""Seconds between two checks whether the client is still connected."""


class Console:
    """Asks for each held answer what to do with it."""

    def __init__(self, terminal: int, *, colour: bool) -> None:
        self.finished = False
        """True when the person wants no more breakpoints."""
        self._terminal = terminal
        self._colour = colour

    @classmethod
    def open(cls, *, colour: bool) -> Self:
        """Use the controlling terminal. Raises OSError when there is none."""
        return cls(os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY), colour=colour)

    def decide(self, held: HeldAnswer, gone: threading.Event) -> Decision:
        """What the person decides; PASSED when the client goes away, which sets `gone`."""
        with self._line_mode():
            self._say("\n" + "\n".join(prompt_text.lines(held, self._colour)))
            while True:
                decision = self._once(held, gone)
                if decision is not None:
                    return decision

    def _once(self, held: HeldAnswer, gone: threading.Event) -> Decision | None:
        self._say(_PROMPT, end="")
        line = self._line(gone)
        if line is None:
            self._say("\n  the client disconnected" if gone.is_set() else "\n  passed")
            return PASSED
        if not line.strip():
            return None
        try:
            order = orders.parse_order(line)
        except ValueError as exc:
            self._say(f"  {exc}")
            return None
        match order.verb:
            case "pass":
                return PASSED
            case "go":
                self.finished = True
                return PASSED
            case "error":
                return orders.refused(order.argument)
            case "show":
                self._say(prompt_text.whole(held), end="")
                return None
            case "edit":
                return self._edit(held, order.argument)

    def _edit(self, held: HeldAnswer, file: str) -> Decision | None:
        try:
            before = document(held.round_trip)
            if file:
                text = Path(file).read_text(encoding="utf-8")
            else:
                text = editing.edit_in_editor(held, self._terminal)
            if text == before:
                self._say("  nothing was changed")
                return None
            decision, remark = editing.edited(held, text)
        except (NotEditable, OSError) as exc:
            self._say(f"  {exc}")
            return None
        if remark:
            self._say(f"  note: {remark}")
        return decision

    def _say(self, text: str, end: str = "\n") -> None:
        data = (text + end).encode("utf-8", "replace")
        while data:
            data = data[os.write(self._terminal, data) :]

    def _line(self, gone: threading.Event) -> str | None:
        """The line that was typed; None at the end of input (Ctrl-D), and when the client has gone."""
        line = b""
        while not gone.is_set():
            if select.select([self._terminal], [], [], _LOOK)[0]:
                data = os.read(self._terminal, 4096)
                if not data:
                    return None
                line += data
                if data.endswith(b"\n"):
                    return line.decode("utf-8", "replace")
        return None

    @contextmanager
    def _line_mode(self) -> Generator[None]:
        """The terminal as in a shell: line by line, with echo."""
        import termios

        try:
            before = termios.tcgetattr(self._terminal)
        except termios.error:
            yield
            return
        settings = [*before]
        settings[0] |= termios.ICRNL
        settings[1] |= termios.OPOST | termios.ONLCR
        settings[3] |= termios.ICANON | termios.ECHO | termios.ISIG
        termios.tcsetattr(self._terminal, termios.TCSADRAIN, settings)
        try:
            yield
        finally:
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, before)
