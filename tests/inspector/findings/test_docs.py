"""Every class can be looked up, and a name that is none suggests the nearest."""

import re

import pytest

from turntape.inspector.findings.docs import GROUPS, FailureClass, class_of, classes, explained, overview, unknown
from turntape.inspector.findings.examples import EXAMPLES
from turntape.inspector.findings.rules import ALL
from turntape.inspector.views.text.terminal_text import plain, width_of


def shown(name: str, width: int = 80) -> str:
    one = class_of(name)
    assert one is not None
    return "\n".join(plain(line) for line in explained(one, width))


def test_every_class_is_listed_once_under_its_group() -> None:
    lines = [plain(line) for line in overview(200)]

    assert {one.id for one in classes()} == {rule.id for rule in ALL}
    for one in classes():
        assert sum(f" {one.id} " in line for line in lines) == 1
    assert {one.group for one in classes()} == set(GROUPS)


@pytest.mark.parametrize("width", [40, 80, 160])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = [plain(line) for line in overview(width)]
    lines += [line for one in classes() for line in shown(one.id, width).splitlines()]

    assert max(width_of(line) for line in lines) <= width


def test_a_class_says_layer_severity_tier_what_it_spares_and_the_fix() -> None:
    text = " ".join(shown("client-missing-tool-result").split())

    for piece in (
        "without a result for a call",
        "client: what was sent",
        "severity error",
        "P, proven by the bytes",
        "protocols all",
        "not when The API's own tools",
        "fix Always append a result",
    ):
        assert piece in text


def test_a_class_that_must_be_asked_for_says_how() -> None:
    assert "only with --hints" in shown("model-ping-pong")
    assert "only with --lint" in shown("string-wants-enum")
    assert "openai-chat, openai-responses" in shown("strict-not-set")
    assert "asked for" not in shown("client-max-iterations"), "found without hints too, more surely"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("client-mising-tool-result", "'client-missing-tool-result'"),
        ("MODEL-REFUSAL", "'model-refusal'"),
        ("api-stream-cutt", "'api-stream-cut'"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(name: str, nearest: str) -> None:
    assert f"the nearest is {nearest}" in unknown(name)


def test_a_name_that_is_like_nothing_suggests_nothing() -> None:
    assert "nearest" not in unknown("qqqqqqq")


@pytest.mark.parametrize("one", classes(), ids=lambda one: one.id)
def test_every_class_shows_what_it_looks_like(one: FailureClass) -> None:
    assert one.example is not None, "add what it looks like to inspector/findings/examples.py"
    assert one.example.message
    assert one.example.evidence
    assert all(re.match(r"#\d+ \S", place) for place in one.example.evidence)
    assert one.example.message[:30] in " ".join(shown(one.id).split())


def test_no_example_is_of_a_class_that_is_gone() -> None:
    assert set(EXAMPLES) <= {one.id for one in classes()}
