"""Values without their texts, whatever type holds them."""

from collections.abc import Callable, Sequence

import pytest

from turntape.inspector.views.report.neutral.neutral_values import NeutralValues
from turntape.inspector.wire.shared_tuple import sharing
from turntape.inspector.wire.values import Message, Part

SAID = "the wombat sleeps"


def message() -> Message:
    return Message("user", (Part("text", "/messages/0/content", text=SAID, raw=SAID),), "/messages/0")


@pytest.mark.parametrize("many", [tuple, list, sharing])
def test_no_sequence_keeps_a_text(many: Callable[[list[Message]], Sequence[Message]]) -> None:
    (kept,) = NeutralValues().value(many([message()]))

    assert SAID not in repr(kept) and len(kept.parts[0].text) == len(SAID)


def test_a_type_that_may_hold_a_text_and_is_not_known_is_not_shown() -> None:
    with pytest.raises(TypeError, match="may hold a text"):
        NeutralValues().value({SAID})
