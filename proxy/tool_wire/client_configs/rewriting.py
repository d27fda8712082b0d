"""Wrapping the servers in a configuration file permanently, and undoing it.

Only the commands change. Everything else, comments and layout too, stays byte for byte, and unwrapping a file that
nobody else has changed restores it exactly.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen

from . import json_text, toml_text
from .nodes import Entry, NotParsed, quoted
from .wrapper import Wrapper, only_records, words_before


@frozen
class Rewritten:
    """A configuration with its new text."""

    before: str
    after: str
    changed: tuple[str, ...]
    """The servers that changed."""
    as_they_were: tuple[str, ...]
    """The servers that needed no change."""


def wrap_text(text: str, wrapper: Wrapper, *, toml: bool = False) -> Rewritten:
    """All servers that are commands, with the wrapper in front. Raises `NotParsed`.

    A server that is wrapped already stays as it is, unless `wrapper` has options and it was wrapped with others.
    """

    def is_stale(entry: Entry) -> bool:
        words = entry.all_words
        others = words[: words_before(words)] != wrapper.words(entry.name)
        return bool(wrapper.options) and others and only_records(words)

    plain = _rewritten(text, toml, is_stale, _unwrapping)
    new = _rewritten(plain.after, toml, lambda entry: not _is_wrapped(entry), partial(_wrapping, wrapper=wrapper))
    return replace(new, before=text)


def unwrap_text(text: str, *, toml: bool = False) -> Rewritten:
    """All servers without the wrapper. Raises `NotParsed`."""
    return _rewritten(text, toml, _is_wrapped, _unwrapping)


def rewrite(path: Path, wrapper: Wrapper | None, *, dry_run: bool = False) -> Rewritten:
    """Wrap the servers in a file, or unwrap them with `wrapper=None`. Raises `TurntapeError`, and changes nothing then.

    The file is replaced in one step, and keeps its permissions.
    """
    shown = str(path)
    try:
        path = path.resolve(strict=True)
        text = path.read_bytes().decode("utf-8")
    except OSError as exc:
        raise TurntapeError(f"cannot read {shown!r}: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise TurntapeError(f"{shown!r} is not UTF-8 text, so it was left as it is") from exc
    toml = path.suffix == ".toml"
    try:
        new = wrap_text(text, wrapper, toml=toml) if wrapper else unwrap_text(text, toml=toml)
        if wrapper and unwrap_text(new.after, toml=toml).after != unwrap_text(text, toml=toml).after:
            raise NotParsed("its servers are written in a way that could not be restored")
    except NotParsed as exc:
        kind = "TOML" if toml else "JSON"
        raise TurntapeError(f"{shown!r} cannot be read as {kind}: {exc}; it was left as it is") from exc
    if not new.changed and not new.as_they_were:
        raise TurntapeError(
            f"{shown!r} has no tool server that is started as a command; `turntape run` records one over HTTP as it is"
        )
    if new.changed and not dry_run:
        _replace(path, new.after)
    return new


type Edit = tuple[int, int, str]
"""What is put in place of `text[start:end]`."""


def _is_wrapped(entry: Entry) -> bool:
    return words_before(entry.all_words) > 0


def _rewritten(
    text: str, toml: bool, wanted: Callable[[Entry], bool], edits_of: Callable[[str, Entry], list[Edit]]
) -> Rewritten:
    found = toml_text.entries(text) if toml else json_text.entries(text)
    changed = [entry for entry in found if wanted(entry)]
    edits = [edit for entry in changed for edit in edits_of(text, entry)]
    after = text
    for start, end, new in sorted(edits, reverse=True):
        after = after[:start] + new + after[end:]
    kept = tuple(entry.name for entry in found if entry not in changed)
    return Rewritten(text, after, tuple(entry.name for entry in changed), kept)


def _wrapping(text: str, entry: Entry, wrapper: Wrapper) -> list[Edit]:
    words = [quoted(word) for word in wrapper.words(entry.name)]
    if items := entry.command.words():
        return [(items[0].start, items[0].start, "".join(f"{word}, " for word in words))]
    command, args = entry.command, entry.args
    own = text[command.start : command.end]
    more = [*words[1:], own]
    if args is None:
        # Written without spaces, so that unwrapping knows that there was no list before.
        place, new = command.end, entry.added(f"[{','.join(more)}]")
    elif items := args.words():
        place, new = items[0].start, "".join(f"{word}, " for word in more)
    else:
        place, new = args.start + 1, ", ".join(more)
    return [(command.start, command.end, words[0]), (place, place, new)]


def _unwrapping(text: str, entry: Entry) -> list[Edit]:
    ours = words_before(entry.all_words)
    if len(entry.all_words) == ours:
        raise NotParsed(f"the wrapper of {entry.name!r} has no command after `--`")
    if items := entry.command.words():
        return [(items[0].start, items[ours].start, "")]
    command, args = entry.command, entry.args
    items = (args.words() if args else None) or []
    own = items[ours - 1]  # the list begins after the program
    edits: list[Edit] = [(command.start, command.end, text[own.start : own.end])]
    if len(items) > ours:
        return [*edits, (items[0].start, items[ours].start, "")]
    alone = entry.added(f"[{','.join(text[item.start : item.end] for item in items)}]")
    if text.startswith(alone, command.end):
        return [*edits, (command.end, command.end + len(alone), "")]
    return [*edits, (items[0].start, own.end, "")]


def _replace(path: Path, text: str) -> None:
    """Raises `TurntapeError`."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
            shutil.copymode(path, name)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as exc:
        raise TurntapeError(f"cannot write {str(path)!r}: {exc.strerror}; it was left as it is") from exc
