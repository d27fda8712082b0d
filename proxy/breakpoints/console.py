"""A person at the terminal, asked about each answer that is held.

The command has the terminal too, and waits for this very answer: what it had set the terminal to is put back.
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

from . import orders, prompt_text
from .pending import PASSED, Decision, Held

_PROMPT = "  pass, edit, error MESSAGE, show, or go on without breakpoints? [p/e/x/s/g] "
_LOOK = 0.2


class Console:
    def __init__(self, terminal: int, *, colour: bool) -> None:
        self.over = False
        """True once the person wants no more breakpoints."""
        self._terminal = terminal
        self._colour = colour

    @classmethod
    def open(cls, *, colour: bool) -> Self:
        """At the terminal that controls us. Raises OSError when there is none."""
        return cls(os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY), colour=colour)

    def ask(self, held: Held, gone: threading.Event) -> Decision:
        """What the person decides; PASSED when `gone` is set meanwhile, for then nobody waits any more."""
        with self._plain():
            self._say("\n" + "\n".join(prompt_text.lines(held, self._colour)))
            while True:
                decision = self._once(held, gone)
                if decision is not None:
                    return decision

    def _once(self, held: Held, gone: threading.Event) -> Decision | None:
        self._say(_PROMPT, end="")
        line = self._line(gone)
        if line is None:
            self._say("\n  the client has gone" if gone.is_set() else "\n  passed")
            return PASSED
        if not line.strip():
            return None
        try:
            order = orders.understood(line)
        except ValueError as exc:
            self._say(f"  {exc}")
            return None
        match order.verb:
            case "pass":
                return PASSED
            case "go":
                self.over = True
                return PASSED
            case "error":
                return orders.refused(order.rest)
            case "show":
                self._say(prompt_text.whole(held), end="")
                return None
            case "edit":
                return self._edit(held, order.rest)

    def _edit(self, held: Held, file: str) -> Decision | None:
        try:
            before = document(held.round_trip)
            if file:
                text = Path(file).read_text(encoding="utf-8")
            else:
                text = orders.by_editor(held, None, self._terminal)
            if text == before:
                self._say("  nothing was changed")
                return None
            decision, remark = orders.edited(held, text)
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
        """A line that was typed; None at its end (Ctrl-D) and once the client has gone."""
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
    def _plain(self) -> Generator[None]:
        """The terminal as a shell has it: lines, echo, and newlines."""
        import termios

        try:
            before = termios.tcgetattr(self._terminal)
        except termios.error:
            yield
            return
        plain = [*before]
        plain[0] |= termios.ICRNL
        plain[1] |= termios.OPOST | termios.ONLCR
        plain[3] |= termios.ICANON | termios.ECHO | termios.ISIG
        termios.tcsetattr(self._terminal, termios.TCSADRAIN, plain)
        try:
            yield
        finally:
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, before)
