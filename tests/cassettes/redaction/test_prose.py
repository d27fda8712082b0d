"""What of a body is prose, and what stays."""

import base64
import json
from typing import Any

import pytest

from turntape.cassettes.redaction.prose import Prose, ProseStays, same_words, texts_in

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()
LETTER = base64.b64encode(b"Dear Zoe, the ledgers are here.").decode()


def replaced(value: Any) -> Any:
    body = json.dumps(value).encode()
    new = Prose("5a17").request(body)
    assert len(new) == len(body)
    return json.loads(new)


@pytest.mark.parametrize(
    "value",
    [
        {"id": "call_1", "type": "function", "model": "org/m-1:free", "role": "user", "n": 12345, "ok": None},
        {"signature": "EqQB/a+b==", "content": [{"type": "redacted_thinking", "data": "EmwK/a+b=="}]},
        {"source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
        {"image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
        {"parts": [{"functionResponse": {"name": "search", "id": "c-1", "response": {"n": 1}}}]},
        {"text": "… 1".replace("…", "-").replace("1", "-")},
    ],
)
def test_names_ids_signatures_and_pictures_stay(value: Any) -> None:
    assert replaced(value) == value


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Zoe Miller"},
        {"arguments": {"name": "Zoe", "id": "Miller"}},
        {"input": {"name": "Zoe"}},
        {"functionCall": {"args": {"type": "house"}}},
        {"functionResponse": {"response": {"name": "Zoe"}}},
        {"source": {"type": "base64", "media_type": "text/plain", "data": LETTER}},
        {"file_data": f"data:application/pdf;base64,{LETTER}"},
        {"new_field": "Zoe"},
        {"properties": {"house of Zoe Miller": {"type": "string"}}},
        {"arguments": '{"name": "Zoe", "of": {"x": ["Caf\\u00e9 Zoe"]}}'},
    ],
)
def test_what_a_user_or_a_model_wrote_does_not(value: Any) -> None:
    new = replaced(value)

    assert new != value and "Zoe" not in json.dumps(new) and LETTER not in json.dumps(new)


def test_arguments_stay_json_with_their_keys_and_numbers() -> None:
    new = replaced({"arguments": '{"place": "the \\"Zoë\\" house", "n": [1, 2.5, true]}'})["arguments"]

    assert json.loads(new).keys() == {"place", "n"} and json.loads(new)["n"] == [1, 2.5, True]


def test_a_text_keeps_its_host_its_tags_and_its_spelling() -> None:
    new = replaced({"url": "https://h.test/Zoe/1", "text": "<think>One two.</think>\n\n Three 😀 four"})

    assert new["url"].startswith("https://h.test/") and "Zoe" not in new["url"]
    assert new["text"].startswith("<think>") and new["text"][15:26] == "</think>\n\n "[:11]
    assert new["text"].endswith(replaced({"text": "Three 😀 four"})["text"])


def test_a_neutral_text_that_a_client_sends_back_stays() -> None:
    body = b'{"text":"Where are the ledgers?"}'
    new = Prose("5a17").request(body)

    again = Prose("5a17", texts_in(new, None))

    assert again.request(new) == new and again.request(body) == new and new != body
    assert Prose("5a18").request(body) != new


@pytest.mark.parametrize("body", [b"plain words", b'{"a": word}', b'{"prompt": [[12, 13]]}', b'{"a":"b\\', b"\xff{"])
def test_what_is_not_understood_is_refused(body: bytes) -> None:
    with pytest.raises(ProseStays):
        Prose("5a17").request(body)


def test_a_body_that_was_cut_is_replaced_up_to_its_end() -> None:
    new = Prose("5a17").request(b'{"text":"the old boat hou')

    assert new.startswith(b'{"text":"') and same_words(b"the old boat", new) is None and b"hou" not in new


def test_three_words_that_stay_are_found() -> None:
    assert same_words(b"in the old boat house", b"x the old boat y") == "the old boat"
    assert same_words(b"in the old boat house", b"the old x boat house") is None
