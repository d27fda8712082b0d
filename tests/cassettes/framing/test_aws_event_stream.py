"""AWS event streams: both CRCs checked; botocore's decoder is the oracle."""

import struct
from binascii import crc32
from collections.abc import Iterable

from botocore.eventstream import EventStreamBuffer
from hypothesis import given, settings
from hypothesis import strategies as st

from turntape.cassettes.framing import Event
from turntape.cassettes.framing.aws_event_stream import AwsEventStreamDecoder, is_prelude


def frame(payload: bytes, headers: dict[str, str]) -> bytes:
    """One frame with string headers."""
    head = b"".join(
        bytes([len(k)]) + k.encode() + b"\x07" + struct.pack(">H", len(v.encode())) + v.encode()
        for k, v in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    message = prelude + struct.pack(">I", crc32(prelude)) + head + payload
    return message + struct.pack(">I", crc32(message))


STREAM = (
    frame(b'{"role":"assistant"}', {":event-type": "messageStart", ":message-type": "event"})
    + frame(b"", {":event-type": "empty", ":message-type": "event"})
    + frame(b'{"message":"slow down"}', {":exception-type": "throttlingException", ":message-type": "exception"})
)


def events(pieces: Iterable[bytes]) -> list[Event]:
    decoder = AwsEventStreamDecoder()
    found = [event for piece in pieces for event in decoder.feed(piece)]
    return found + decoder.close()


def test_frames_read_as_the_oracle_does_however_they_are_split() -> None:
    buffer = EventStreamBuffer()
    buffer.add_data(STREAM)
    whole = events([STREAM])
    assert [e.data for e in whole] == [message.payload for message in buffer]
    assert [(e.kind, e.name, e.problem) for e in whole] == [
        ("data", "messageStart", None),
        ("data", "empty", None),
        ("exception", "throttlingException", None),
    ]
    assert [(e.start, e.end) for e in whole][-1][1] == len(STREAM)
    assert events(STREAM[i : i + 1] for i in range(len(STREAM))) == whole
    assert all(events([STREAM[:cut], STREAM[cut:]]) == whole for cut in range(len(STREAM)))


def test_headers_of_every_type_are_stepped_over() -> None:
    head = b"\x01a\x00\x01b\x01\x01c\x02\x01\x01d\x03\x00\x01\x01e\x04" + b"\x00" * 4
    head += b"\x01f\x05" + b"\x00" * 8 + b"\x01g\x06\x00\x02hi" + b"\x01h\x08" + b"\x00" * 8
    head += b"\x01i\x09" + b"\x00" * 16 + b"\x0b:event-type\x07\x00\x02ok"
    prelude = struct.pack(">II", 16 + len(head) + 2, len(head))
    message = prelude + struct.pack(">I", crc32(prelude)) + head + b"{}"
    (event,) = events([message + struct.pack(">I", crc32(message))])
    assert (event.name, event.problem) == ("ok", None)


def test_a_wrong_message_crc_is_named_and_the_next_frame_still_read() -> None:
    first = bytearray(frame(b'{"a":1}', {":event-type": "x"}))
    first[-6] ^= 1
    bad, good = events([bytes(first) + frame(b"{}", {":event-type": "y"})])
    assert bad.problem == "The CRC of this frame is wrong."
    assert (good.name, good.problem) == ("y", None)


def test_after_a_wrong_prelude_the_rest_comes_as_one_event_with_a_problem() -> None:
    good = frame(b"{}", {":event-type": "y"})
    first, rest = events([good + b"\x00\x00\x00\x40" + b"junk" * 20])
    assert first.problem is None
    assert rest.problem is not None
    assert "prelude" in rest.problem
    assert rest.end == len(good) + 84


def test_a_cut_frame_is_reported() -> None:
    *_, last = events([STREAM[:-5]])
    assert last.problem == "The stream ended inside this frame."


def test_a_prelude_is_known_by_its_crc() -> None:
    assert is_prelude(STREAM)
    assert not is_prelude(b'{"message":"no"}')


@given(st.integers(0, len(STREAM) - 1), st.integers(1, 255))
@settings(max_examples=100, deadline=None)
def test_a_flipped_byte_is_never_silent_and_never_raises(place: int, bits: int) -> None:
    body = bytearray(STREAM)
    body[place] ^= bits
    assert any(event.problem for event in events([bytes(body)]))
