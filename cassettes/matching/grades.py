"""How similar a request must be to a recorded request to get its answer, and how similar it was.

Matching()                                              the default: only an equal request is answered
Matching("ordered")                                     match by turn order; edited prompts are reported
Matching("sequence")                                    the n-th request to a path gets the n-th answer
Matching(rules={"system": "warn", "tools": "fail", "temperature": "ignore"})
Matching(ignore=("/metadata/run", "/messages/*/name"), ignore_text=(r"build-[0-9]+",))
"""

import re
from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Literal

from ..counted import several
from ..frozen import frozen
from ..settings import Profile, Rule
from ..tape.turn_names import TurnName
from .bindings import Mapped
from .json_diff import Difference
from .pointers import segments
from .profiles import DEFAULT_RULES, PROFILES, RULES
from .request_fields import PROMPT, part_of
from .volatile_text import patterns

_SHOWN = 10
"""At most this many differences are in the text of a match."""

type Grade = Literal["exact", "same turn, small change", "same turn, other prompt", "miss"]
"""`exact`: equal except for ignored fields, and for values that replace recorded ones. `small change`: settings
differ, or only white space in the prompt does. `other prompt`: what the model reads differs (system, tools, messages,
tool results)."""


@frozen
class Matching:
    """What may differ between a request and the recording that answers it. Raises ValueError for an invalid value.

    A rule is for a field (`system`, `tools`, `messages`, `tool_results`, or a setting by its name, such as
    `temperature`) or for a JSON pointer, in which `*` means any key or place; a pointer takes precedence over a field.
    """

    profile: Profile = "strict"
    rules: Mapping[str, Rule] = field(default_factory=dict[str, Rule], hash=False)
    ignore: tuple[str, ...] = ()
    """JSON pointers to ignore in addition to those of the API."""
    ignore_text: tuple[str, ...] = ()
    """Regular expressions, or names as in `volatile_text.NAMED`. Text that they match in a string or in the path is
    ignored, except for a group `lead`."""
    map_values: bool = True
    """Whether UUIDs, folders and file names that are new in each run may replace recorded ones."""
    repeats: bool = False
    """Whether a request whose recordings were all played gets the first of them again."""

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise ValueError(f"{self.profile!r} is not a matching profile; write one of {', '.join(PROFILES)}")
        for name, rule in self.rules.items():
            if rule not in RULES:
                raise ValueError(f"the rule for {name!r} is {rule!r}; write one of {', '.join(RULES)}")
            if near := _misspelled(name):
                raise ValueError(f"there is no field {name!r} to have a rule; did you mean {near!r}?")
        for pointer in self.ignore:
            segments(pointer)
        object.__setattr__(self, "ignore_text", patterns(self.ignore_text))
        for pattern in self.ignore_text:
            try:
                re.compile(pattern)
            except re.error as exc:
                raise ValueError(f"{pattern!r} in ignore_text is not a regular expression: {exc.msg}") from exc
        object.__setattr__(self, "rules", MappingProxyType(dict(self.rules)))
        object.__setattr__(self, "ignore", tuple(self.ignore))

    @property
    def default(self) -> Rule:
        """The rule for a field without a rule."""
        return DEFAULT_RULES[self.profile]

    @property
    def is_tolerant(self) -> bool:
        """True when a request that differs may still be answered."""
        return self.default == "warn" or "warn" in self.rules.values()


def _misspelled(name: str) -> str | None:
    """The part of the prompt that a name for a rule nearly is: `sytem`. Settings have the names that APIs give them."""
    if name.startswith("/") or part_of(f"/{name}") != name or name in PROMPT:
        return None
    from difflib import get_close_matches  # imported here because it is for an unusual name alone

    return next(iter(get_close_matches(name, PROMPT, 1, 0.85)), None)


@frozen
class Match:
    """How a recording was found for a request. Every played answer has one."""

    grade: Grade
    turn: TurnName
    differences: tuple[Difference, ...] = ()
    """Where the request differs although it was answered."""
    ignored: tuple[Difference, ...] = ()
    """Where it differs in ignored fields; at most ten."""
    fault: str | None = None
    """The fault that replaced or changed the recorded answer."""
    mapped: tuple[Mapped, ...] = ()
    """The values of this run that this request brought in, in place of recorded ones."""

    def __str__(self) -> str:
        shown = [*map(str, self.differences[:_SHOWN])]
        if more := len(self.differences) - len(shown):
            shown.append(f"and {several(more, 'more difference')}")
        where = f": {'; '.join(shown)}" if shown else ""
        fault = f" [{self.fault}]" if self.fault else ""
        return f"{self.turn}: {self.grade}{where}{fault}"


def grade_of(differences: tuple[Difference, ...]) -> Grade:
    """The grade for these differences between two requests of one turn."""
    if not differences:
        return "exact"
    for difference in differences:
        if part_of(difference.pointer) in PROMPT and not _only_space(difference):
            return "same turn, other prompt"
    return "same turn, small change"


def _only_space(difference: Difference) -> bool:
    before, after = difference.recorded, difference.given
    return isinstance(before, str) and isinstance(after, str) and before.split() == after.split()
