"""The tokens that an answer lists with their probabilities."""

import pytest

from turntape.inspector.wire.token_texts import from_byte_level, token_bytes


def test_the_tokens_of_all_bodies_are_joined_in_order() -> None:
    token = {"token": "A", "logprob": -1, "top_logprobs": [{"token": "B", "logprob": -2}]}
    first = {"choices": [{"logprobs": {"content": [token]}}]}
    second = {"choices": [{"logprobs": {"content": [{"token": "x", "logprob": 0.0, "bytes": [195, 188]}]}}]}

    assert token_bytes([first, None, second]) == "A\u00fc".encode()


@pytest.mark.parametrize(
    "body",
    [
        {}, {"content": []}, {"content": [{"token": "A"}]}, {"content": [{"token": 5, "logprob": -1}]},
        {"content": [{"token": "token_id:5", "logprob": -1}]},
        {"content": [{"token": "bytes:\\xf0\\x9f", "logprob": -1}]},
        {"content": [{"token": "A", "logprob": -1, "bytes": [300]}]},
    ],
)  # fmt: skip
def test_tokens_without_a_text_are_unknown(body: object) -> None:
    assert token_bytes([body]) is None


def test_letters_of_a_vocabulary_are_bytes() -> None:
    assert from_byte_level("OkayĊtheĠuser,Ã¼".encode()) == "Okay\nthe user,ü".encode()
    assert from_byte_level(b"two words") == b"", "a space that is a space is text"
    assert from_byte_level("Zürich €".encode()) == b""
