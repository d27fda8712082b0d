"""What the label of a turn says of its cost."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from conversations import HELLO, chat, loop, said

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.run.label_costs import costs_nothing, is_unpriced
from turntape.inspector.run.labels import label_all
from turntape.inspector.run.run_index import Run

OVERLOADED = {"error": {"message": "overloaded", "type": "server_error"}}
GONE = Failure("cut", "the connection was closed")
CASES: dict[str, tuple[list[RoundTrip], list[bool]]] = {
    "priced": (loop(), [False, False]),
    "unknown model": ([chat([HELLO], said("x"), model="ours")], [True]),
    "no counts": ([chat([HELLO], said("x"), usage=None)], [True]),
    "refused": ([chat([HELLO], status=529, error=OVERLOADED)], [False]),
    "no answer": ([chat([HELLO], failure=GONE)], [False]),
    "cut within an answer": (
        [replace(chat([HELLO], said("x"), usage=None), failure=GONE, closed_first="server")],
        [True],
    ),
    "another endpoint": ([replace(one, request=replace(one.request, url=f"{one.request.url}/x")) for one in loop()],
                         [False, False]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_label_row_and_ledger_agree_on_what_has_no_known_price(name: str) -> None:
    trips, expected = CASES[name]
    labels = [one.label for one in label_all(trips)]
    run = Run.of(trips)

    assert [is_unpriced(label) for label in labels] == expected
    assert [row.unpriced for row in run.rows.all] == expected
    assert run.ledger.unpriced == sum(expected)


def test_what_is_refused_costs_nothing() -> None:
    assert [costs_nothing(label) for label in labels_of(CASES["refused"][0])] == [True]
    assert [costs_nothing(label) for label in labels_of(CASES["no counts"][0])] == [False]


def labels_of(trips: Sequence[RoundTrip]) -> list[dict[str, object]]:
    return [one.label for one in label_all(trips)]
