"""What to do with a held answer, as a line of text: `pass`, `edit [FILE]`, `error MESSAGE`, `show` or `go`."""

from typing import Literal

from turntape.cassettes.frozen import frozen

from .held_answer import Decision

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
REFUSED = "a person refused this answer at a breakpoint of turntape"
"""The message of a refused answer when none was given."""


@frozen
class Order:
    verb: Verb
    argument: str = ""
    """A file for `edit`, a message for `error`."""


def parse_order(line: str) -> Order:
    """Read a line. Raises ValueError, with one sentence, when it is not an order."""
    word, _, argument = line.strip().partition(" ")
    verb = VERBS.get(word.lower())
    if verb is None:
        raise ValueError(f"{word!r} is not pass, edit, error, show or go")
    return Order(verb, argument.strip())


def refused(message: str) -> Decision:
    """The decision for `error MESSAGE`."""
    return Decision("refused", message=message or REFUSED)
