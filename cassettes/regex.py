"""Regular expressions that are compiled when they are first used.

A command imports some hundred of them and uses a few. To compile them all takes about as long as to read a small tape.
"""

import re
from functools import cached_property
from typing import cast


class _Regex[S: (str, bytes)]:
    """Has the attributes of the compiled expression, and looks for each of them once."""

    def __init__(self, source: S, flags: int) -> None:
        self._source = source
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[S]:
        return re.compile(self._source, self._flags)

    def __getattr__(self, name: str) -> object:
        found: object = getattr(self._compiled, name)
        setattr(self, name, found)
        return found


def regex[S: (str, bytes)](source: S, flags: int = 0) -> re.Pattern[S]:
    """`re.compile(source, flags)`, done when the expression is first used. For those that a module or class holds."""
    return cast(re.Pattern[S], _Regex(source, flags))
