"""`turntape explain` shows every class in full, within the width of the terminal."""

import pytest

from turntape.inspector.findings.docs import GROUPS, FailureClass, class_of, classes
from turntape.inspector.findings.rules import RULES
from turntape.inspector.views.text.explain_text import explained, overview
from turntape.inspector.views.text.terminal_text import plain, width_of


def shown(name: str, width: int = 80) -> str:
    one = class_of(name)
    assert one is not None
    return "\n".join(plain(line) for line in explained(one, width))


def test_every_class_is_listed_once_under_its_group() -> None:
    lines = [plain(line) for line in overview(200)]

    assert {one.id for one in classes()} == {rule.id for rule in RULES}
    for one in classes():
        assert sum(f" {one.id} " in line for line in lines) == 1
    assert {one.group for one in classes()} == set(GROUPS)


@pytest.mark.parametrize("width", [40, 80, 160])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = [plain(line) for line in overview(width)]
    lines += [line for one in classes() for line in shown(one.id, width).splitlines()]

    assert max(width_of(line) for line in lines) <= width


def test_a_class_says_layer_severity_tier_its_exceptions_and_the_fix() -> None:
    text = " ".join(shown("client-missing-tool-result").split())

    for piece in (
        "no result for a call",
        "client: what was sent",
        "severity error",
        "P, proven by the bytes",
        "protocols all",
        "not when The API ran the tool itself; the API holds",
        "fix Append a result",
    ):
        assert piece in text


def test_a_class_that_needs_an_option_names_it() -> None:
    assert "only with --hints" in shown("model-ignored-tool-error")
    assert "only with --lint" in shown("string-wants-enum")
    assert "openai-chat, openai-responses" in shown("strict-not-set")
    assert "only with" not in shown("client-max-iterations"), "it is always on"


@pytest.mark.parametrize("one", classes(), ids=lambda one: one.id)
def test_every_class_shows_its_example(one: FailureClass) -> None:
    assert one.example is not None
    assert one.example.message[:30] in " ".join(shown(one.id).split())
