"""The result of one check, and how results are printed."""

from collections.abc import Iterable
from textwrap import wrap
from typing import Literal

from turntape.cassettes.frozen import frozen

type Status = Literal["ok", "note", "problem", "unknown"]
"""`note`: good to know, but not a problem; `unknown`: it could not be checked, and the text says why."""


@frozen
class CheckResult:
    id: str
    status: Status
    what: str
    """What was seen, in one or two sentences."""
    add: str | None = None
    """The line to add, or what to change; None when there is nothing to do."""

    def as_json(self) -> dict[str, object]:
        return {"id": self.id, "status": self.status, "what": self.what, "add": self.add}


_WORDS: dict[Status, str] = {"ok": "ok", "note": "note", "problem": "PROBLEM", "unknown": "unknown"}
_COLOURS: dict[Status, str] = {"ok": "32", "note": "36", "problem": "31", "unknown": "33"}


def lines(checks: Iterable[CheckResult], colour: bool, width: int = 100) -> list[str]:
    """The results as text, one paragraph each. What is to be copied is not broken for a narrow terminal."""
    shown: list[str] = []
    for check in checks:
        word = f"{_WORDS[check.status]:8}"
        if colour:
            word = f"\x1b[{_COLOURS[check.status]}m{word}\x1b[0m"
        first, *rest = _wrapped(check.what, max(31, min(99, width) - 9))
        shown.append(f"{word} {first}")
        shown += [f"{'':8} {line}" for line in rest]
        if check.add:
            first, *rest = [line for given in check.add.splitlines() for line in _wrapped(given, 85)]
            shown.append(f"{'':8} try: {first}")
            shown += [f"{'':8}      {line}" for line in rest]
    return shown


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, break_long_words=False, break_on_hyphens=False)
