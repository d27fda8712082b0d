"""The line of progress: after its time, on a terminal only, and gone at the end."""

import io
import sys
from itertools import count

import pytest

from turntape.proxy.cli.waiting import Waiting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_the_line_is_shown_on_a_terminal_and_removed(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    out = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    seconds = count(0, 2)
    with Waiting("asking", clock=lambda: next(seconds), after=0.001) as waiting:
        waiting.fetched(1_500_000)
        for _ in range(5_000_000):
            if out.getvalue() or not terminal:
                break

    assert out.getvalue() == ("\r\x1b[Kasking · 2 s · 1.5 MB fetched\r\x1b[K" if terminal else "")


def test_what_is_over_soon_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    with Waiting("asking", after=60) as waiting:
        waiting.say("reading")
        assert waiting.line() == "reading · 0 s"

    assert out.getvalue() == ""
