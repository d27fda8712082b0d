from hypothesis import given
from hypothesis import strategies as st

from turntape.cassettes.tape.delta import WINDOW, Delta, Window, common_prefix, common_suffix


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
