"""`@frozen`: it behaves as a frozen dataclass of the standard library."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import pytest

from turntape.cassettes.frozen import frozen


@frozen
class Ours:
    name: str
    size: int = 0
    tags: tuple[str, ...] = field(default_factory=tuple[str, ...])
    note: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Theirs:
    name: str
    size: int = 0
    tags: tuple[str, ...] = field(default_factory=tuple[str, ...])
    note: str = field(default="", compare=False, repr=False)


@frozen
class More(Ours):
    extra: int = 1


@frozen(kw_only=True, slots=False)
class Cached:
    size: int

    @cached_property
    def double(self) -> int:
        return 2 * self.size


@frozen(eq=False)
class Same:
    size: int


@frozen
class Empty:
    pass


@frozen
class Own:
    size: int

    def __eq__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        return "own"


@pytest.mark.parametrize("made", [Ours, Theirs])
def test_both_are_equal_hashed_and_shown_by_their_fields(made: Callable[..., Ours | Theirs]) -> None:
    one = made("a", 2, ("x",), note="n")

    assert one == made("a", 2, ("x",), note="other")
    assert one != made("a", 3, ("x",))
    assert hash(one) == hash(made("a", 2, ("x",)))
    assert repr(one) == f"{type(one).__name__}(name='a', size=2, tags=('x',))"
    assert one != ("a", 2, ("x",))
    assert [f.name for f in fields(one)] == ["name", "size", "tags", "note"]
    assert replace(one, size=5) == made("a", 5, ("x",))
    assert pickle.loads(pickle.dumps(one)) == one
    assert not hasattr(one, "__dict__")


def test_a_class_that_has_more_fields_compares_them_too() -> None:
    assert More("a", extra=2) != More("a", extra=3)
    assert More("a") != Ours("a")
    assert hash(More("a", extra=2)) != hash(More("a", extra=3))


def test_what_a_class_defines_itself_stays() -> None:
    assert Own(1) == Own(2)
    assert repr(Own(1)) == "own"
    assert Same(1) != Same(1)
    assert Empty() == Empty()
    assert Cached(size=4).double == 8
