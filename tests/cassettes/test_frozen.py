"""`@frozen` and `@mutable`: they behave as dataclasses of the standard library."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import pytest

from turntape.cassettes.frozen import copied_with, frozen, mutable


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


@mutable
class Changing:
    name: str
    hidden: int = field(default=7, init=False)
    made: list[int] = field(default_factory=list[int])
    made_alone: list[int] = field(default_factory=list[int], init=False)
    unset: int = field(init=False)
    last: int | None = field(default=None, kw_only=True)


@dataclass(slots=True)
class Changes:
    name: str
    hidden: int = field(default=7, init=False)
    made: list[int] = field(default_factory=list[int])
    made_alone: list[int] = field(default_factory=list[int], init=False)
    unset: int = field(init=False)
    last: int | None = field(default=None, kw_only=True)


@mutable(eq=False)
class Node:
    size: int


@mutable(kw_only=True)
class Doubled:
    size: int
    double: int = 0

    def __post_init__(self) -> None:
        self.double = 2 * self.size


@mutable
class Longer(Changing):
    more: int = 3


@pytest.mark.parametrize("made", [Changing, Changes])
def test_fields_that_change_are_set_as_in_the_standard_library(made: Callable[..., Changing | Changes]) -> None:
    one, other = made("a", [1], last=2), made("a", [1], last=2)
    one.unset = other.unset = 4

    assert (one.hidden, one.made, one.made_alone, one.last) == (7, [1], [], 2)
    assert one == other and one == copy.deepcopy(one)
    other.made_alone.append(3)
    assert one != other and made("b").made is not made("b").made
    assert repr(one) == f"{type(one).__name__}(name='a', hidden=7, made=[1], made_alone=[], unset=4, last=2)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    for wrong in ((), ("a", [1], 2), ("a", [1], 2, 3)):
        with pytest.raises(TypeError, match=r"__init__\(\)"):
            made(*wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'hidden'"):
        made("a", hidden=1)
    with pytest.raises(AttributeError):
        one.other = 1  # type: ignore[union-attr]


def test_a_mutable_class_without_equality_has_its_identity_and_others_their_own_ways() -> None:
    assert Node(1) != Node(1) and len({Node(1), Node(1)}) == 2
    assert Doubled(size=4).double == 8
    assert Longer("a", more=5).more == 5 and Longer("a").made == []


def test_a_changed_copy_is_as_one_of_the_standard_library() -> None:
    one = Ours("a", 1, ("x",), "note")

    other = copied_with(one, size=2, tags=())

    assert other == replace(one, size=2, tags=()) and other.note == "note"
    assert one == Ours("a", 1, ("x",))
    with pytest.raises(AttributeError):
        copied_with(one, other=1)
