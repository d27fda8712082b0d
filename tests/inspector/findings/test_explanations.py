"""A rejection that speaks of one thing is not caused by a finding about another."""

from typing import Any

import pytest
from conversations import HELLO, chat, result, said
from judged import judged

from turntape.inspector.findings.explanations import may_explain
from turntape.inspector.findings.finding import Finding
from turntape.inspector.findings.rejections import Rejection

FIELDS = ("model", "messages", "temperature", "top_p", "tools", "reasoning")


def found(name: str, *evidence: str, because_of: tuple[str, ...] = ()) -> Finding:
    return Finding(name, "client", "warning", "P", "x", evidence, because_of=because_of)


@pytest.mark.parametrize(
    ("finding", "rejected", "explains"),
    [
        (
            found("client-role-order", "#1 request /messages/4"),
            Rejection(("client-role-order",), "x", "/messages/9"),
            True,
        ),
        (found("client-role-order", "#1 request /messages/4"), Rejection(("client-unsupported-param",), "x"), False),
        (found("client-role-order", "#1 request /messages/4"), Rejection(("client-missing-tool-result",), "x"), True),
        (found("client-role-order", "#1 request /messages/4"), Rejection((), "x", "/messages/4/content"), True),
        (found("client-role-order", "#1 request /messages/4/content/0"), Rejection((), "x", "/messages/5"), True),
        (found("client-role-order", "#1 request /messages/4"), Rejection((), "x", "/messages/1/content"), False),
        (found("client-role-order", "#1 request /messages/4"), Rejection((), "x", "/tools/4"), False),
        (
            found("client-poisoned-history", "#1 request", because_of=("client-unsupported-param",)),
            Rejection(("client-unsupported-param",), "x"),
            True,
        ),
        (found("client-role-order", "#1 request"), Rejection((), "x", "/messages/1/content"), True),
        (found("client-role-order", "#1 request /messages/4"), Rejection((), "use temperature or top_p"), False),
        (found("client-unsupported-param", "#1 request /top_p"), Rejection((), "use temperature or top_p"), True),
        (found("client-role-order", "#1 request /messages/4"), Rejection((), "the messages of this model"), True),
        (found("client-role-order", "#1 request /messages/4"), Rejection((), "its reasoning is missing"), True),
        (found("client-role-order", "#1 request /messages/4"), Rejection((), "Bad request"), True),
    ],
)
def test_what_may_explain_a_rejection(finding: Finding, rejected: Rejection, explains: bool) -> None:
    assert may_explain(finding, rejected, FIELDS) == explains


@pytest.mark.parametrize(
    ("sentence", "cause"),
    [
        ("`temperature` and `top_p` cannot both be specified for this model.", []),
        ("Provider returned error", ["client-orphan-tool-result"]),
    ],
)
def test_the_cause_of_a_rejection_is_what_it_speaks_of(sentence: str, cause: list[str]) -> None:
    more: dict[str, Any] = {"temperature": 0.1, "top_p": 0.2, "status": 400, "error": {"error": {"message": sentence}}}
    one = chat([HELLO, said("Hm."), result("c9", "1"), HELLO], **more)
    [rejected] = [one for one in judged(one) if one.id == "request-rejected"]

    assert list(rejected.because_of) == cause
