"""Content-encodings are undone for the record, wherever the wire was cut into chunks."""

import gzip
import os
import sys
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from turntape.cassettes.tape.content_encoding import DECODERS, TooLong, decoded, decoder

TEXT = b'data: {"choices":[]}\n\n' * 200


def raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


def zstd_frames(data: bytes) -> bytes:
    """Two frames, as servers send that end one at each flush."""
    half = len(data) // 2
    return zstandard.compress(data[:half]) + zstandard.compress(data[half:])


def gzip_members(data: bytes) -> bytes:
    """Two members, as a server sends that joins compressed files."""
    half = len(data) // 2
    return gzip.compress(data[:half]) + gzip.compress(data[half:])


def padded_gzip(data: bytes) -> bytes:
    return gzip.compress(data) + bytes(7)


def odd_padding(data: bytes) -> bytes:
    """The padding begins as another member would."""
    return gzip.compress(data) + b"\x1fpadding"


ENCODERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "gzip in members": ("gzip", gzip_members),
    "gzip with padding": ("gzip", padded_gzip),
    "gzip with odd padding": ("gzip", odd_padding),
    "gzip, then gzip": ("gzip, gzip", lambda data: gzip.compress(gzip.compress(data))),
    "gzip, then br": ("gzip, br", lambda data: brotli.compress(gzip.compress(data))),
    "identity, then deflate": ("identity,deflate", zlib.compress),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
    "zstd in frames": ("zstd", zstd_frames),
}


@pytest.mark.parametrize("name", ENCODERS)
@settings(deadline=None, max_examples=30)
@given(cuts=st.lists(st.integers(1, 400), max_size=12))
def test_any_cut_of_the_encoded_bytes_gives_the_plain_ones(name: str, cuts: list[int]) -> None:
    encoding, encode = ENCODERS[name]
    data = encode(TEXT)
    stream = decoder(encoding)
    assert stream is not None

    plain = b""
    for size in cuts:
        plain += stream.decode(data[:size])
        data = data[size:]

    assert plain + (stream.decode(data) if data else b"") == TEXT


@pytest.mark.parametrize("name", ENCODERS)
def test_a_whole_body_is_decoded_and_says_what_was_undone(name: str) -> None:
    encoding, encode = ENCODERS[name]

    assert decoded(encode(TEXT), f" {encoding.upper()} ") == (TEXT, encoding, None)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_body_that_ends_before_its_encoding_is_decoded_with_a_sentence_about_it(name: str) -> None:
    encoding, encode = ENCODERS[name]
    whole = encode(TEXT)
    padding = {"gzip with padding": 7, "gzip with odd padding": 9}.get(name, 0)

    body, undone, fault = decoded(whole[: len(whole) - padding - 1], encoding)

    assert TEXT.startswith(body) and undone == encoding
    assert fault == f"the body ends before its {encoding} encoding does; what can be decoded of it is kept"


@pytest.mark.parametrize(
    "encoding", [None, "", "identity", " , identity", "snappy", "gzip, snappy", "gzip,gzip,gzip,gzip,gzip"]
)
def test_what_is_not_known_is_left_as_it_is(encoding: str | None) -> None:
    assert decoder(encoding) is None
    assert decoded(b"bytes", encoding) == (b"bytes", None, None)


@pytest.mark.parametrize("encoding", DECODERS)
def test_a_body_that_does_not_decode_is_kept_with_the_reason(encoding: str) -> None:
    body, undone, fault = decoded(b"no such encoding, but text", encoding)

    assert (body, undone) == (b"no such encoding, but text", None)
    assert fault is not None and fault.startswith(f"the body does not decode as {encoding}: ")


@pytest.mark.parametrize("name", ENCODERS)
def test_a_decoder_gives_as_much_as_it_may_and_then_raises(name: str) -> None:
    encoding, encode = ENCODERS[name]
    exact, small = decoder(encoding, len(TEXT)), decoder(encoding, len(TEXT) - 1)
    assert exact is not None and small is not None

    assert exact.decode(encode(TEXT)) == TEXT
    with pytest.raises(TooLong, match=f"it is longer than {len(TEXT) - 1:,} bytes"):
        small.decode(encode(TEXT))


@pytest.mark.parametrize("name", ENCODERS)
def test_a_body_that_decodes_to_a_thousand_times_its_size_takes_little_memory(name: str) -> None:
    encoding, encode = ENCODERS[name]
    packed = encode(bytes(64 << 20))
    tracemalloc.start()
    try:
        body, undone, fault = decoded(packed, encoding, 1 << 20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (body, undone) == (packed, None)
    assert (
        fault == f"the body is not decoded as {encoding}: it is longer than 1,048,576 bytes; it is stored as received"
    )
    assert peak < 20 << 20


def test_a_body_is_not_decoded_where_the_library_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = brotli.compress(TEXT)
    monkeypatch.setitem(sys.modules, "brotli", None)

    assert decoder("br") is None
    assert decoded(packed, "br") == (packed, None, None)


@pytest.mark.parametrize("encoding", DECODERS)
def test_an_empty_body_is_not_a_fault(encoding: str) -> None:
    assert decoded(b"", encoding) == (b"", None, None)


def test_what_grows_two_hundredfold_beyond_8_mb_is_stored_as_received() -> None:
    packed = gzip.compress(bytes((8 << 20) + 1))

    body, encoding, fault = decoded(packed, "gzip")

    assert (body, encoding) == (packed, None)
    assert fault is not None and "longer than 8,388,608 bytes and than 200 times what was received" in fault


@pytest.mark.parametrize("plain", [bytes(8 << 20), bytes(7 << 20) + os.urandom(1 << 16) * 32], ids=["short", "text"])
def test_what_is_shorter_or_grows_less_is_decoded(plain: bytes) -> None:
    assert decoded(gzip.compress(plain), "gzip") == (plain, "gzip", None)


@pytest.mark.parametrize("encoding", ["br", "zstd"])
def test_a_few_bytes_that_decode_to_all_that_there_may_be_take_little_memory(encoding: str) -> None:
    packed = ENCODERS[encoding][1](bytes(64 << 20))
    stream = decoder(encoding)
    assert stream is not None and len(packed) < 8192
    tracemalloc.start()
    try:
        with pytest.raises(TooLong, match="longer than 8,388,608 bytes and than 200 times"):
            stream.decode(packed)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 32 << 20


@pytest.mark.parametrize("encoding", ["br", "zstd"])
def test_a_piece_that_decodes_to_several_megabytes_is_given_whole(encoding: str) -> None:
    plain = os.urandom(1 << 15) * 200

    stream = decoder(encoding)

    assert stream is not None and stream.decode(ENCODERS[encoding][1](plain)) == plain
    assert stream.is_whole
