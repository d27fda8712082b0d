"""`@frozen`: a frozen dataclass with slots that is cheap to define.

The standard library writes and compiles source text for each method of each dataclass; for the 150 classes behind
`turntape show` that was a third of its start. Here only `__init__` is compiled, and it assigns, which makes instances
faster too. The other methods are shared. In return it is the type checker alone that reports an assignment to a field:
what callers of the recorder make themselves (`tape/model.py`) stays a frozen dataclass of the standard library.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, cast, dataclass_transform, overload


@overload
def frozen[T](cls: type[T], /) -> type[T]: ...
@overload
def frozen[T](*, eq: bool = True, kw_only: bool = False, slots: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen[T](
    cls: type[T] | None = None, /, *, eq: bool = True, kw_only: bool = False, slots: bool = True
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a dataclass whose fields are not assigned again; equal and hashed by its fields, unless `eq` is False.

    A class with a cached property needs `slots=False`.
    """

    def make(cls: type[T]) -> type[T]:
        own = cls.__dict__
        if own.get("__doc__") is None:
            cls.__doc__ = cls.__name__  # for want of one, the library writes the signature, which takes as long
        if eq and "__eq__" not in own:
            cls.__eq__ = _equal
            if "__hash__" not in own:
                cls.__hash__ = _hash
        if "__repr__" not in own:
            cls.__repr__ = _repr
        made = cast(Any, dataclass(cls, slots=slots, eq=False, repr=False, kw_only=kw_only))
        made._compared = _getter([one.name for one in fields(made) if one.compare])
        made._hashed = _getter([one.name for one in fields(made) if (one.compare if one.hash is None else one.hash)])
        return made

    return make if cls is None else make(cls)


def _getter(names: list[str]) -> "staticmethod[[object], object]":
    return staticmethod(attrgetter(*names) if names else _nothing)


def _nothing(_: object) -> tuple[()]:
    return ()


def _equal(self: Any, other: Any) -> bool:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._hashed(self))


def _repr(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"
