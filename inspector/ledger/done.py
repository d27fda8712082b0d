"""What a call did, in a few words: `bash: pytest -q`, `read_file: src/login.py`."""

from ..wire.json_value import as_array, as_object, as_text
from ..wire.printable import safe
from ..wire.values import ToolCall

SHOWN = 80
"""At most this many characters of an argument or a text are in a name."""
_SAYING = (
    "command",
    "cmd",
    "file_path",
    "path",
    "filename",
    "file",
    "url",
    "uri",
    "query",
    "q",
    "pattern",
    "description",
    "task",
    "prompt",
    "question",
    "name",
    "input",
    "code",
)
"""The arguments that best say what a call does, the best first."""


def what_was_done(call: ToolCall) -> str:
    """The tool's name, and the argument that says most."""
    argument = _argument(call.arguments)
    return f"{call.name}: {argument}" if argument else call.name


def _argument(arguments: object) -> str:
    fields = as_object(arguments)
    for key in (*(name for name in _SAYING if name in fields), *fields):
        words = as_array(fields[key])
        found = as_text(fields[key]) or (" ".join(filter(None, map(as_text, words))) if words else "")
        if found.strip():
            return begins(found)
    return ""


def begins(text: str) -> str:
    """How a text begins, in one line."""
    line = " ".join(safe(text[: 4 * SHOWN]).split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
