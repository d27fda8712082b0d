"""A turn that is being played."""

import pytest
from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.controllers.played_turn import RECORDED, SPEEDS, PlayedTurn


@pytest.mark.parametrize("speed", range(len(SPEEDS)))
@pytest.mark.parametrize(("width", "gauge"), [(120, 30), (80, 6), (70, 0)])
def test_the_status_line_fits_and_names_its_keys(width: int, gauge: int, speed: int) -> None:
    row = Run.load(EXAMPLE).rows.all[0]
    turn = PlayedTurn(0, 3_307_000, speed, at=1_653_500)

    text = "".join(word for word, _ in turn.status(row, width))

    assert len(text) <= width
    assert text.endswith("+ - speed, p stops")
    between = text.partition("▕")[2].rpartition("▏")[0]
    assert len(between) >= gauge
    if not gauge and speed in (RECORDED, len(SPEEDS) - 1):
        assert "▕" not in text
