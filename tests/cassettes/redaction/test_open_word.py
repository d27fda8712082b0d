"""How many of the last messages of a session wait, because a key may be spelled out in them."""

import orjson
import pytest

from turntape.cassettes.redaction.open_word import OpenWord
from turntape.cassettes.tape.model import Frame, Side


def frame(event: object, sender: Side = "server", *, text: bool = True) -> Frame:
    return Frame(sender, 0, event if isinstance(event, bytes) else orjson.dumps(event), text)


def delta(piece: str) -> Frame:
    return frame({"type": "response.output_text.delta", "delta": piece})


def live(piece: str) -> Frame:
    """As Gemini Live sends it: JSON in a binary message, without a type."""
    return frame({"serverContent": {"modelTurn": {"parts": [{"text": piece}]}}}, text=False)


def waiting(*frames: Frame) -> list[int]:
    """How many wait after each message."""
    word = OpenWord()
    found: list[int] = []
    for one in frames:
        word.add(one)
        found.append(word.waiting)
    return found


@pytest.mark.parametrize("piece", [delta, live])
@pytest.mark.parametrize(
    ("pieces", "counts"),
    [
        (("Hello", ", wor", "ld. "), [1, 1, 0]),
        (("sk-ant", "-api03-", "abc", " is it"), [1, 2, 3, 1]),
        (("a b", "c", "", "d e "), [1, 2, 3, 0]),
        (("", " "), [0, 0]),
        (("x" * 400, "y" * 400, "z" * 200, "z"), [1, 2, 3, 0]),
        (("a", "x" * 401, "b "), [1, 2, 0]),
    ],
)
def test_a_message_waits_until_its_word_ends(piece: object, pieces: tuple[str, ...], counts: list[int]) -> None:
    assert waiting(*(piece(one) for one in pieces)) == counts  # type: ignore[operator]


@pytest.mark.parametrize(
    "last",
    [
        frame({"type": "response.output_text.done", "text": "sk-ant"}),
        frame({"type": "response.done", "response": {"output": []}}),
        frame({"serverContent": {"turnComplete": True}}),
        frame(b"not JSON"),
        frame([1]),
        frame(7),
        frame({"type": 1, "delta": 2}),
        frame({"a": {"b": {"c": {"d": {"e": {"f": {"g": {"delta": "x"}}}}}}}}),
    ],
)
def test_another_message_of_the_server_ends_the_word(last: Frame) -> None:
    assert waiting(delta("sk-"), delta("ant"), last) == [1, 2, 0]


def test_messages_of_the_client_in_between_wait_too() -> None:
    sound = frame({"type": "input_audio_buffer.append", "audio": "UklG"}, "client")

    assert waiting(sound, delta("sk-"), sound, delta("ant "), sound) == [0, 1, 2, 0, 0]


def test_not_too_many_wait() -> None:
    assert waiting(delta("a"), *(delta("") for _ in range(300)))[254:258] == [255, 256, 0, 0]
