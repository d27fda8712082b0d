"""A secret that is written in pieces is found: over the events of a stream, and with escapes between its letters."""

import json
import re

import pytest

from turntape.cassettes import Frame, Redactor, Request, Response, RoundTrip
from turntape.cassettes.redaction import spelled_out
from turntape.cassettes.redaction.body_search import Spans

LONG = "abcDEF123456ghiJKL789012mnoPQR345678stuVWX"
KEY = f"sk-ant-api03-{LONG}"
TEXT = f"Your key is {KEY}, keep it."


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def sse(events: list[object]) -> bytes:
    return b"".join(b"data: " + json.dumps(event, separators=(",", ":")).encode() + b"\n\n" for event in events)


def chat(part: str, index: int = 0) -> object:
    return {"id": "a", "object": "chat.completion.chunk", "choices": [{"index": index, "delta": {"content": part}}]}


STREAMS = {
    "chat": lambda part: chat(part),
    "messages": lambda part: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}},
    "arguments": lambda part: {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": part},
    },
    "responses": lambda part: {"type": "response.output_text.delta", "output_index": 0, "delta": part},
    "gemini": lambda part: {"candidates": [{"content": {"parts": [{"text": part}], "role": "model"}, "index": 0}]},
    "ollama": lambda part: {"model": "m", "message": {"role": "assistant", "content": part}, "done": False},
}


def answer(body: bytes, content_type: str = "text/event-stream") -> bytes:
    response = Response(200, "OK", (("content-type", content_type),), body)
    trip = Redactor(salt="s").round_trip(RoundTrip(Request("POST", "https://a.example"), response, 1.0))
    assert trip.response is not None
    return trip.response.body


def joined(body: bytes, field: str) -> str:
    """The values of a field, one after the other."""
    found: list[str] = []

    def look(value: object) -> None:
        if isinstance(value, dict):
            found.extend(item for name, item in value.items() if name == field and isinstance(item, str))
            for item in value.values():
                look(item)
        elif isinstance(value, list):
            for item in value:
                look(item)

    for line in body.splitlines():
        if line.strip():
            look(json.loads(line.removeprefix(b"data: ")))
    return "".join(found)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 30])
@pytest.mark.parametrize("name", STREAMS)
def test_a_key_over_several_events_is_masked_as_in_one_text(name: str, size: int) -> None:
    events = [STREAMS[name](part) for part in pieces(TEXT, size)]
    field = {"messages": "text", "arguments": "partial_json", "responses": "delta", "gemini": "text"}.get(
        name, "content"
    )
    body = sse(events)

    clean = answer(body)

    assert len(clean) == len(body)
    assert joined(clean, field) == Redactor(salt="s").body(TEXT.encode()).decode()


def test_a_key_over_lines_of_json_is_masked() -> None:
    body = b"".join(json.dumps(STREAMS["ollama"](part)).encode() + b"\n" for part in pieces(TEXT, 4))

    assert LONG not in joined(answer(body, "application/x-ndjson"), "content")


def test_each_choice_of_an_answer_is_a_text_of_its_own() -> None:
    parts = pieces(TEXT, 5)
    other = pieces("nothing secret is said here at all, as it should be.", 4)
    events = [
        event for one, two in zip(parts, [*other, *[""] * 9], strict=False) for event in (chat(one), chat(two, 1))
    ]

    clean = answer(sse(events))

    texts = joined(clean, "content")
    assert LONG[:12] not in texts and clean.count(b"REDACTED") <= 1
    assert all(json.dumps(part).encode() in clean for part in other)


@pytest.mark.parametrize("form", ["choice", "block"])
@pytest.mark.parametrize("size", [4, 13, 26])
def test_a_key_is_masked_when_the_stream_begins_with_it_and_with_its_index(form: str, size: int) -> None:
    events: list[object] = [
        {"choices": [{"index": 0, "delta": {"content": part}}]}
        if form == "choice"
        else {"index": 0, "delta": {"content": part}}
        for part in pieces(KEY, size)
    ]

    clean = answer(sse(events))

    assert joined(clean, "content") == Redactor(salt="s").body(KEY.encode()).decode() != KEY


def test_a_key_whose_first_event_is_long_enough_alone_leaves_no_rest() -> None:
    first, rest = f"the key: {KEY[:40]}", f"{KEY[40:]} ok"
    clean = answer(sse([chat(first), chat(rest), chat(" end")]))

    assert KEY[40:] not in joined(clean, "content")


