"""Lists of tools and answers that are recorded in another order than that of their requests."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import START, chat, result, said, user
from judged import findings
from tool_stories import ADD, IDS, SAY, offered, text
from tool_wire import STREAM, answers, asks, events, http, initialize, initialized

from turntape.cassettes.tape.model import Chunk, RoundTrip
from turntape.inspector.run import tool_labels
from turntape.inspector.run.labels import label_all

SUM: dict[str, Any] = {**ADD, "outputSchema": {"type": "object", "required": ["sum"]}}
HANDSHAKE = (initialize(0), initialized(0, "files"))
FIRST = (asks(1, "tools/list"), answers(1, tools=[SUM], nextCursor="2"))
SECOND = (asks(2, "tools/list", cursor="2"), answers(2, tools=[SAY]))
WHOLE = (asks(1, "tools/list"), answers(1, tools=[SUM]))
CALL = (asks(3, "tools/call", name="say", arguments={}), answers(3, **text("hello")))
WRONG = (asks(4, "tools/call", name="add", arguments={}), answers(4, **text("3")))
RIGHT = (asks(4, "tools/call", name="add", arguments={}), answers(4, **text("3", structuredContent={"sum": 3})))
type Pair = tuple[dict[str, Any], dict[str, Any]]


def found(trips: list[RoundTrip]) -> list[tuple[str, str]]:
    return [(one["id"], one["message"]) for _, one in findings(trips, hints=False, advice=False) if one["id"] in IDS]


def ended_as(order: tuple[int, ...], *pairs: Pair) -> list[RoundTrip]:
    """Exchanges over HTTP that began one after another and ended in this order."""
    begun = [
        http(sent, got, at=place / 10, ended_at=5_000_000 if place else 20) for place, (sent, got) in enumerate(pairs)
    ]
    return [replace(begun[place], index=index) for index, place in enumerate(order)]


def old_stream(*pairs: Pair, base: str = "http://127.0.0.1:9000") -> list[RoundTrip]:
    """The same over the transport of 2024-11-05: each answer is in the stream, which is recorded at the end."""
    posts = [
        http(sent, b"Accepted", url=f"{base}/messages?session_id=s1", status=202, headers=(), at=1 + place / 10)
        for place, (sent, _) in enumerate(pairs)
    ]
    opening = b"event: endpoint\r\ndata: /messages?session_id=s1\r\n\r\n"
    pieces = [opening, *(events(got) for _, got in pairs)]
    times = [100_000 + place * 100_000 for place in range(len(pieces))]  # each within the tenth of its request
    chunks = tuple(Chunk(len(piece), at) for piece, at in zip(pieces, times, strict=True))
    opened = http(
        None, b"".join(pieces), url=f"{base}/sse", method="GET", kind=STREAM, headers=(), at=0.85, chunks=chunks,
        ended_at=9_000_000,
    )  # fmt: skip
    return [replace(trip, index=index) for index, trip in enumerate([*posts, opened])]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3), (0, 2, 3, 1), (0, 3, 2, 1)])
def test_pages_that_end_in_another_order_are_read(order: tuple[int, ...]) -> None:
    assert found(ended_as(order, HANDSHAKE, FIRST, SECOND, CALL)) == []


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)])
def test_a_page_that_is_not_read_is_found_in_any_order(order: tuple[int, ...]) -> None:
    said = "the client calls a tool of server 'files' without having read the rest of its list of tools"

    assert found(ended_as(order, HANDSHAKE, FIRST, CALL)) == [("client-tool-protocol-broken", said)]


def test_a_page_that_an_earlier_list_had_is_not_this_ones() -> None:
    again = (asks(8, "tools/list"), answers(8, tools=[SUM], nextCursor="2"))
    trips = ended_as((0, 1, 2, 3, 4), HANDSHAKE, FIRST, SECOND, again, CALL)

    assert [name for name, _ in found(trips)] == ["client-tool-protocol-broken"]


def test_an_old_stream_says_which_schema_a_result_breaks_and_who_gave_it() -> None:
    trips = old_stream(HANDSHAKE, WHOLE, WRONG)

    assert found(trips) == [
        (
            "tool-invalid-result",
            "the result of 'add' of server 'files' breaks its tool's `outputSchema` (missing-required): it has no "
            "structured content",
        )
    ]
    assert [run.server for row in label_all(trips) for run in row.tool_runs] == ["files"]


def test_an_old_stream_with_a_result_that_keeps_its_schema_is_silent() -> None:
    assert found(old_stream(HANDSHAKE, FIRST, SECOND, CALL, RIGHT)) == []


def test_an_old_stream_shows_a_page_that_is_not_read() -> None:
    assert [name for name, _ in found(old_stream(HANDSHAKE, FIRST, CALL))] == ["client-tool-protocol-broken"]


def long_run(turns: int, gives: str) -> list[RoundTrip]:
    """Turns of a model, each with a call over the old transport, whose answers are recorded after the last turn."""
    calls = [
        (
            asks(10 + turn, "tools/call", name="add", arguments={"a": turn}),
            answers(10 + turn, **text(f"{gives} {turn}")),
        )
        for turn in range(turns)
    ]
    wire = old_stream(HANDSHAKE, (WHOLE[0], answers(1, tools=[ADD])), *calls)
    asked = [replace(one, started_at=START + one.started_at) for one in wire]
    messages = [user("Add.")]
    trips = asked[:2]
    for turn, call in enumerate(asked[2:-1]):
        answer = said(None, (f"c{turn}", "mcp__files__add", f'{{"a":{turn}}}'))
        trips += [chat(list(messages), answer, at=call.started_at - START - 0.05, tools=offered(ADD)), call]
        messages += [answer, result(f"c{turn}", f"sum {turn}")]
    trips.append(chat(messages, said("Done."), at=asked[-2].started_at - START + 0.2, tools=offered(ADD)))
    return [replace(trip, index=index) for index, trip in enumerate([*trips, asked[-1]])]


def test_a_long_run_over_the_old_transport_is_judged_when_its_stream_has_ended() -> None:
    assert found(long_run(24, "sum")) == []
    assert [name for name, _ in found(long_run(24, "product"))] == ["client-tool-result-changed"] * 24


def test_turns_that_are_let_go_before_their_answers_are_recorded_are_not_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tool_labels, "_MOST_BYTES", 1)

    assert found(long_run(24, "sum")) == []
    assert 0 < len(found(long_run(24, "product"))) < 24
