"""Messages as blocks."""

import pytest

from turntape.inspector.views.tui.pages.message_blocks import new_note


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
