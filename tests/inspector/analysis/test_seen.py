import pytest
from conversations import HELLO, chat, said, user

from turntape.cassettes.tape.model import Request, Response, RoundTrip
from turntape.inspector.analysis.conversation import conversation_of
from turntape.inspector.analysis.seen import Seen
from turntape.inspector.wire.parse import read

LONG = chat([HELLO, said("a strip"), user("word " * 2000)], said("answer " * 2000), index=3)


def seen() -> Seen:
    reading = read(LONG)
    return Seen(LONG, reading, conversation_of(reading.request.messages))


def test_what_is_put_aside_is_read_again_once_and_is_the_same() -> None:
    whole, aside, asked = seen(), seen(), list[int]()

    aside.put_aside(lambda: asked.append(1) or LONG)
    assert not asked and aside.round_trip.index == 3

    assert aside.reading == whole.reading and aside.conversation == whole.conversation
    assert asked == [1]


def test_its_bodies_are_read_when_they_are_used() -> None:
    aside, asked = seen(), list[int]()

    aside.put_aside(lambda: asked.append(1) or LONG)
    trip = aside.round_trip

    assert trip.response is not None and LONG.response is not None
    assert callable(trip.request.content) and callable(trip.response.content) and not asked
    assert (trip.request.body, trip.response.body) == (LONG.request.body, LONG.response.body)


def test_what_is_aside_is_in_memory_again_when_it_was_used() -> None:
    one = seen()
    assert one.in_memory is True

    one.put_aside(lambda: LONG)
    assert one.in_memory is False

    assert one.reading.request.messages
    assert (one.in_memory, one.is_aside) == (True, True)


@pytest.mark.parametrize(("size", "stays"), [(4096, True), (4097, False)])
def test_a_body_of_a_page_stays_and_a_longer_one_does_not(size: int, stays: bool) -> None:
    asked = Request("POST", "https://api.openai.com/v1/chat/completions", content=b"{" * size)
    trip = RoundTrip(asked, Response(200, "OK", content=b"}" * size), 0.0)
    one = Seen(trip, read(trip), conversation_of(()))

    one.put_aside(lambda: trip)

    response = one.round_trip.response
    assert response is not None
    assert (one.round_trip.request.content is asked.content) is stays
    assert isinstance(response.content, bytes) is stays


def test_an_answer_that_is_gone_is_empty() -> None:
    one = seen()
    one.put_aside(lambda: chat([HELLO]))

    assert one.round_trip.response is not None and one.round_trip.response.body == b""


def test_short_bodies_stay() -> None:
    short = chat([HELLO], said("a strip"))
    one = Seen(short, read(short), conversation_of(read(short).request.messages))
    assert not one.is_aside

    one.put_aside(lambda: short)

    assert one.round_trip == short and one.is_aside


def test_a_round_trip_without_an_answer_can_be_put_aside() -> None:
    open_trip = chat([user("word " * 2000)])
    one = Seen(open_trip, read(open_trip), conversation_of(()))

    one.put_aside(lambda: open_trip)

    assert one.round_trip.response is None and one.round_trip.request.body == open_trip.request.body
