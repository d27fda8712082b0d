"""Which heads of HTTP/2 cannot be passed on."""

import pytest

from turntape.proxy.layers.http2_heads import odd_answer


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ([(b":status", b"200"), (b"x", b":y")], None),
        ([(b":status", b"999")], None),
        ([(b":status", b"2_0")], "its :status is '2_0', not a number"),
        ([(b":status", b"\xff")], "its :status is '\\\\xff', not a number"),
        ([(b":status", b"")], "its :status is '', not a number"),
        ([(b"x", b"y")], "it has no :status"),
        ([(b":status", b"200"), (b":path", b"/")], "it has ':path' beside :status"),
    ],
)
def test_an_answer_needs_a_status_that_is_a_number(fields: list[tuple[bytes, bytes]], why: str | None) -> None:
    assert odd_answer(fields) == why
