"""The operators make the mistakes that they are for, and leave alone what no test can see."""

import pytest

from mutants.operators import mutations

MADE = {
    "a = b < c": {"a = (b <= c)"},
    "a = b and not c": {"a = (b or not c)", "a = (not c)", "a = b", "a = b and c"},
    "a = b + c": {"a = (b - c)"},
    "a += b": {"pass", "a -= b"},
    "a = 1": {"a = 2"},
    "a = True": {"a = False"},
    "a = 'name'": {"a = 'XXname'"},
    "a = b'name'": {"a = b'XXname'"},
    "a = [b, c]": {"a = [ c]", "a = [b, ]"},
    "a = {b: c}": {"a = {}"},
    "a = frozenset([b])": {"a = frozenset([])"},
    "a(b, c=d)": {"pass", "a(b)"},
    "a = min(b)": {"a = max(b)"},
    "a.b = c": {"pass"},
    "raise a": {"pass"},
    "def a(b=1):\n    return b": {"def a(b=2):\n    return b", "def a(b=1):\n    return None"},
    "if a:\n    b": {"if not a:\n    b"},
    "for a in b:\n    continue": {"for a in b:\n    break"},
    "a = b if c else d": {"a = (b if not c else d)"},
    "a = [b for b in c if d]": {"a = [b for b in c]"},
}
"""A source, and every mistake that is made in it."""
LEFT = (
    "'''A docstring.'''",
    "a: int",
    "a = 'A sentence for people.'",
    "log.info(a)",
    "assert a == 1",
    "def a(b: dict[str, 3]) -> list[4]: ...",
    "a = cast(dict[str, 3], b)",
    "__all__ = ['a', 'b']",
    "a = f'text {b} text'",
)


@pytest.mark.parametrize("source", MADE)
def test_these_mistakes_are_made(source: str) -> None:
    assert {mutation.source for mutation in mutations(source)} == MADE[source]


@pytest.mark.parametrize("source", LEFT)
def test_what_no_test_can_see_is_left_alone(source: str) -> None:
    assert [mutation.after for mutation in mutations(source)] == []


def test_a_mistake_says_where_it_is_and_which_tests_can_see_it() -> None:
    source = "A = 1\n\n\ndef f(\n    b,\n):\n    return (\n        b\n        + 2\n    )\n"

    places = {mutation.after: (mutation.line, mutation.start, mutation.end) for mutation in mutations(source)}
    on_import = {mutation.after for mutation in mutations(source) if mutation.everywhere}

    assert places["A = 2"] == (1, 1, 1)
    assert places["+ 3"] == (9, 7, 10)
    assert on_import == {"A = 2"}
