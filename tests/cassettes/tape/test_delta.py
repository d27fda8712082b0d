"""The history that agents resend is found, byte for byte and to the last byte."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape.cassettes.tape.delta import WINDOW, WORTHWHILE, Delta, Window, common_prefix, common_suffix


def rebuilt(delta: Delta, base: bytes) -> bytes:
    return base[: delta.prefix] + delta.middle + base[len(base) - delta.suffix :]


@given(st.binary(max_size=400), st.binary(max_size=200), st.binary(max_size=200))
def test_common_ends_are_as_long_as_they_can_be(shared: bytes, a: bytes, b: bytes) -> None:
    one, two = shared + a, shared + b
    prefix = common_prefix(one, two)
    assert one[:prefix] == two[:prefix]
    assert prefix == min(len(one), len(two)) or one[prefix] != two[prefix]

    one, two = a + shared, b + shared
    suffix = common_suffix(one, two, min(len(one), len(two)))
    assert suffix >= len(shared)
    assert one[len(one) - suffix :] == two[len(two) - suffix :]


@given(st.text(min_size=300), st.text(max_size=50), st.text(max_size=50))
def test_a_delta_is_exact_and_cuts_no_character(common: str, middle: str, end: str) -> None:
    window = Window()
    base, body = (common + end).encode(), (common + middle + end).encode()
    window.add(0, base)

    delta = window.shorten(body)

    if delta is not None:
        assert rebuilt(delta, base) == body
        delta.middle.decode()


def test_the_best_of_the_window_is_taken() -> None:
    window = Window()
    near, far = b"x" * 5000 + b"near", b"y" * 5000
    window.add(0, near)
    window.add(1, far)

    delta = window.shorten(near + b" and more")

    assert delta is not None
    assert (delta.base, delta.prefix) == (0, len(near))


@given(st.lists(st.lists(st.sampled_from([b"a" * 150, b"b" * 150, b"\xc3\xa9" * 80, b"c"]), max_size=8), max_size=6))
def test_what_is_taken_saves_most_and_is_the_newest_that_does(written: list[list[bytes]]) -> None:
    window, bodies = Window(), [b"".join(parts) for parts in written]
    *earlier, body = bodies or [b""]
    for number, one in enumerate(earlier):
        window.add(number, one)

    def saved(one: bytes) -> int:
        alone = Window()
        alone.add(0, one)
        delta = alone.shorten(body)
        return delta.prefix + delta.suffix if delta else 0

    best = max(range(len(earlier)), key=lambda number: (saved(earlier[number]), number), default=None)
    delta = window.shorten(body)

    assert (delta and delta.base) == (best if best is not None and saved(earlier[best]) else None)


def test_only_the_last_bodies_may_be_referred_to() -> None:
    window = Window()
    window.add(0, b"first" * 200)
    for number in range(1, WINDOW + 1):
        window.add(number, b"%d" % number * 500)

    assert 0 not in window
    assert window.shorten(b"first" * 200) is None


def test_what_saves_little_is_stored_whole() -> None:
    window = Window()
    window.add(0, b"a" * 300)

    assert window.shorten(b"a" * 100) is None


SIZES = [0, 1, 31, 32, 33, 34, 63, 64, 65, 66, 100, 255, 256, 1000, 4096]


def different(size: int, seed: int = 0) -> bytes:
    """Bytes in which a shift by any small number is noticed."""
    return random.Random(seed).randbytes(size)


@pytest.mark.parametrize("shared", SIZES)
@pytest.mark.parametrize("rest", [0, 1, 2, 40, 500])
def test_a_common_beginning_has_its_exact_length(shared: int, rest: int) -> None:
    start = different(shared)
    one, two = start + b"\x00" + different(rest, 1), start + b"\x01" + different(rest // 2, 2)

    assert common_prefix(one, two) == common_prefix(two, one) == shared
    assert common_prefix(one, two, shared // 2) == shared
    assert common_prefix(start, one) == common_prefix(one, start) == shared
    assert common_prefix(start, start) == shared


@pytest.mark.parametrize("shared", SIZES)
@pytest.mark.parametrize("rest", [0, 1, 2, 40, 500])
def test_a_common_end_has_its_exact_length(shared: int, rest: int) -> None:
    end = different(shared)
    one, two = different(rest, 1) + b"\x00" + end, different(rest // 2, 2) + b"\x01" + end
    limit = min(len(one), len(two))

    assert common_suffix(one, two, limit) == common_suffix(two, one, limit) == shared
    assert common_suffix(end, one, shared) == common_suffix(one, end, shared) == shared
    for limit in (0, shared // 3, shared // 2, shared):
        assert common_suffix(one, two, limit) == limit


def test_the_limits_of_the_format_are_these() -> None:
    """docs/cassette-format.md promises them to other readers."""
    assert (WINDOW, WORTHWHILE) == (16, 256)


@pytest.mark.parametrize("size", [255, 256])
def test_a_body_below_the_least_size_is_not_remembered(size: int) -> None:
    window = Window()
    window.add(3, b"x" * size)

    assert (3 in window) == (size == 256)


def test_the_window_holds_sixteen_bodies_and_drops_the_oldest() -> None:
    window = Window()
    for number in range(17):
        window.add(number, different(300, number))

    assert [number for number in range(20) if number in window] == list(range(1, 17))
    assert window[1] == different(300, 1)


@pytest.mark.parametrize("saved", [256, 257])
def test_a_delta_must_save_more_than_the_least(saved: int) -> None:
    window = Window()
    base = different(1000)
    window.add(0, base)

    for body, whole in ((base[:saved] + b"--" * 400, 0), (b"--" * 400 + base[-saved:], 1)):
        delta = window.shorten(body)
        if saved == 256:
            assert delta is None
        else:
            assert delta == Delta(0, *((saved, 0) if whole == 0 else (0, saved)), b"--" * 400)


def test_both_ends_count_and_do_not_overlap() -> None:
    window = Window()
    base = different(600)
    window.add(0, base)

    assert window.shorten(base[:130] + b"new" + base[-130:]) == Delta(0, 130, 130, b"new")
    assert window.shorten(base[:130] + base[-130:]) == Delta(0, 130, 130, b"")
    assert window.shorten(base) == Delta(0, 600, 0, b"")
    assert window.shorten(base[:400] + base[300:]) == Delta(0, 400, 200, base[300:400])


def test_a_body_that_repeats_itself_is_not_counted_twice() -> None:
    window = Window()
    window.add(0, b"a" * 500)

    assert window.shorten(b"a" * 700) == Delta(0, 500, 0, b"a" * 200)
    assert window.shorten(b"a" * 300) == Delta(0, 300, 0, b"")


def test_the_nearest_of_equal_bodies_is_taken() -> None:
    window = Window()
    for number in (4, 7, 9):
        window.add(number, b"a" * 500)

    assert window.shorten(b"a" * 500 + b"b") == Delta(9, 500, 0, b"b")
    assert window.shorten(b"a" * 500) == Delta(9, 500, 0, b"")


def test_all_of_the_window_is_searched_for_the_best() -> None:
    """A body that is too short or shares too little does not end the search."""
    window = Window()
    best = different(2000)
    window.add(0, best)
    window.add(1, best[:700] + different(900, 1))
    window.add(2, different(3000, 2))
    window.add(3, different(256, 3))

    assert window.shorten(best[:1500] + b"new") == Delta(0, 1500, 0, b"new")


@pytest.mark.parametrize("character", ["é", "☃", "😀"])
def test_no_character_is_cut_at_either_end(character: str) -> None:
    """Two characters that share their first bytes, or their last ones."""
    encoded = character.encode()
    twin = encoded[:-1] + bytes([encoded[-1] ^ 1])
    other = bytes([encoded[0] ^ 1]) + encoded[1:]
    text = b"a" * 400
    window = Window()
    window.add(0, text + encoded + b"b" * 10 + encoded + text)

    assert window.shorten(text + twin + b"c" + encoded + text) == Delta(0, 400, 400 + len(encoded), twin + b"c")
    assert window.shorten(text + encoded + b"c" + other + text) == Delta(0, 400 + len(encoded), 400, b"c" + other)


def test_bytes_that_are_not_utf8_end_the_search_for_a_character() -> None:
    window = Window()
    window.add(0, b"\x80" * 600)

    delta = window.shorten(b"\x80" * 500 + b"a" + b"\x80" * 90)

    assert delta is None or rebuilt(delta, b"\x80" * 600) == b"\x80" * 500 + b"a" + b"\x80" * 90


def test_a_body_without_a_whole_character_ends_the_search_at_its_start() -> None:
    window = Window()
    window.add(0, b"\x80" * 600)
    body = b"\x80" * 300 + b"\x81" * 300

    assert window.shorten(body) in (None, Delta(0, 0, 0, body))


def test_both_ends_together_are_compared_with_those_of_other_bodies() -> None:
    window = Window()
    body = different(500).hex().encode()
    window.add(0, body[:500] + b"-" * 700)
    window.add(1, body[:300] + b"+" * 100 + body[-300:])

    delta = window.shorten(body)

    assert delta == Delta(1, 300, 300, body[300:700])
