"""Pictures and files in a few words."""

from base64 import b64encode

import pytest
from judged import anthropic, asked, words

from turntape.inspector.analysis.pictures import Picture
from turntape.inspector.views.text.picture_words import kind_words, picture_words
from turntape.inspector.views.text.run_text import show_text
from turntape.inspector.wire.values import Part

GIF = b64encode(b"GIF89a" + (640).to_bytes(2, "little") + (480).to_bytes(2, "little") + bytes(90)).decode()
INLINE = {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": GIF}}
AWAY = {"type": "image", "source": {"type": "url", "url": "https://files.example/plan.png"}}


@pytest.mark.parametrize(
    ("picture", "text"),
    [
        (Picture("image/png", "A" * 4000, 1024, 768), "png, 1,024 × 768 pixels, 3.0 kB"),
        (Picture("application/pdf", "A" * 4000), "application/pdf, 3.0 kB"),
    ],
)
def test_a_picture_is_its_type_its_pixels_and_its_size(picture: Picture, text: str) -> None:
    assert picture_words(picture) == text


def test_a_part_without_a_picture_is_only_its_kind() -> None:
    assert kind_words(Part("media", "", raw=AWAY)) == "[media]"
    assert kind_words(Part("media", "", raw=[INLINE, INLINE])) == (
        "[media: gif, 640 × 480 pixels, 100 B; gif, 640 × 480 pixels, 100 B]"
    )


def test_show_says_which_pictures_were_sent_and_not_their_base64() -> None:
    trips = [anthropic([asked(words("What is it?"), INLINE, AWAY)], [words("A plan.")])]

    short, whole = ("\n".join(show_text(trips, width=100, turn=turn)) for turn in (None, 1))
    assert "user: [media: gif, 640 × 480 pixels, 100 B]" in short and "user: [media]" in short
    assert "[media: gif, 640 × 480 pixels, 100 B]" in whole and "characters of base64" in whole
    assert GIF[-20:] not in short + "".join(line.strip() for line in whole.splitlines())
