from conversations import HELLO, chat, said, user

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