def test_an_id_that_every_event_repeats_is_left() -> None:
    body = sse([{"id": f"sk-{LONG[:10]}", "n": number, "delta": word} for number, word in enumerate("abc")])

    assert answer(body) == body


def test_ordinary_streams_are_left() -> None:
    body = sse(
        [chat(part) for part in pieces("The task-force met; risk-averse people asked for a token of trust. " * 20, 3)]
    )

    assert answer(body) == body


def test_a_password_over_several_events_is_found_by_its_name() -> None:
    text = 'run: export DB_PASSWORD="Tr0ub4dor-and-3" now'
    clean = answer(sse([chat(part) for part in pieces(text, 3)]))

    assert "Tr0ub4dor" not in joined(clean, "content")


@pytest.mark.parametrize("name", STREAMS)
def test_a_password_in_one_event_is_found_by_a_name_over_several(name: str) -> None:
    parts = ['{"passwo', 'rd": "mellon"', ', "user', '": "gandalf"}']
    clean = answer(sse([STREAMS[name](part) for part in parts]))

    assert b"mellon" not in clean
    assert b"gandalf" in clean


def test_a_key_over_several_websocket_messages_is_masked() -> None:
    def frames(sender: str, parts: list[str]) -> list[Frame]:
        return [
            Frame(sender, 1, json.dumps({"type": "response.output_text.delta", "delta": part}).encode(), True)  # pyright: ignore[reportArgumentType]
            for part in parts
        ]

    mixed = [
        frame
        for pair in zip(frames("server", pieces(TEXT, 6)), frames("client", pieces("x" * 99, 9)), strict=False)
        for frame in pair
    ]
    trip = RoundTrip(Request("GET", "https://a.example"), None, 1.0, frames=tuple(mixed))

    clean = Redactor(salt="s").round_trip(trip).frames

    assert [len(frame.data) for frame in clean] == [len(frame.data) for frame in mixed]
    assert [frame for frame in clean if frame.sender == "client"] == mixed[1::2]
    assert LONG[:12] not in "".join(json.loads(frame.data)["delta"] for frame in clean if frame.sender == "server")


def in_json(text: str, letters: str, depth: int = 1) -> str:
    """`text` as JSON with an escape for each of these letters."""
    said = json.dumps({"c": text})
    for letter in letters:
        said = said.replace(letter, f"\\u{ord(letter):04x}")
    return said if depth == 1 else json.dumps({"d": said})


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("letters", ["-", "E", "-aX7", "s"])
def test_a_key_with_json_escapes_is_masked(letters: str, depth: int) -> None:
    text = in_json(f"it is {KEY} ok", letters, depth)

    clean = Redactor(salt="s").body(text.encode())

    value = json.loads(clean)
    said = json.loads(value["d"])["c"] if depth == 2 else value["c"]
    assert said.startswith("it is REDACTED-") and said.endswith(" ok")
    assert len(clean) == len(text)


def test_a_percent_encoded_key_is_masked() -> None:
    body = f"q=is%20{KEY.replace('-', '%2D')}&x=%41bc".encode()

    clean = Redactor(salt="s").body(body)

    assert LONG.encode() not in clean and clean.startswith(b"q=is%20REDACTED-") and clean.endswith(b"&x=%41bc")
    assert len(clean) == len(body)


def test_escapes_without_a_secret_stay() -> None:
    for text in ('{"c":"caf\\u00e9 \\u0041bc \\u002d x"}', "a%2Fb%2Dc%41", "100%2Bmore", "\\u0041", "%41"):
        assert Redactor().body(text.encode()).decode() == text


def test_many_escapes_are_put_together_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret is found wherever a part ends, and what is held does not grow with the body."""
    monkeypatch.setattr(spelled_out, "_MOST_AT_ONCE", 1200)
    monkeypatch.setattr(spelled_out, "_AGAIN", 600)
    held: list[int] = []

    def search(text: bytes) -> Spans:
        held.append(len(text))
        return {match.start(): (match.end(), 0) for match in re.finditer(rb"sk-[a-z]{30}", text)}

    secret = b"sk-" + b"abcdefghij" * 3
    for before in range(0, 1300, 37):
        text = b"%41" * before + b"".join(b"%%%02x" % letter for letter in secret) + b"%42" * 900
        start = 3 * before

        found = list(spelled_out.escaped(text, search))

        assert {places for places, _ in found} == {((start, start + 3 * len(secret)),)}
    assert max(held) < 2000
