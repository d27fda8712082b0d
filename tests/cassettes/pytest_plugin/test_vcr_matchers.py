"""What a matcher of a suite ignores, found by trying it."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from turntape.cassettes.pytest_plugin.vcr_matchers import Matcher, ignored_by

BODY = {"model": "m", "stream": False, "messages": [{"role": "user", "content": "hi", "name": "a"}], "a/b": {"c": [1]}}


def asked(body: object) -> Any:
    return SimpleNamespace(body=json.dumps(body).encode())


def read(request: Any) -> dict[str, Any]:
    return json.loads(request.body)


def messages(one: Any, other: Any) -> bool:
    first, second = ([(m["role"], m["content"]) for m in read(each)["messages"]] for each in (one, other))
    return first == second


def everything(one: Any, other: Any) -> bool:
    return read(one) == read(other)


def nothing(one: Any, other: Any) -> None:
    """A matcher that says no by an error never does."""


def streamed(one: Any, other: Any) -> bool:
    return messages(one, other) and read(one).get("stream", False) == read(other).get("stream", False)


@pytest.mark.parametrize(
    ("matcher", "expected"),
    [
        (messages, ["/model", "/stream", "/a~1b", "/messages/*/name"]),
        (streamed, ["/model", "/a~1b", "/messages/*/name"]),
        (everything, []),
        (nothing, [""]),
    ],
)
def test_what_may_be_missing_and_other_is_ignored(matcher: Matcher, expected: list[str]) -> None:
    assert ignored_by([matcher], [asked(BODY)]) == expected


def test_what_one_request_or_one_matcher_needs_is_not_ignored() -> None:
    two = {"messages": [{"role": "user", "content": "a"}, {"role": "tool", "content": "b", "name": "kept"}]}

    def named(one: Any, other: Any) -> bool:
        return read(one)["messages"][-1].get("name") == read(other)["messages"][-1].get("name")

    assert ignored_by([messages, named], [asked(two)]) == []
    assert ignored_by([messages], [asked(two), asked(BODY)]) == ["/messages/*/name", "/model", "/stream", "/a~1b"]


def test_requests_that_show_nothing_give_none() -> None:
    def refuses(one: Any, other: Any) -> bool:
        raise AssertionError

    assert ignored_by([messages], [asked([]), SimpleNamespace(body=None)]) is None
    assert ignored_by([refuses], [asked(BODY)]) is None
