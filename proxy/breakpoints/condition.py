"""When to hold an answer: `tool=send_email`, `finding=model-*`, `turn=3`. Imports nothing heavy."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Literal

from turntape.cassettes.frozen import frozen
from turntape.cassettes.whole_number import whole_number

type Kind = Literal["tool", "finding", "turn"]
KINDS: tuple[Kind, ...] = ("tool", "finding", "turn")


@frozen
class Condition:
    kind: Kind
    value: str
    """The name of a tool or the id of a finding, or a pattern; the number of a turn, or `*` for each turn."""

    def __str__(self) -> str:
        return f"{self.kind}={self.value}"

    def first(self, names: Iterable[str]) -> str | None:
        """The first of `names` that matches the value."""
        return next((name for name in names if fnmatchcase(name, self.value)), None)


def parse(text: str) -> Condition:
    """Read a value of `--break-on`. Raises ValueError, with one sentence, when it is not a condition."""
    kind, equals, value = text.partition("=")
    if kind not in KINDS or not equals or not value:
        raise ValueError(f"{text!r} is not tool=NAME, finding=ID or turn=N")
    if kind == "turn" and value != "*" and not whole_number(value):
        raise ValueError(f"{text!r} is not turn=N with a number from 1, or turn=*")
    return Condition(kind, value)
