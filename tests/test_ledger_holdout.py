"""How recorded conversations judge the ledger."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent))  # bench is not installed

from bench.faults.dialects import DIALECTS
from bench.ledger.backend import Backend, served
from bench.ledger.holdout import judged, silent
from bench.ledger.talk import talk
from bench.ledger.tokenizers import LOOKED_AT
from turntape.inspector.run.labels import label_all

_DIALECT = DIALECTS["openai-chat"]
_BACKEND = Backend(_DIALECT, next(iter(LOOKED_AT.values()))())
_RUN = label_all(served(_BACKEND, talk("holdout", _DIALECT, 3), "holdout").trips)


def test_the_counts_of_an_input_are_hidden_also_in_its_turn() -> None:
    shown, hidden = _RUN[1], silent(_RUN[1])
    assert shown.turn is not None and hidden.turn is not None and hidden.reading.usage is not None
    assert hidden.reading.usage.input is None and hidden.turn.reading is hidden.reading
    assert hidden.turn.conversation == shown.turn.conversation


def test_each_pair_of_turns_is_asked_both_questions() -> None:
    asked = list(judged(_RUN))
    assert [protocol for protocol, _, _ in asked] == ["openai-chat"] * 2
    for _, forecast, share in asked:
        assert forecast is not None
        assert (forecast[0], share[0]) == pytest.approx((0, 0), abs=1)
