"""What the client gives back as results, and how the context grows with it."""

from dataclasses import replace

import pytest
from conversations import CALL, HELLO, chat, result, said
from judged import anthropic, asked, given, ids, judged, only, spoke, steps, use, words

from turntape.cassettes.tape.model import RoundTrip

ASKED = {"role": "user", "content": "what is a tape?"}
FAILURES = ["Error: no such word", "Traceback (most recent call last):\n  x", '{"error": "no such word"}']


@pytest.mark.parametrize("text", FAILURES)
def test_an_error_that_is_not_marked_as_one_is_reported(text: str) -> None:
    opened, history = anthropic([ASKED], [use()]), [ASKED, spoke(use())]

    assert "client-tool-error-as-success" in ids(
        opened, anthropic([*history, asked(given(text=text))], [words("x")], 1)
    )
    marked = anthropic([*history, asked(given(text=text, is_error=True))], [words("x")], 1)
    assert "client-tool-error-as-success" not in ids(opened, marked)


def test_an_api_without_a_mark_makes_it_a_word_and_no_warning() -> None:
    first = said(None, CALL)
    following = chat([HELLO, first, result("call_1", FAILURES[0])], said("x"), index=1)

    assert only("client-tool-error-as-success", chat([HELLO], first), following).severity == "info"


def test_a_log_that_speaks_of_failures_is_not_a_failure() -> None:
    call = use(name="read_log")
    text = "12:01 the charge failed\n12:02 HTTP 500"
    opened = anthropic([ASKED], [call], tools=())
    following = anthropic([ASKED, spoke(call), asked(given(text=text))], [words("x")], 1, tools=())

    assert "client-tool-error-as-success" not in ids(opened, following)


@pytest.mark.parametrize(("size", "huge"), [(60_000, True), (20_000, False)])
def test_a_result_that_takes_up_much_of_the_window_is_reported_once(size: int, huge: bool) -> None:
    first = said(None, CALL)
    history = [HELLO, first, result("call_1", "x" * size)]
    last = chat([*history, said("a"), {"role": "user", "content": "b"}], said("c"), index=2)

    reported = judged(chat([HELLO], first), chat(history, said("a"), index=1), last)

    assert [one.at for one in reported if one.id == "client-huge-tool-result"] == ([1] if huge else [])


def test_one_empty_result_says_nothing_and_the_next_does() -> None:
    assert "client-empty-tool-result" not in ids(*steps(2, answer="[]"))
    assert only("client-empty-tool-result", *steps(3, answer="[]")).at == 2


def test_a_context_that_grows_tenfold_is_reported() -> None:
    trips = steps(14, word=None)
    grown = [chat_with(trip, 3_000 * (n + 1)) for n, trip in enumerate(trips)]

    assert "client-context-growth" in ids(*grown)
    assert "client-context-growth" not in ids(*(chat_with(trip, 30_000) for trip in trips))


def chat_with(trip: RoundTrip, tokens: int) -> RoundTrip:
    assert trip.response is not None
    body = trip.response.body.replace(b'"prompt_tokens":100', f'"prompt_tokens":{tokens}'.encode())
    body = body.replace(b'"total_tokens":110', f'"total_tokens":{tokens + 10}'.encode())
    return replace(trip, response=replace(trip.response, content=body))


def test_a_picture_that_every_request_carries_is_reported_at_the_third() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "QUJD" * 40_000}
    picture = {"role": "user", "content": [words("look"), {"type": "image", "source": source}]}
    history = [picture]
    trips = []
    for n in range(3):
        trips.append(anthropic(history, [use(f"toolu_{n}", str(n))], n))
        history = [*history, spoke(use(f"toolu_{n}", str(n))), asked(given(f"toolu_{n}"))]

    assert only("client-image-or-blob-resent", *trips).at == 2
