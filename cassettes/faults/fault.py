"""Faults on replay: what the API could have done at a turn instead of what was recorded.

    Player("run.cassette.jsonl", faults=[Fault(2, "429", retry_after=1), Fault(3, "cut", after=4)])

or as a file next to the cassette, `run.cassette.faults.toml`, which is used automatically:

    [[fault]]
    turn = 2
    kind = "429"
    retry_after = 1
"""

import os
import tomllib
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from ..errors import CassetteError
from ..frozen import frozen
from ..tape.named_file import text_of
from ..whole_number import whole_number


@frozen
class Kind:
    """What a kind of fault does."""

    summary: str
    takes: bool
    """True when the fault is the answer of its turn; False when a retry of the request gets the recorded one."""
    options: tuple[str, ...] = ()
    """The additional fields of `Fault` that this kind uses, in addition to `times`."""


KINDS = MappingProxyType(
    {
        "429": Kind("the rate limit was reached", False, ("retry_after",)),
        "500": Kind("the API failed", False, ("retry_after",)),
        "503": Kind("the API is not available", False, ("retry_after",)),
        "529": Kind("the API is overloaded", False, ("retry_after",)),
        "timeout": Kind("no answer arrives before the client's timeout", False),
        "refused": Kind("the connection is refused", False),
        "slow": Kind("the first byte comes late", True, ("seconds",)),
        "cut": Kind("the connection closes after an event of the stream", False, ("after",)),
        "error_event": Kind("the stream ends with an error event", False, ("after",)),
        "malformed": Kind("an event of the stream is not JSON", False, ("after",)),
        "truncated_arguments": Kind("the arguments of the last tool call break off", True, ("finish",)),
        "finish": Kind("the answer is labelled with another finish", True, ("finish",)),
        "empty": Kind("the answer is empty and ends normally", True),
    }
)


@frozen
class Fault:
    """One fault at one turn. Raises ValueError for invalid values."""

    turn: int | str
    """The turn's number; `#5` for round trip 5; `*` for every turn."""
    kind: str
    thread: str | None = None
    """The thread whose turn it is; None for the turn of that number in any thread."""
    times: int = 1
    """How many requests for the turn fail before it is answered as recorded."""
    retry_after: float | None = None
    """Seconds that the answer asks to wait (429, 500, 503, 529)."""
    seconds: float = 2.0
    """How late the first byte is (slow)."""
    after: int = 1
    """How many events come as recorded before the fault (cut, error_event, malformed)."""
    finish: str | None = None
    """The API's own word for the finish, such as `length` (finish, truncated_arguments)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", str(self.kind))
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is not a kind of fault; write one of {', '.join(KINDS)}")
        if not _addresses(self.turn):
            raise ValueError(f"the fault's turn is {self.turn!r}; write a turn's number from 1, '#5', or '*'")
        if self.times < 1 or self.after < 0 or self.seconds < 0 or (self.retry_after or 0) < 0:
            raise ValueError(
                f"the fault {self.kind!r} at turn {self.turn} has a number that is too small; "
                "`times` must be 1 or more, the others 0 or more"
            )
        if self.kind == "finish" and not self.finish:
            raise ValueError(f"the fault 'finish' at turn {self.turn} needs `finish`, the API's word, such as 'length'")

    def __str__(self) -> str:
        turn = str(self.turn)
        where = "every turn" if turn == "*" else turn if turn.startswith("#") else f"turn {turn}"
        thread = f" of {self.thread}" if self.thread else ""
        options = {"after": f" after {self.after}", "finish": f" {self.finish}", "seconds": f" {self.seconds:g} s"}
        said = "".join(options[name] for name in KINDS[self.kind].options if name in options and getattr(self, name))
        return f"{self.kind}{said} at {where}{thread}"


NO_FAULTS = "none"
"""Used in place of a file of faults: then the file next to the cassette is ignored too."""

type Faults = "Iterable[Fault] | Fault | str | os.PathLike[str]"
"""Faults as values, or a TOML file of them."""


def _addresses(turn: object) -> bool:
    if isinstance(turn, str):
        return turn == "*" or (turn.startswith("#") and whole_number(turn[1:]) is not None)
    return isinstance(turn, int) and turn >= 1


_TYPES: dict[str, tuple[type, ...]] = {
    "turn": (int, str),
    "kind": (str, int),
    "thread": (str,),
    "times": (int,),
    "retry_after": (int, float),
    "seconds": (int, float),
    "after": (int,),
    "finish": (str,),
}


def read_faults(path: str | os.PathLike[str]) -> tuple[Fault, ...]:
    """The faults of a TOML file, one `[[fault]]` table each. Raises CassetteError for any other content."""
    path = Path(path)
    try:
        document = tomllib.loads(text_of(path).removeprefix("\ufeff"))
    except OSError as exc:
        raise CassetteError(f"cannot read the faults in {str(path)!r}: {exc.strerror}; check the name") from exc
    except (UnicodeDecodeError, ValueError) as exc:  # of numbers too, beside TOMLDecodeError
        raise CassetteError(f"the faults in {str(path)!r} are not valid TOML: {exc}; correct the file") from exc
    except RecursionError as exc:
        raise CassetteError(f"the faults in {str(path)!r} are nested too deeply; correct the file") from exc
    tables = document.get("fault", [])
    unknown = sorted(set(document) - {"fault"})
    if unknown or not isinstance(tables, list) or not all(isinstance(t, dict) for t in cast(list[object], tables)):
        raise CassetteError(
            f"{str(path)!r} holds {', '.join(unknown) or '`fault` as no list'}; write a [[fault]] table for each fault"
        )
    return tuple(_fault(cast(dict[str, object], table), path) for table in cast(list[object], tables))


def _fault(table: dict[str, object], path: Path) -> Fault:
    names = [field.name for field in fields(Fault)]
    for name, value in table.items():
        if name not in _TYPES:
            raise CassetteError(f"a fault in {str(path)!r} has {name!r}; it may have {', '.join(names)}")
        if not isinstance(value, _TYPES[name]) or isinstance(value, bool):
            raise CassetteError(f"a fault in {str(path)!r} has {name} = {value!r}; write {_TYPES[name][0].__name__}")
    if "turn" not in table or "kind" not in table:
        raise CassetteError(f"a fault in {str(path)!r} has no `turn` or no `kind`; write both")
    try:
        return Fault(**cast(dict[str, Any], table))
    except ValueError as exc:
        raise CassetteError(f"in {str(path)!r}: {exc}") from exc


def beside(cassette: str | os.PathLike[str]) -> Path:
    """The path of the faults of a cassette: `run.cassette.faults.toml` for `run.cassette.jsonl`."""
    path = Path(cassette)
    name = path.name.removesuffix(".zst").removesuffix(".jsonl")
    return path.with_name(f"{name}.faults.toml")


def overlay_of(cassette: str | os.PathLike[str], said: str | os.PathLike[str] | None) -> Path | None:
    """The file of faults for a cassette: the given one, or else the one next to the cassette."""
    if said is not None:
        return None if str(said) == NO_FAULTS else Path(said)
    file = beside(cassette)
    return file if file.is_file() else None


def faults_of(given: Faults) -> tuple[Fault, ...]:
    """Faults as values, from values or a file."""
    if isinstance(given, Fault):
        return (given,)
    return read_faults(given) if isinstance(given, str | os.PathLike) else tuple(given)
