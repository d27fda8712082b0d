"""Compares a text that a test made with the approved file next to it, and shows the difference."""

import difflib
import re
from pathlib import Path

from turntape.cassettes.regex import regex

from ..findings.docs import class_of

_FINDING = regex(r"^(  ! .*\[)([\w-]+)\]$", re.MULTILINE)
"""The line of a finding, up to its id; the id."""
_SUFFIXES = (".cassette.jsonl.zst", ".cassette.jsonl", ".jsonl.zst", ".jsonl")


def trajectory_path(cassette: Path) -> Path:
    """The file of a cassette's approved trajectory."""
    suffix = next((suffix for suffix in _SUFFIXES if cassette.name.endswith(suffix)), "")
    return cassette.with_name(f"{cassette.name.removesuffix(suffix)}.trajectory.txt")


def write_trajectory(cassette: Path) -> Path:
    """Write the trajectory of a recording beside it, where it differs from what is there; the file.

    Raises CassetteError for a file that is not a cassette, and when a symbolic link is in the place of the trajectory.
    """
    from turntape.cassettes.tape.named_file import not_a_link
    from turntape.cassettes.tape.reader import Cassette

    from ..run.labels import label_all
    from ..views.text.trajectory_text import trajectory

    path, text = not_a_link(trajectory_path(cassette)), trajectory(label_all(Cassette.load(cassette)))
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


def approve(path: Path, text: str, *, write: bool) -> str | None:
    """None when `text` equals the content of `path`, or was just written to it; otherwise the difference as text."""
    if write:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return None
    if not path.exists():
        return (
            f"turntape: there is no approved trajectory {str(path)!r}; read the one below, and approve it with "
            f"--turntape-approve\n\n{text}"
        )
    approved = _with_current_ids(path.read_text(encoding="utf-8"))
    if approved == text:
        return None
    lines = difflib.unified_diff(
        approved.splitlines(), text.splitlines(), f"approved {path.name}", "this run", lineterm="", n=2
    )
    shown = "\n".join(lines)
    return f"turntape: the trajectory is not the approved one; approve it with --turntape-approve\n\n{shown}"


def _with_current_ids(text: str) -> str:
    """An approved text as it would be written today: a class may have got another id since then."""

    def current(line: re.Match[str]) -> str:
        known = class_of(line[2])
        return f"{line[1]}{known.id if known else line[2]}]"

    return _FINDING.sub(current, text)
