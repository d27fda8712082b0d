"""Whether a turn was refused, so that it costs nothing."""

import pytest
from conversations import CALL, HELLO, chat, loop, said

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.analysis.refused import is_refused, was_refused
from turntape.inspector.wire.parse import read

REFUSED = {"status": 429, "finish": "error", "emitted": "none", "counted": None}


@pytest.mark.parametrize(
    ("field", "refused"),
    [
        ({}, True),
        ({"status": None, "finish": "cut", "emitted": None}, True),
        ({"status": 200}, True),
        ({"finish": "content_filter"}, True),
        ({"emitted": "text"}, False),
        ({"counted": 100}, False),
        ({"status": 200, "finish": "cut"}, False),
        ({"status": 200, "finish": "complete", "emitted": "empty"}, False),
    ],
)
def test_only_what_failed_before_anything_was_counted_or_answered_is_refused(
    field: dict[str, object], refused: bool
) -> None:
    assert is_refused(**{**REFUSED, **field}) is refused


@pytest.mark.parametrize(
    ("trip", "refused"),
    [
        (chat([HELLO], failure=Failure("refused", "connection refused")), True),
        (chat([HELLO], status=0, error={"error": {"message": "no"}}), True),
        (chat([HELLO], error={"error": {"message": "no", "type": "server_error"}}), True),
        (chat([HELLO], said(None, CALL), usage=None), False),
    ],
    ids=["no answer", "no status", "an error under 200", "a call"],
)
def test_status_finish_answer_and_counts_decide(trip: RoundTrip, refused: bool) -> None:
    assert was_refused(trip, read(trip)) is refused


def test_it_is_read_from_the_answer() -> None:
    refused = chat([HELLO], status=429, error={"error": {"message": "slow down", "type": "rate_limit_error"}})

    assert was_refused(refused, read(refused))
    assert not any(was_refused(trip, read(trip)) for trip in [*loop(), chat([HELLO], said("x"), usage=None)])
