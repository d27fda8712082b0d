"""Calls in the words of a person."""

from itertools import pairwise
from typing import Any

import pytest

from turntape.inspector.analysis.call_words import begins, call_words, main_argument, piece_words, short_words
from turntape.inspector.wire.json_value import compact
from turntape.inspector.wire.values import Message, Part, ToolCall, ToolResult


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


# fmt: off
BEST_FIRST = [
    "command", "cmd", "commands", "shell_command", "script",
    "file_path", "filepath", "path", "notebook_path", "target_file", "filename", "file", "files", "paths",
    "url", "uri", "query", "pattern", "regex", "q",
    "task", "description", "title", "subject", "name", "message", "prompt", "other",
]
# fmt: on


@pytest.mark.parametrize(("better", "worse"), pairwise(BEST_FIRST))
def test_the_key_decides_which_argument_is_the_main_one(better: str, worse: str) -> None:
    assert main_argument(call("tool", {worse: "no", better.upper().replace("_", "-"): "yes"})) == "yes"


@pytest.mark.parametrize("shell", ["bash", "/bin/sh", "/usr/bin/zsh", "powershell", "pwsh", "cmd"])
def test_a_shell_in_front_of_a_list_of_words_is_left_out(shell: str) -> None:
    assert main_argument(call("shell", {"command": [shell, "-c", "ls", "-l"]})) == "ls -l"
    assert main_argument(call("shell", {"command": [shell, "-c"]})) == f"{shell} -c"
    assert main_argument(call("shell", {"command": [shell, "run", "it"]})) == f"{shell} run it"


def test_another_program_in_front_of_a_list_of_words_stays() -> None:
    assert main_argument(call("shell", {"command": ["ls", "-l", "src"]})) == "ls -l src"
    assert main_argument(call("shell", {"command": [["ls"], 3]})) == ""


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ('  {"path": "a.py", "mode": "w', "a.py"),
        ('["a", "b', ""),
        ("  ls -l", "ls -l"),
        ("", ""),
        ('{"content": "' + "x" * 639 + '", "path": "a.py"', "x" * 159 + "…"),
    ],
)
def test_what_is_not_json_is_the_argument_and_what_was_cut_is_searched_for_pairs(raw: str, words: str) -> None:
    found = main_argument(call("tool", None, raw))

    assert found == (words if len(raw) < 600 else "")


LOOK = ToolCall("look_up", "call_1", {"word": "tape"}, '{"word":"tape"}')


@pytest.mark.parametrize(
    ("role", "part", "words"),
    [
        ("tool", Part("result", "", "x", result=ToolResult("call_1", None, False, "x")), "look_up tape"),
        ("tool", Part("result", "", "x", result=ToolResult("other", "reel", False, "x")), "reel"),
        ("tool", Part("result", "", "x", result=ToolResult("other", None, False, "x")), "a tool's result"),
        ("assistant", Part("call", "", "", call=LOOK), "call of look_up"),
        ("system", Part("text", "", "Be kind."), "system prompt"),
        ("developer", Part("text", "", "Be kind."), "system prompt"),
        ("assistant", Part("text", "", "Fine."), "answer sent back"),
        ("user", Part("text", "", "Hi"), "user message"),
        ("user", Part("media", "", "[image]"), "media"),
    ],
)
def test_a_part_of_a_request_in_a_few_words(role: Any, part: Part, words: str) -> None:
    assert piece_words(Message(role, (part,), ""), part, {"call_1": LOOK}) == words


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

    assert len(found) == 160
    assert found.endswith("…")


def test_a_command_line_needs_no_tool_name() -> None:
    assert short_words(call("bash", {"command": "cat build.log"})) == "cat build.log"
    assert short_words(call("read_file", {"path": "a.py"})) == "read_file a.py"


def test_a_long_text_is_cut_and_on_one_line() -> None:
    assert begins("a\nb") == "a b"
    assert len(begins("x" * 500)) == 80
    assert begins("x" * 500).endswith("…")
