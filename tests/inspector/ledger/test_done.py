"""What a call did, in a few words."""

import pytest

from turntape.inspector.ledger.done import SHOWN, begins, what_was_done
from turntape.inspector.wire.values import ToolCall


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("bash", {"timeout": 5, "command": "pytest  -q\n"}, "bash: pytest -q"),
        ("read_file", {"limit": "20", "path": "src/login.py"}, "read_file: src/login.py"),
        ("shell", {"command": ["git", "status"]}, "shell: git status"),
        ("odd", {"strange": "value"}, "odd: value"),
        ("count", {"n": 3}, "count"),
        ("empty", {"command": " "}, "empty"),
        ("broken", None, "broken"),
        ("list", ["a"], "list"),
    ],
)
def test_the_argument_that_says_most_is_named(name: str, arguments: object, words: str) -> None:
    assert what_was_done(ToolCall(name, "1", arguments, "")) == words


def test_a_long_text_is_cut_and_in_one_line() -> None:
    assert begins("a\nb") == "a b"
    assert len(begins("x" * 500)) == SHOWN
    assert begins("x" * 500).endswith("…")
