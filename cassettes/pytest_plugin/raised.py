"""What a client, the code or the test raises after a request that got no answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from ..counted import several
from ..excerpts import cut
from ..regex import regex
from ..replay.answer import MISS_STATUS
from ..replay.miss import KIND, Miss
from ..user_frames import folded, is_users
from .advice import from_here

_STATUS = regex(rf"\b{MISS_STATUS}\b")
"""What a client says that only shows the status of our answer."""
_LONGEST = 120
"""At most this many characters of a line are shown."""
_LINES = 8
"""At most this many lines of what pytest says of an assertion are shown after the first."""


def is_a_failure(error: BaseException) -> bool:
    """True for what fails a test; False for what skips it, expects it to fail, or ends the run."""
    return isinstance(error, Exception | pytest.fail.Exception) and not isinstance(error, pytest.xfail.Exception)


def says(error: BaseException, miss: Miss) -> bool:
    """True when an error shows what this request got in place of an answer, in any spelling of its quotes."""
    return any(KIND in text and f" {miss.method} {miss.path}" in text for text in texts(error))


def texts(error: BaseException | None) -> Iterator[str]:
    """The texts of an error and of what it came from."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield str(one)
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", one).exceptions


def what_followed(error: BaseException) -> list[str]:
    """What happened after a request got no answer: an error of a client or the code, or what the test asserted."""
    if isinstance(error, AssertionError | pytest.fail.Exception):
        return _asserted(error)
    if _STATUS.search(_first_line(error)) is not None:
        return []
    return [f"{_who(error)} then raised {type(error).__name__}: {_first_line(error)}"]


def _asserted(error: BaseException) -> list[str]:
    """What a test asserted, with the words of pytest, at the last line of the user."""
    trace = folded(error.__traceback__)
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    at = "" if trace is None else f" at {from_here(Path(trace.tb_frame.f_code.co_filename))}, line {trace.tb_lineno}"
    first, *more = str(error).splitlines() or [type(error).__name__]
    kept = [cut(line, _LONGEST) for line in more[:_LINES]]
    left = len(more) - len(kept)
    ending = [f"  and {several(left, 'more line')}"] if left > 0 else []
    return [f"the test then failed{at}: {cut(first, _LONGEST)}", *(f"  {line}" for line in kept), *ending]


def _who(error: BaseException) -> str:
    """`the client`, or the line of the user that raised the error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not is_users(file := trace.tb_frame.f_code.co_filename):
        return "the client"
    return f"{from_here(Path(file))}, line {trace.tb_lineno},"


def _first_line(error: BaseException) -> str:
    text = str(error).partition("\n")[0]
    return cut(text, _LONGEST)
