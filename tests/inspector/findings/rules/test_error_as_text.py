import pytest
from conversations import HELLO, chat, said
from judged import lines


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("503 Service Unavailable", True),
        ("upstream error: HTTP 502 Bad Gateway", True),
        ("The server said `500 Internal Server Error` and no more.", False),
        ('It returned "404: Bad Request" twice.', False),
        ("You got 429 Too Many Requests, so wait a minute.", False),
    ],
)
def test_a_status_of_which_the_answer_speaks_is_not_its_text(text: str, found: bool) -> None:
    assert bool(lines(chat([HELLO], said(text)), only="error-as-text")) is found
