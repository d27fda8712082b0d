"""Files in requests: what counts as one, and how it is shown."""

import base64

import pytest

from turntape.cassettes.matching.embedded_files import in_words, is_file, shown
from turntape.cassettes.matching.json_diff import Difference
from turntape.cassettes.matching.volatile_text import names_for
from turntape.cassettes.replay.difference_text import lines_of
from turntape.cassettes.replay.restamp import refusal
from turntape.cassettes.tape.model import Request, RoundTrip

ONE, OTHER = (b"\x89PNG" + letter * 400 for letter in (b"x", b"y"))
BASE64, NEW = (base64.b64encode(content).decode() for content in (ONE, OTHER))
PAIRS = [
    (BASE64, NEW),
    (f"data:image/png;base64,{BASE64}", f"data:image/png;base64,{NEW}"),
    ("data:image/gif;base64,R0lGODlhAQABAAAAACw=", "data:image/gif;base64,R0lGODlhAQABAIAAAAUEBAw="),
    (in_words(ONE), in_words(OTHER)),
]


@pytest.mark.parametrize(("recorded", "given"), PAIRS)
def test_another_file_does_not_look_new_in_each_run(recorded: str, given: str) -> None:
    one = Difference("/messages/0/content/0/source/data", "changed", recorded, given)
    trip = RoundTrip(Request("POST", "https://api.openai.com/v1/chat/completions", content=b"{}"), None, 1.0)

    assert is_file(recorded)
    assert names_for([one]) == []
    assert refusal((one,), trip) == "it was given to another file (/messages/0/content/0/source/data)"
    assert all(len(line) < 72 for line in lines_of([one]))


def test_a_file_is_shown_with_its_kind_and_size() -> None:
    said = shown(f"data:image/png;base64,{BASE64}")

    assert said.startswith("image/png, 404 bytes, digest ")
    assert shown(BASE64) == said.removeprefix("image/png, ")
    assert shown(f"data:;base64,{BASE64}") == shown(BASE64)
    assert is_file(in_words(ONE))
    assert shown(in_words(ONE)) == in_words(ONE)
    assert shown("a text") == "a text"


@pytest.mark.parametrize(
    "text", ["", None, 5, "a text " * 99, "V1StGXR8_Z5jdHi6B-myT", "it took 44 bytes, digest 496a0753da85708a in all"]
)
def test_a_text_does_not_count_as_a_file(text: object) -> None:
    assert not is_file(text)
