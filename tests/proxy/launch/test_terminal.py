"""Colours and columns."""

import pytest

from turntape.proxy.launch.terminal import coloured, columns


@pytest.mark.parametrize(
    ("terminal", "environ", "expected"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colours_follow_the_terminal_and_the_usual_variables(
    terminal: bool, environ: dict[str, str], expected: bool
) -> None:
    assert coloured(terminal, environ) is expected


@pytest.mark.parametrize(("choice", "expected"), [("always", True), ("never", False)])
def test_a_choice_takes_precedence_over_terminal_and_variables(choice: str, expected: bool) -> None:
    for terminal in (True, False):
        for environ in ({}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}, {"TERM": "dumb"}):
            assert coloured(terminal, environ, choice) is expected


def test_the_width_is_the_chosen_one_then_the_terminals_then_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "123")
    assert columns(50) == 50
    assert columns(None) == 123
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr("os.get_terminal_size", lambda _stream: (_ for _ in ()).throw(OSError()))
    assert (columns(None), columns(None, 100)) == (80, 100)
