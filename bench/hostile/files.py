"""Recordings that were made to do harm: control sequences for the terminal, and markup for the report."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from turntape.cassettes import Recorder
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.tape.model import Request, Response, RoundTrip

from .outcome import Outcome
from .pages import chromium, dom

TERMINAL = {
    "window title": "\x1b]0;stolen\x07",
    "clear the screen": "\x1b[2J\x1b[H",
    "clipboard": "\x1b]52;c;c3RvbGVu\x07",
    "link": "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "8-bit control": "\x9b31m\x9d0;stolen\x9c",
    "back over the line": "harmless\r\b\b\b\bstolen",
    "device query": "\x1b[6n\x1b[c\x1bP+q544e\x1b\\",
    "right to left": "\u202etxt.stolen\u2066",
}
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COMMANDS = (
    *(("show",), ("show", "--turn", "1"), ("show", "--findings"), ("check",), ("diff",), ("lint",)),
    ("export", "--format", "markdown"),
)
MARKUP = {
    "script": "<script>document.title='stolen'</script>",
    "end of our script": "</script><script>document.title='stolen'</script>",
    "image": "<img src=x onerror=\"document.title='stolen'\">",
    "attribute": '" onmouseover="document.title=\'stolen\'" autofocus onfocus="document.title=\'stolen\'" x="',
    "comment": "<!--<script>document.title='stolen'//-->",
    "template": "${document.title='stolen'}`-{{constructor.constructor('document.title=`stolen`')()}}",
    "link": "javascript:document.title='stolen'",
    "svg": "<svg onload=\"document.title='stolen'\"></svg>",
}


def tape(path: Path, text: str) -> None:
    """A recording with this text in each place that a view shows."""
    tool = {"type": "function", "function": {"name": "f" + text, "description": text, "parameters": {"title": text}}}
    call = {
        "id": "c" + text,
        "type": "function",
        "function": {"name": "f" + text, "arguments": json.dumps({"a": text})},
    }
    said = {"role": "assistant", "content": text, "refusal": None, "tool_calls": [call]}
    asked = {
        "model": "m" + text,
        "tools": [tool],
        "messages": [{"role": "system", "content": text}, {"role": "user", "content": text}],
    }
    answered = {
        "id": text,
        "object": "chat.completion",
        "model": "m" + text,
        "choices": [{"index": 0, "message": said, "finish_reason": text}],
    }
    error = {"error": {"message": text, "type": text, "code": text}}
    kind = (("content-type", "application/json"), ("x-request-id", text.replace("\r", "")))
    with Recorder(path, redactor=Redactor(enabled=False)) as recorder:
        for status, body in ((200, answered), (400, error)):
            recorder.write(
                RoundTrip(
                    Request(
                        "POST", f"https://api.openai.com/v1/chat/completions?q={text}", kind, json.dumps(asked).encode()
                    ),
                    Response(status, "OK" + text, kind, content=json.dumps(body).encode()),
                    started_at=1.0,
                    run="run" + text,
                )
            )
        listed = Request("GET" + text, f"https://api.openai.com/v1/models?q={text}", kind, b"")
        recorder.write(RoundTrip(listed, Response(200, "OK", kind, content=b"{}"), started_at=2.0, run="run" + text))


def turntape(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "turntape.proxy.cli", *words], capture_output=True, check=False)


def terminals(folder: Path) -> Iterator[Outcome]:
    """No control character but the end of a line comes from a recording to the terminal."""
    for name, text in TERMINAL.items():
        path = folder / f"{name.replace(' ', '-')}.cassette.jsonl"
        tape(path, text)
        for command in COMMANDS:
            words = [command[0], str(path), *([str(path)] if command == ("diff",) else []), *command[1:]]
            done = turntape(*words)
            found = _CONTROLS.search((done.stdout + done.stderr).decode(errors="replace"))
            held = found is None and done.returncode in (0, 1)
            seen = (
                "no control character" if held else f"exit code {done.returncode}, {found.group() if found else ''!r}"
            )
            yield Outcome("recording", " ".join(command), name, held, seen)


def reports(folder: Path) -> Iterator[Outcome]:
    """No script of a recording runs in its report."""
    browser = chromium()
    for name, text in MARKUP.items():
        path, page = folder / f"{name.replace(' ', '-')}.cassette.jsonl", folder / f"{name.replace(' ', '-')}.html"
        tape(path, text)
        done = turntape("report", str(path), "-o", str(page))
        if browser is None or done.returncode:
            yield Outcome("recording", "report", name, None if browser is None else False, done.stderr.decode()[:60])
            continue
        title = re.search(r"<title>(.*?)</title>", dom(browser, page.as_uri()), re.S)
        held = title is not None and title[1] != "stolen"
        yield Outcome("recording", "report", name, held, f"title {title[1][:30]!r}" if title else "no document")
