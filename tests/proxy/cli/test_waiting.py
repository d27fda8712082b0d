"""The line of progress: after its time, on a terminal only, and gone at the end."""

import io
import sys
import threading
from itertools import chain, repeat

import pytest

from turntape.proxy.cli.waiting import Waiting


class Terminal(io.StringIO):
    """A terminal whose `line_there` is set once a line is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.line_there = threading.Event()

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        self.line_there.set()


@pytest.mark.parametrize("terminal", [True, False])
def test_the_line_is_shown_on_a_terminal_and_removed(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    out = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    seconds = chain([0], repeat(2))
    waiting = Waiting("asking", clock=lambda: next(seconds), after=0.001)
    waiting.fetched(1_500_000)
    with waiting:
        if isinstance(out, Terminal):
            assert out.line_there.wait(60)

    line = "\r\x1b[Kasking · 2 s · 1.5 MB fetched"
    assert out.getvalue().replace(line, "") == ("\r\x1b[K" if terminal else "")
    assert (line in out.getvalue()) == terminal


def test_what_is_over_soon_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    with Waiting("asking", after=60) as waiting:
        waiting.say("reading")
        assert waiting.line() == "reading · 0 s"

    assert out.getvalue() == ""
