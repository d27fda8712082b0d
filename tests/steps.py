"""Counts what Python executes, for tests of how work grows: no clock, and the same count on every machine."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType

_EVENTS = sys.monitoring.events
_COUNTED = (_EVENTS.PY_START, _EVENTS.PY_RESUME, _EVENTS.JUMP)
_TOOL = 4
"""Not one of the numbers that debuggers, coverage and profilers use."""


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Counts the functions that are entered and the loops that go round while the block runs, by function."""
    names: dict[CodeType, str] = {}
    counted = Counter[str]()

    def count(code: CodeType, *_: object) -> None:
        name = names.get(code)
        if name is None:
            name = names[code] = f"{code.co_filename.rsplit('/', 1)[-1]} {code.co_qualname}"
        counted[name] += 1

    sys.monitoring.use_tool_id(_TOOL, "steps")
    try:
        for event in _COUNTED:
            sys.monitoring.register_callback(_TOOL, event, count)
        sys.monitoring.set_events(_TOOL, sum(_COUNTED))
        yield counted
    finally:
        sys.monitoring.set_events(_TOOL, 0)
        sys.monitoring.free_tool_id(_TOOL)
