"""The lines that a recording prints."""

from decimal import Decimal

from conversations import loop

from turntape.inspector.run.labels import label_all
from turntape.inspector.views.text.console_text import console_line


def test_a_console_line_names_the_three_layers() -> None:
    [first, _] = label_all(loop())

    line = console_line(first.label, Decimal("0.5"), colour=False)

    assert "look_up" in line and "tool_calls" in line and "first" in line and "$0.500" in line


def test_the_cost_in_a_console_line_is_named_and_in_its_column() -> None:
    [first, _] = label_all(loop())
    small, large = (console_line(first.label, Decimal(cost), colour=False) for cost in ("0.5", "0.00085875"))

    assert small.index(" so far ") == large.index(" so far ")
    assert "$0.500 so far 250 ms" in small


def test_a_named_run_is_named_and_its_name_cannot_move_the_cursor() -> None:
    [first, _] = label_all(loop())

    line = console_line({**first.label, "run": "nightly\x1b[2J"}, None, colour=False)

    assert line.startswith("nightly")
    assert "\x1b" not in line
