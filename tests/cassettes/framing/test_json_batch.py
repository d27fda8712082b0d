"""The messages of a JSON-RPC batch keep their bytes; anything else is one message."""

import pytest

from turntape.cassettes.framing import batch, messages


@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        (b' [ {"a": 1} , {"b":"],["}]', [b'{"a": 1}', b'{"b":"],["}']),
        (b'[{"a":1}]', [b'{"a":1}']),
        (b'[{"a":1},2,"x"]', [b'{"a":1}', b"2", b'"x"']),
        (b"[]", None),
        (b"[1", None),
        (b'{"a":[1]}', None),
        (b"text [1]", None),
        (b"", None),
    ],
)
def test_the_parts_of_an_array(raw: bytes, parts: list[bytes] | None) -> None:
    assert batch(raw) == parts
    assert messages(raw) == (parts or [raw])
