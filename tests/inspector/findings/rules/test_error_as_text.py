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
        ("Error: You have exceeded your free tier quota. Please upgrade your plan.", True),
        ("API error: rate limit exceeded, try again in 20 s", True),
        ("Request failed: upstream timed out", True),
        ("Error: the file `a.txt` does not exist.", False),
        ("You have exceeded your quota, so upgrade your plan.", False),
        ("Error handling: retry when the rate limit is reached. " + "Then wait. " * 60, False),
        ("You got 429 Too Many Requests, so wait a minute.", False),
    ],
)
def test_a_status_of_which_the_answer_speaks_is_not_its_text(text: str, found: bool) -> None:
    assert bool(lines(chat([HELLO], said(text)), only="error-as-text")) is found


def test_an_error_that_the_user_quotes_is_not_the_answers() -> None:
    asked = {"role": "user", "content": "What does 'Error: rate limit exceeded' mean?"}

    assert lines(chat([asked], said("Error: rate limit exceeded")), only="error-as-text") == []
