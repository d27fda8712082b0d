"""What a call does, in the few words that a person would use: `bash pytest -q`, `read_file src/login.py`.

The words are the tool's name and its main argument: the command, the file, the address, the task. No tool is known by
name. The argument is chosen by its key, since clients give the same keys to the same things.
"""

import re
from collections.abc import Mapping

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ..wire.json_value import as_object, is_array
from ..wire.printable import safe
from ..wire.values import Message, Part, ToolCall

LONGEST = 160
"""At most this many characters of an argument are kept."""
SHOWN = 80
"""At most this many characters of a text are in a name."""
_COMMANDS = ("command", "cmd", "commands", "shell_command", "script")
_MAIN = (
    *_COMMANDS,
    "file_path", "filepath", "path", "notebook_path", "target_file", "filename", "file", "files", "paths",
    "url", "uri", "query", "pattern", "regex", "q",
    "task", "description", "title", "subject", "name", "message", "prompt",
)  # fmt: skip
"""Keys of main arguments, the best first."""
_TEXTS = {"system": "system prompt", "developer": "system prompt", "assistant": "answer sent back"}
"""Names of texts by role."""
_SHELLS = frozenset({"bash", "sh", "zsh", "powershell", "pwsh", "cmd"})
_FOLDER = regex(r"^\s*cd\s+\S+\s*(?:&&|;)\s*")
_PAIR = regex(r'"([\w-]+)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_PATCHED = regex(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)


def call_words(call: ToolCall) -> str:
    """The tool's name and its main argument; only the name when no argument says more."""
    main = main_argument(call)
    return f"{safe(call.name)} {main}" if main else safe(call.name)


def short_words(call: ToolCall) -> str:
    """As `call_words`, but a command line is alone: `cat build.log`, without the name of the shell tool."""
    main = main_argument(call)
    if main and any(key in as_object(call.arguments) for key in _COMMANDS):
        return main
    return call_words(call)


def main_argument(call: ToolCall) -> str:
    """The argument that says what the call does, on one line; empty when there is none."""
    raw = call.arguments_raw
    if call.arguments is None and raw.lstrip()[:1] not in ("{", "["):
        return _line(_text(raw))
    # Arguments that were cut: the pairs at their beginning are whole.
    arguments = as_object(call.arguments) or dict(_PAIR.findall(raw[: 4 * LONGEST]))
    by_key = {key.lower().replace("-", "_"): value for key, value in arguments.items()}
    chosen = (text for key in _MAIN if (text := _line(_text(by_key.get(key)))))
    return next(chosen, "") or next((text for value in arguments.values() if (text := _line(_text(value)))), "")


def _text(value: object) -> str:
    """A scalar, or a command as a list of words; empty for what has no short text."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, str):
        patched = _PATCHED.findall(value) if value.lstrip().startswith("*** Begin Patch") else []
        return ", ".join(patched) if patched else value
    if isinstance(value, int | float):
        return str(value)
    if is_array(value) and value and all(isinstance(word, str) for word in value):
        words = [str(word) for word in value]
        if len(words) > 2 and words[0].rpartition("/")[2] in _SHELLS and words[1].startswith("-"):
            words = words[2:]
        return " ".join(words)
    return ""


def _line(text: str) -> str:
    """The text on one line, without the `cd` before a command, and not longer than `LONGEST`."""
    text = " ".join(safe(_FOLDER.sub("", text[: 4 * LONGEST])).split())
    return cut(text, LONGEST)


def piece_words(message: Message, part: Part, calls: Mapping[str | None, ToolCall]) -> str:
    """A part of a request in a few words; a tool's result by what its call did."""
    if part.result is not None:
        call = calls.get(part.result.call_id)
        if call is not None:
            return short_words(call)
        return safe(part.result.name or "a tool's result")
    if part.call is not None:
        return f"call of {safe(part.call.name)}"
    if part.kind == "text":
        return _TEXTS.get(message.role, f"{message.role} message")
    return part.kind


def begins(text: str) -> str:
    """How a text begins, on one line."""
    line = " ".join(safe(text[: 4 * SHOWN]).split())
    return cut(line, SHOWN)
