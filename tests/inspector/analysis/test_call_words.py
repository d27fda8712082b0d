"""Calls in the words of a person."""

import pytest

from turntape.inspector.analysis.call_words import LONGEST, SHOWN, begins, call_words, main_argument, short_words
from turntape.inspector.wire.json_value import compact
from turntape.inspector.wire.values import ToolCall


def call(name: str, arguments: object, raw: str | None = None) -> ToolCall:
    return ToolCall(name, "call_1", arguments, compact(arguments) if raw is None else raw)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("bash", {"command": "pytest -q", "timeout": 3}, "bash pytest -q"),
        ("read_file", {"limit": 20, "path": "src/login.py"}, "read_file src/login.py"),
        ("Read", {"file_path": "/srv/app/a.py", "offset": 1}, "Read /srv/app/a.py"),
        ("Bash", {"description": "Run the tests", "command": "pytest"}, "Bash pytest"),
        ("Task", {"description": "Read the logs", "prompt": "Please read"}, "Task Read the logs"),
        ("shell", {"command": ["bash", "-lc", "ls -l"]}, "shell ls -l"),
        ("shell", {"command": ["ls", "-l"]}, "shell ls -l"),
        ("bash", {"command": "cd /srv/app && make test"}, "bash make test"),
        ("search", {"deep": True, "q": "trains"}, "search trains"),
        ("generate_email", {"company": "Acme Corp", "tone": "formal"}, "generate_email Acme Corp"),
        ("wait", {"seconds": 5}, "wait 5"),
        ("TodoWrite", {"todos": [{"content": "a"}]}, "TodoWrite"),
        ("now", {}, "now"),
        ("bash", {"command": "echo a\n\techo b"}, "bash echo a echo b"),
    ],
)
def test_the_main_argument_is_shown(name: str, arguments: object, words: str) -> None:
    assert call_words(call(name, arguments)) == words


def test_a_patch_is_named_by_its_files() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n*** Add File: b.py\n+y\n*** End Patch"

    assert call_words(call("apply_patch", None, patch)) == "apply_patch a.py, b.py"
    assert call_words(call("apply_patch", {"input": patch})) == "apply_patch a.py, b.py"


def test_arguments_that_were_cut_show_what_is_whole() -> None:
    cut = '{"content": "import os", "path": "src/a.py", "mode": "overwr'

    assert call_words(call("write_file", None, cut)) == "write_file src/a.py"
    assert call_words(call("write_file", None, '{"content": "imp')) == "write_file"


def test_arguments_that_are_text_are_shown_as_they_are() -> None:
    assert main_argument(call("python", None, "print(1)")) == "print(1)"


def test_control_characters_never_reach_a_terminal() -> None:
    assert "\x1b" not in call_words(call("ba\x1bsh", {"command": "echo \x1b[31mred"}))


def test_a_long_argument_ends_in_an_ellipsis() -> None:
    found = main_argument(call("bash", {"command": "x" * 1000}))

    assert len(found) == LONGEST
    assert found.endswith("…")


def test_a_command_line_needs_no_tool_name() -> None:
    assert short_words(call("bash", {"command": "cat build.log"})) == "cat build.log"
    assert short_words(call("read_file", {"path": "a.py"})) == "read_file a.py"


def test_a_long_text_is_cut_and_on_one_line() -> None:
    assert begins("a\nb") == "a b"
    assert len(begins("x" * 500)) == SHOWN
    assert begins("x" * 500).endswith("…")
