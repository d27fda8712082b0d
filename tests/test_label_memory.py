"""What labelling a long text takes of memory, in bytes of that text."""

import json
import tracemalloc

import orjson
import pytest
from conversations import chat, result, said, user
from judged import anthropic, asked, gemini, responses, turn, with_answer, words

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import label_all

TIMES = 6
"""A body, its value, and what is made of it for a moment. A list of its words alone is ten times the text."""
SIZE = 1_500_000
KINDS = {
    "prose": "the tape is a strip of brown plastic. ",
    "lines": "x = 1\n",
    "numbers": "0.25, ",
    "paths": "/src/tape/reel.py:12: error\n",
    "JSON": '{"reel": [1, 2]} ',
    "escapes": "\\u00e9\\n",
    "bytes": "<0x0A>",
    "blanks": "\u2581tape x\u2581",
    "entities": "&lt;a&gt; ",
    "base64": "iVBORw0KGgoAAAANSUhEUgAA",
}


def trips(text: str) -> dict[str, RoundTrip]:
    call = ("call_1", "look_up", '{"word":"tape"}')
    counts = {"input_tokens": 400, "output_tokens": 9}
    return {
        "chat": chat([user(text)], said("yes"), usage=(400, 9)),
        "result": chat([user("look it up"), said(None, call), result("call_1", text)], said("yes"), usage=(400, 9)),
        "anthropic": with_answer(anthropic([asked(text)], [words("yes")]), usage=counts),
        "gemini": gemini([turn("user", {"text": text})], [{"text": "yes"}]),
        "responses": with_answer(responses([user(text)], []), usage={**counts, "total_tokens": 409}),
    }


def loaded(text: bytes | bytearray | memoryview | str) -> object:
    """Like orjson, which asks for twelve times the text and uses little of it."""
    try:
        return json.loads(bytes(text) if isinstance(text, memoryview) else text)
    except ValueError as exc:
        raise orjson.JSONDecodeError(str(exc), "", 0) from exc


@pytest.mark.parametrize(
    ("kind", "place"), [*((kind, "chat") for kind in KINDS), *(("prose", place) for place in list(trips(""))[1:])]
)
def test_a_long_text_takes_a_few_times_its_size(kind: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = trips(KINDS[kind] * (SIZE // len(KINDS[kind])))[place]
    label_all(trips("short").values())  # the tables and the rules are loaded
    monkeypatch.setattr(orjson, "loads", loaded)
    tracemalloc.start()
    try:
        label_all([one])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < TIMES * len(one.request.body)
