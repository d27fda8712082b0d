"""What a turn that is still open will be counted as."""

import pytest
from conversations import HELLO, TOOLS, chat, loop

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import LedgerBuilder
from turntape.inspector.run.labels import label_all


def built(*trips: RoundTrip) -> LedgerBuilder:
    builder = LedgerBuilder()
    for place, one in enumerate(label_all(trips)):
        builder.add(place, one)
    return builder


def test_the_answer_is_known_and_the_rest_is_estimated() -> None:
    first, second = loop()
    open_ = RoundTrip(second.request, None, second.started_at, index=1)

    found = built(first, open_).forecast(1)
    assert found is not None
    # The answer had 10 tokens.
    assert 13 <= found.tokens <= 60
    assert found.by_bytes > 0


@pytest.mark.parametrize("place", [0, 7])
def test_nothing_is_said_of_a_first_turn_and_of_other_rows(place: int) -> None:
    assert built(chat([HELLO], tools=TOOLS)).forecast(place) is None
