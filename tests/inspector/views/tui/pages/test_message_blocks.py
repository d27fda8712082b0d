"""Messages as blocks."""

from base64 import b64encode

import pytest

from turntape.inspector.views.tui.pages.message_blocks import message_blocks, new_note
from turntape.inspector.wire.values import Message, Part, ToolResult

GIF = b64encode(b"GIF89a" + (1024).to_bytes(2, "little") + (768).to_bytes(2, "little") + bytes(90)).decode()


@pytest.mark.parametrize(
    ("new", "sent", "note"),
    [
        (1, 0, "1 message"),
        (2, 0, "2 messages"),
        (2, 1, "2 messages; 1 was sent before"),
        (0, 2, "0 messages; 2 were sent before"),
        (1, 1234, "1 message; 1,234 were sent before"),
    ],
)
def test_new_and_earlier_messages_are_counted(new: int, sent: int, note: str) -> None:
    assert new_note(new, sent) == note


def test_a_picture_is_named_with_its_type_its_pixels_and_its_size() -> None:
    raw = {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": GIF}}
    message = Message("user", (Part("media", "/messages/0/content/0", "[image]", raw=raw),), "/messages/0")

    (block,) = message_blocks(message, {}, 0, None)
    assert [text for text, _ in block.title_at(80)] == ["user", "  [media]", "  gif, 1,024 × 768 pixels, 100 B"]


@pytest.mark.parametrize("lead", ["", "data:image/gif;base64,"])
def test_the_base64_of_a_picture_is_not_shown(lead: str) -> None:
    raw = {"type": "image", "source": {"media_type": "image/gif", "data": f"{lead}{GIF}"}, "more": ["detail", 1]}
    message = Message("user", (Part("media", "/messages/0/content/0", "[image]", raw=raw),), "/messages/0")

    (block,) = message_blocks(message, {}, 0, None)
    assert block.body is not None
    shown = "".join(text for line in block.body(200) for text, _ in line)
    assert f'"{lead}{GIF[:16]}… ({len(GIF)} characters of base64)"' in shown
    assert GIF[:20] not in shown and "detail" in shown and raw["source"]["data"].endswith(GIF), (
        "the request is as it was"
    )


def test_a_result_says_which_pictures_it_brings() -> None:
    raw = {"type": "tool_result", "content": [{"type": "image", "source": {"data": GIF}}]}
    part = Part("result", "/messages/0/content/0", result=ToolResult("call_1", "look", False, "[image]"), raw=raw)

    (block,) = message_blocks(Message("tool", (part,), "/messages/0"), {}, 0, None)
    assert block.title_at(80)[-1][0] == "  gif, 1,024 × 768 pixels, 100 B"
