"""What a round trip outside generation was for, in words."""

import pytest

from turntape.inspector.views.vocabulary.endpoints import endpoint_words
from turntape.inspector.wire.values import Kind


@pytest.mark.parametrize(
    ("kind", "words"), [("embeddings", "embeddings"), ("count_tokens", "count tokens"), ("other", "endpoint")]
)
def test_the_kind_is_said_and_the_protocol_where_there_is_none(kind: Kind, words: str) -> None:
    assert endpoint_words(kind, "endpoint") == words
