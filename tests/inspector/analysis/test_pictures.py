"""Pictures and files in a part of a message."""

import struct
import zlib
from base64 import b64encode

import pytest

from turntape.inspector.analysis.pictures import pictures_in


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + b"\x20\x40\x80" * width for _ in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def jpeg(width: int, height: int, before: int = 0) -> bytes:
    """A JPEG up to its first frame, behind `before` bytes of other segments and a Huffman table."""
    more = b"\xff\xe1" + struct.pack(">H", before + 2) + bytes(before) if before else b""
    table = b"\xff\xc4" + struct.pack(">H", 12) + bytes(10)
    frame = b"\xff\xc0" + struct.pack(">HBHH", 17, 8, height, width) + bytes(12)
    return b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + bytes(14) + more + table + b"\xff" + frame + bytes(40)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(40)


def webp(kind: bytes, rest: bytes) -> bytes:
    return b"RIFF\x40\0\0\0WEBP" + kind + b"\x20\0\0\0" + rest + bytes(40)


WEBP_LOSSLESS = webp(b"VP8L", b"\x2f" + struct.pack("<I", (320 - 1) | (200 - 1) << 14))
WEBP_LOSSY = webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 320, 200))
WEBP_EXTENDED = webp(b"VP8X", bytes(4) + (319).to_bytes(3, "little") + (199).to_bytes(3, "little"))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (png(320, 200), "image/png"),
        (jpeg(320, 200), "image/jpeg"),
        (jpeg(320, 200, before=9_000), "image/jpeg"),
        (gif(320, 200), "image/gif"),
        (WEBP_LOSSLESS, "image/webp"),
        (WEBP_LOSSY, "image/webp"),
        (WEBP_EXTENDED, "image/webp"),
    ],
)
def test_type_size_and_pixels_of_a_picture_are_read_from_its_bytes(data: bytes, kind: str) -> None:
    (found,) = pictures_in({"source": {"data": b64encode(data).decode()}})

    assert (found.type, found.size, found.width, found.height) == (kind, len(data), 320, 200)
    assert found.decoded() == data


def test_a_data_address_says_its_type_and_the_detail_is_beside_it() -> None:
    url = "data:image/png;base64," + b64encode(png(8, 4)).decode()

    (found,) = pictures_in({"type": "image_url", "image_url": {"url": url, "detail": "low"}})
    assert (found.type, found.width, found.height, found.detail) == ("image/png", 8, 4, "low")


def test_sound_is_known_by_the_type_beside_it() -> None:
    (found,) = pictures_in({"inlineData": {"mimeType": "audio/wav", "data": b64encode(bytes(300)).decode()}})
    assert (found.type, found.size, found.width) == ("audio/wav", 300, None)


@pytest.mark.parametrize(
    "value", ["https://example.org/a.png", "/9j/ is how many JPEGs begin, and this is only a sentence", {"url": "x"}]
)
def test_what_is_not_inline_is_not_a_picture(value: object) -> None:
    assert list(pictures_in({"image_url": value})) == []


@pytest.mark.parametrize("cut", [9, 12, 15])
def test_a_picture_that_is_cut_has_no_pixels(cut: int) -> None:
    data = b64encode(png(320, 200)[:cut] + bytes(60)).decode()
    assert [one.width for one in pictures_in(data)] in ([None], [])
