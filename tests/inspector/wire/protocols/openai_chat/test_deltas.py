"""Pieces of a chat stream as one choice."""

import pytest

from turntape.inspector.wire.protocols.openai_chat.deltas import ChoiceDraft

SENTENCE = "A tape is a thin strip."
PIECES = ["A tape ", "is a thin", " strip."]
TWICE = "The last piece of the text repeats all pieces before it."


@pytest.mark.parametrize(
    ("pieces", "twice"),
    [
        ([*PIECES, SENTENCE], True),
        (["", *PIECES, SENTENCE, ""], True),
        (PIECES, False),
        ([*PIECES, SENTENCE, " It holds sound."], False),
        ([*PIECES, SENTENCE.upper()], False),
        (["ha ", "ha ", "ha ha "], False),
        ([SENTENCE, SENTENCE], False),
        (["A tape is a ", "strip.", "A tape is a strip."], False),
        (["A tape is a ", "thin one", "A tape is a thin one"], True),
    ],
    ids=["whole", "with empty pieces", "once", "more text", "other text", "laughter", "two pieces", "18", "20"],
)
def test_a_stream_that_ends_with_the_whole_text_again_is_a_problem(pieces: list[str], twice: bool) -> None:
    draft = ChoiceDraft()
    for piece in pieces:
        draft.add({"index": 0, "delta": {"content": piece}})

    draft.whole()

    assert draft.problems == ([TWICE] if twice else [])
