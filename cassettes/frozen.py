"""`@frozen` and `@mutable`: dataclasses with slots that are cheap to define.

The standard library writes and compiles source text for each method of each dataclass; for the 240 classes behind
`turntape show` that was a third of its start. Here only `__init__` is compiled, when the first instance is made, and it
assigns, which makes instances faster too. The other methods are shared. In return it is the type checker alone that
reports an assignment to a field of a frozen one: what callers of the recorder make themselves (`tape/model.py`) stays a
frozen dataclass of the standard library.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
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
        return _made(cls, _hash if eq else None, eq=eq, kw_only=kw_only, slots=slots)

    return make if cls is None else make(cls)


@overload
def mutable[T](cls: type[T], /) -> type[T]: ...
@overload
def mutable[T](*, eq: bool = True, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(field_specifiers=(field,))
def mutable[T](
    cls: type[T] | None = None, /, *, eq: bool = True, kw_only: bool = False
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a dataclass with slots whose fields change; equal by its fields and without a hash, unless `eq` is False."""

    def make(cls: type[T]) -> type[T]:
        return _made(cls, None, eq=eq, kw_only=kw_only, slots=True)

    return make if cls is None else make(cls)


def copied_with[T](one: T, **values: Any) -> T:
    """A copy of an instance of such a class with other values in these fields.

    Faster than `dataclasses.replace`, which looks at each field and calls the constructor. A field that the class does
    not have is an AttributeError where it has slots.
    """
    copy: T = _copier(type(one))(one)
    for name, value in values.items():
        setattr(copy, name, value)
    return copy


@cache
def _copier(cls: Any) -> Callable[[Any], Any]:
    body = [f" copy.{one.name} = one.{one.name}" for one in fields(cls)]
    places: dict[str, Any] = {"make": object.__new__, "cls": cls}
    exec("\n".join(["def copied(one):", " copy = make(cls)", *body, " return copy"]), places)
    return places["copied"]


def _made[T](cls: type[T], hashed: Callable[[Any], int] | None, *, eq: bool, kw_only: bool, slots: bool) -> type[T]:
    own = cls.__dict__
    if own.get("__doc__") is None:
        cls.__doc__ = cls.__name__  # for want of one, the library writes the signature, which takes as long
    if eq and "__eq__" not in own:
        cls.__eq__ = _equal
        if "__hash__" not in own:
            cls.__hash__ = hashed  # pyright: ignore[reportAttributeAccessIssue]
    if "__repr__" not in own:
        cls.__repr__ = _repr
    made = cast(Any, dataclass(cls, slots=slots, eq=False, repr=False, kw_only=kw_only, init=False))
    if "__init__" not in own:
        made.__init__ = _init_when_needed(made)
    made._compared = _getter([one.name for one in fields(made) if one.compare])
    made._hashed = _getter([one.name for one in fields(made) if (one.compare if one.hash is None else one.hash)])
    return made


def _init_when_needed(cls: Any) -> Callable[..., None]:
    """An `__init__` that puts the compiled one in its place when it is first called."""

    def __init__(self: Any, *args: Any, **named: Any) -> None:
        cls.__init__ = compiled = _init(cls)
        compiled(self, *args, **named)

    return __init__


def _init(cls: Any) -> Callable[..., None]:
    """As the standard library's, for an instance that is not frozen."""
    places: dict[str, Any] = {"_missing": MISSING}
    plain: list[str] = []
    by_name: list[str] = []
    body: list[str] = []
    for one in fields(cls):
        value = _parameter(one, by_name if one.kw_only else plain, places)
        if value is not None:
            body.append(f" self.{one.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    parameters = ", ".join(["self", *plain, *(["*", *by_name] if by_name else [])])
    exec("\n".join([f"def __init__({parameters}):", *(body or [" pass"])]), places)
    made: Callable[..., None] = places["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _parameter(one: "Field[Any]", parameters: list[str], places: dict[str, Any]) -> str | None:
    """Add the parameter of a field; returns the expression of its value, None for a field without one."""
    name = one.name
    if one.default_factory is not MISSING:
        places[f"_make_{name}"] = one.default_factory
        if not one.init:
            return f"_make_{name}()"
        parameters.append(f"{name}=_missing")
        return f"_make_{name}() if {name} is _missing else {name}"
    if one.default is not MISSING:
        places[f"_default_{name}"] = one.default
        if not one.init:
            return f"_default_{name}"
        parameters.append(f"{name}=_default_{name}")
        return name
    if not one.init:
        return None
    parameters.append(name)
    return name


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
