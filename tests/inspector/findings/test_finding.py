"""A finding, and the words of its message."""

import pytest

from turntape.inspector.findings.finding import Finding, became

FOUND = Finding(
    "request-rejected", "client", "error", "P", "no", ("#0 request",), "fix", ("a",), ("api-invalid-request",)
)


@pytest.mark.parametrize(
    ("was", "now", "text"),
    [
        ("a", "b", "'a' became 'b'"),
        ("", "It is 07:01.", "'It is 07:01.' was added"),
        (" ", "b", "'b' was added"),
        ("a", "", "'a' was removed"),
    ],
)
def test_a_change_from_or_to_nothing_is_named_so(was: str, now: str, text: str) -> None:
    assert became(was, now) == text


def test_a_finding_is_written_and_read_again_with_its_former_ids() -> None:
    assert Finding.from_json(FOUND.as_json()) == FOUND
    assert FOUND.names == ("request-rejected", "api-invalid-request")
    old = {key: value for key, value in FOUND.as_json().items() if key != "aliases"}
    assert Finding.from_json(old).aliases == ()
