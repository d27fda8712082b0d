"""Each rule fires on its fault, and none on a healthy run."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, loop, result, said, user

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.run.labels import label_all


def found(*trips: RoundTrip) -> list[tuple[int, str, str]]:
    return [
        (done.round_trip.index, str(finding["id"]), str(finding["layer"]))
        for done in label_all(trips)
        for finding in list[Any](done.label["findings"])  # pyright: ignore[reportArgumentType]
    ]


def refused(status: int) -> RoundTrip:
    return chat([HELLO], status=status, error={"error": {"message": "no", "type": "x"}})


def test_a_healthy_run_has_none() -> None:
    assert found(*loop()) == []


@pytest.mark.parametrize(
    ("trip", "expected", "layer"),
    [
        (refused(429), "api-rate-limited", "api"),
        (refused(529), "api-overloaded", "api"),
        (refused(401), "access-refused", "client"),
        (refused(400), "request-rejected", "client"),
        (chat([HELLO], failure=Failure("refused", "connection refused")), "api-unreachable", "api"),
        (chat([HELLO], said("half"), finish="length"), "api-length-truncated", "api"),
        (chat([HELLO], said(None, ("c", "look_up", '{"wo')), finish="length"), "api-length-truncated-tool-call", "api"),
        (chat([HELLO], said("x"), finish="content_filter"), "api-content-filter", "api"),
        (chat([HELLO], {"role": "assistant", "content": None, "refusal": "I will not."}), "model-refusal", "model"),
        (chat([HELLO], said(None, ("c", "look_up", '{"word":'))), "call-args-not-json", "model"),
        (chat([HELLO], said(None, ("c", "lookup", "{}"))), "model-unknown-tool", "model"),
        (chat([HELLO], said(""), finish="tool_calls"), "api-finish-label-disagrees", "api"),
        (chat([HELLO, result("never", "r")], said("x")), "client-orphan-tool-result", "client"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fault_is_found_at_its_layer(trip: RoundTrip, expected: str, layer: str) -> None:
    assert [one for one in found(trip) if one[1] != "client-no-retry-on-transient"] == [(0, expected, layer)]


def test_a_result_that_never_came_is_the_clients_and_names_the_call() -> None:
    first = said(None, CALL)
    trips = (chat([HELLO], first), chat([HELLO, first, user("go on")], said("x"), index=1))

    assert found(*trips) == [(0, "client-missing-tool-result", "client")]
    [finding] = list[Any](label_all(trips)[0].label["findings"])  # pyright: ignore[reportArgumentType]
    assert finding["evidence"] == ["#0 call call_1", "#1 request"]


def test_a_request_that_turntape_answered_at_a_limit_blames_no_layer() -> None:
    trip = replace(refused(400), extra={"guard": {"limit": "max-turns", "message": "ended after 1 turn"}})

    assert found(trip) == [(0, "run-ended-by-limit", "client")]


def test_a_call_that_is_repeated_with_the_same_result_is_reported_at_the_third_time_and_gets_more_severe() -> None:
    def looped(*results: str) -> list[RoundTrip]:
        history, trips = [HELLO], list[RoundTrip]()
        for number, text in enumerate(results):
            call = said(None, (f"call_{number}", "look_up", '{"word":"tape"}'))
            trips.append(chat(history, call, index=number))
            history = [*history, call, result(f"call_{number}", text)]
        return [*trips, chat(history, said("Nothing was found."), index=len(results))]

    reported = [(at, name) for at, name, _ in found(*looped(*["nothing"] * 5))]
    assert reported == [(2, "model-repeated-call"), (4, "model-repeated-call")]
    assert found(*looped("1 of 5", "2 of 5", "3 of 5", "4 of 5", "5 of 5")) == []


@pytest.mark.parametrize(
    ("status", "word", "expected"),
    [
        (404, "turntape_replay_miss", (0, "replay-missed", "client")),
        (404, "turntape_no_cassette", (0, "replay-missed", "client")),
        (502, "turntape_no_answer", (0, "replay-without-answer", "api")),
    ],
)
def test_what_a_replay_lacks_is_not_blamed_on_a_key_or_an_api(
    status: int, word: str, expected: tuple[int, str, str]
) -> None:
    trip = chat([HELLO], status=status, error={"error": {"message": "no recorded round trip", "type": word}})

    assert [one for one in found(trip) if one[1] != "client-no-retry-on-transient"] == [expected]
