"""Which heads of HTTP/2 cannot be passed on."""

import pytest

from turntape.proxy.layers.http2_heads import odd_answer, odd_request


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


@pytest.mark.parametrize("path", [b"/a b", b"/a\tb", b"/a\r\nX:y", b"/a\nb", b"/a\0b", b"a", b"http://h/"])
def test_a_path_that_would_be_another_line_is_refused(path: bytes) -> None:
    assert odd_request([(b":method", b"POST"), (b":path", path)]) == f"the path {path!r} is not one of HTTP/2"


@pytest.mark.parametrize("path", [b"/", b"*", b"/caf\xe9?q=\xff", b"//a;b?c=/d#e"])
def test_any_other_path_is_passed_on(path: bytes) -> None:
    assert odd_request([(b":method", b"POST"), (b":path", path)]) is None
