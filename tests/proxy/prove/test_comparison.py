"""Which differences HTTP forces, and which nothing explains."""

import pytest

from turntape.proxy.prove.comparison import compare, differences
from turntape.proxy.prove.messages import Fields, Message
from turntape.proxy.prove.report import Proof, lines
from turntape.proxy.prove.wire import Exchange

OK = Message("HTTP/1.1 200 OK", (("content-type", "text/plain"),), b"abcd", (2, 2), (), 0)


def asked(target: str, *fields: tuple[str, str], body: bytes = b"{}", order: int = 0, answer: Message = OK) -> Exchange:
    return Exchange(Message(f"POST {target} HTTP/1.1", fields, body, (), (), 0), answer, order, "")


def seen(before: Exchange, behind: Exchange) -> list[tuple[str, bool]]:
    return [(one.what, one.why is not None) for one in differences(before, behind)]


@pytest.mark.parametrize(
    ("sent", "arrived", "forced"),
    [
        ("/openai/v1/chat/completions", "/v1/chat/completions", True),
        ("/s/night%201/openai/v1/chat/completions?a=1", "/v1/chat/completions?a=1", True),
        ("/anthropic/messages", "/v1/messages", True),
        ("/anthropic/v1/v1/messages", "/v1/messages", True),
        ("http://llm.corp/v1/messages", "/v1/messages", True),
        ("/v1/messages", "/under/v1/messages", True),
        ("/openai/v1/chat/completions?a=1", "/v1/chat/completions", False),
        ("/openai/v1/chat/completions", "/v1/responses", False),
        ("/openai/v1/models/a", "/v1/models/A", False),
        ("//[", "//[::", False),
    ],
)
def test_a_path_may_change_only_as_the_route_says(sent: str, arrived: str, forced: bool) -> None:
    assert seen(asked(sent), asked(arrived)) == [("request line", forced)]


@pytest.mark.parametrize(
    ("sent", "arrived", "found"),
    [
        ((("Host", "a"),), (("Host", "a"),), []),
        ((("Proxy-Connection", "keep-alive"), ("A", "1")), (("A", "1"),), [("field proxy-connection", True)]),
        ((("Host", "127.0.0.1:1"),), (("Host", "api"),), [("field host", False)]),
        ((("X-Key", "1"),), (("X-Key", "2"),), [("field x-key", False)]),
        ((("X-Key", "1"),), (), [("field x-key", False)]),
        ((("X-Key", "1"),), (("x-key", "1"),), [("order or spelling of the fields", False)]),
        ((("A", "1"), ("B", "2")), (("B", "2"), ("A", "1")), [("order or spelling of the fields", False)]),
        ((("A", "1"), ("A", "2")), (("A", "1"),), [("field a", False)]),
    ],
)  # fmt: skip
def test_fields_may_change_only_between_two_ends_of_a_connection(
    sent: Fields, arrived: Fields, found: list[tuple[str, bool]]
) -> None:
    assert seen(asked("/v1/x", *sent), asked("/v1/x", *arrived)) == found


def test_the_host_of_the_base_url_is_explained() -> None:
    found = seen(asked("/openai/v1/x", ("Host", "127.0.0.1:1")), asked("/v1/x", ("Host", "api")))

    assert found == [("request line", True), ("field host", True)]


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (Message("HTTP/1.1 500 OK", OK.fields, b"abcd", (2, 2), (), 0), "status line"),
        (Message(OK.first, (), b"abcd", (2, 2), (), 0), "field content-type"),
        (Message(OK.first, OK.fields, b"abcx", (2, 2), (), 0), "body"),
        (Message(OK.first, OK.fields, b"abcd", (4,), (), 0), "chunks"),
        (Message(OK.first, OK.fields, b"abcd", (2, 2), (("t", "1"),), 0), "trailers"),
    ],
)
def test_no_difference_in_an_answer_is_explained(answer: Message, what: str) -> None:
    assert seen(asked("/v1/x", answer=answer), asked("/v1/x")) == [(what, False)]


def test_a_chunk_may_be_split_and_not_joined() -> None:
    split = Message(OK.first, OK.fields, b"abcd", (2, 1, 1), (), 0)
    moved = Message(OK.first, OK.fields, b"abcd", (1, 3), (), 0)

    assert seen(asked("/v1/x", answer=split), asked("/v1/x")) == [("chunks", True)]
    assert seen(asked("/v1/x", answer=moved), asked("/v1/x")) == [("chunks", False)]


def test_a_client_that_left_early_has_read_the_beginning() -> None:
    left = Message(OK.first, OK.fields, b"abc", (2, 1), (), 0, whole=False)
    other = Message(OK.first, OK.fields, b"abX", (2, 1), (), 0, whole=False)

    assert seen(asked("/v1/x", answer=left), asked("/v1/x")) == []
    assert ("body", False) in seen(asked("/v1/x", answer=other), asked("/v1/x"))


def test_exchanges_find_their_other_half_by_what_was_asked() -> None:
    before = [asked("/openai/v1/x", body=b"1", order=0), asked("/openai/v1/x", body=b"2", order=2),
              asked("/openai/v1/x", body=b"3", order=4)]  # fmt: skip
    behind = [asked("/v1/x", body=b"2", order=3), asked("/v1/x", body=b"1", order=5)]

    found = compare(before, behind)

    assert [one.behind and one.behind.request.body for one in found] == [b"1", b"2", None]


def test_the_report_says_what_was_proven_what_was_forced_and_what_differs() -> None:
    good = compare([asked("/openai/v1/x", ("Host", "us"))], [asked("/v1/x", ("Host", "api"), order=1)])
    bad = compare([asked("/v1/x", ("X-Key", "secret"))], [asked("/v1/x", order=1)])

    seen = "\n".join(lines(Proof(tuple(good), {}), colour=False))
    assert "proven for 1 request:" in seen
    assert "forced 1 × request field host: us → api" in seen
    proof = Proof(tuple(bad), {"llm.corp": 2})
    seen = "\n".join(lines(proof, colour=False))
    assert not proof.holds
    assert "not proven: 1 difference that nothing explains" in " ".join(seen.split())
    assert "DIFFERS 1 × request field x-key: present → absent" in seen
    assert "secret" not in seen
    assert "llm.corp (2×)" in seen
    assert "nothing to prove" in lines(Proof((), {}), colour=False)[0]
