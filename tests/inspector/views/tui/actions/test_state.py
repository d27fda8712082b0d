"""What the screen shows."""

from viewer_parts import parts


def test_the_place_and_the_view_are_those_of_the_navigation() -> None:
    state = parts(empty=True).state
    assert (state.place, state.view) == (None, "turn")

    state.navigation.go(2)
    state.navigation.view = "wire"
    assert (state.place, state.view) == (2, "wire")
