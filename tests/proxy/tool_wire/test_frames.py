"""Frames survive any cut of the bytes."""

from hypothesis import given
from hypothesis import strategies as st

from turntape.proxy.tool_wire.frames import Decoder, Frame, encode

FRAMES = st.lists(st.builds(Frame, st.integers(0, 6), st.floats(0, 2e9), st.binary(max_size=40)), max_size=6)


@given(FRAMES, st.integers(1, 30))
def test_frames_come_out_as_they_went_in(frames: list[Frame], size: int) -> None:
    data = b"".join(encode(*frame) for frame in frames)
    decoder = Decoder()

    pieces = [data[start : start + size] for start in range(0, len(data), size)]

    assert [frame for piece in pieces for frame in decoder.feed(piece)] == frames


def test_a_frame_that_is_not_complete_waits() -> None:
    decoder = Decoder()
    data = encode(1, 2.5, b"abc")

    assert list(decoder.feed(data[:-1])) == []
    assert list(decoder.feed(data[-1:])) == [Frame(1, 2.5, b"abc")]
