"""Colours and columns."""

import pytest

from turntape.proxy.launch.terminal import ascii_only, coloured, columns


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


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False),
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LANG": "C.UTF-8"}, False),
        ({"LANG": "de_DE.utf8@euro"}, False),
        ({"LANG": "de_DE"}, False),
        ({"LANG": "C"}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, True),
        ({"LANG": "C", "LC_ALL": "en_US.UTF-8"}, False),
        ({"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, False),
        ({"LANG": "de_DE.ISO-8859-1"}, True),
        ({"LANG": "en_US.UTF-8", "TERM": "linux"}, True),
        ({"LANG": "en_US.UTF-8", "TERM": "xterm-256color"}, False),
    ],
)
def test_a_terminal_draws_ascii_only_by_its_locale_or_its_name(environ: dict[str, str], expected: bool) -> None:
    assert ascii_only(environ) is expected
