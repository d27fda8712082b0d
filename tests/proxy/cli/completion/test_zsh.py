"""Completion in a real zsh, in a pseudo-terminal, since zsh completes only at its prompt."""

import os
import pty
import select
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from turntape.proxy.cli.completion.words import commands
from turntape.proxy.cli.completion.zsh import script

pytestmark = pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh on this machine")

PATIENCE = 60
SETUP = (
    "unsetopt zle_bracketed_paste; PROMPT=''; autoload -U compinit; compinit -u -D; source ./turntape.zsh; "
    # A key that shows the line, so that the test sees what Tab made of it, and empties it.
    "show-line() { print; print -r -- \"<$BUFFER>\"; BUFFER= }; zle -N show-line; bindkey '^X' show-line; "
    "setopt no_auto_menu no_list_beep; print rea''dy\n"
)


class Zsh:
    def __init__(self, folder: Path) -> None:
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            ["zsh", "-f", "-i"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env={**os.environ, "TERM": "dumb", "HOME": str(folder), "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )
        os.close(slave)
        os.write(self._master, SETUP.encode())
        self._until(b"ready")

    def completed(self, line: str) -> str:
        """The line after Tab."""
        os.write(self._master, line.encode() + b"\t\x18")
        seen = self._until(b">")
        while b"<turntape" not in seen:
            seen += self._until(b">")
        return seen.rpartition(b"<")[2].partition(b">")[0].decode()

    def _until(self, end: bytes) -> bytes:
        seen = b""
        while end not in seen:
            assert select.select([self._master], [], [], PATIENCE)[0], seen
            seen += os.read(self._master, 65536)
        return seen

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)


@pytest.fixture(scope="module")
def zsh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zsh]:
    folder = tmp_path_factory.mktemp("zsh")
    (folder / "turntape.zsh").write_text(script(commands(["api-pause", "client-loop"])))
    (folder / "abc.cassette.jsonl").touch()
    (folder / "xyz").mkdir()
    shell = Zsh(folder)
    yield shell
    shell.close()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("turntape sho", "turntape show "),
        ("turntape --deb", "turntape --debug "),
        ("turntape --debug sho", "turntape --debug show "),
        ("turntape show --hin", "turntape show --hints "),
        ("turntape show --form", "turntape show --format="),
        ("turntape show --format j", "turntape show --format json "),
        ("turntape show --format=j", "turntape show --format=json "),
        ("turntape show a", "turntape show abc.cassette.jsonl "),
        ("turntape show -o a", "turntape show -o abc.cassette.jsonl "),
        ("turntape import x --out-dir x", "turntape import x --out-dir xyz/"),
        ("turntape completion f", "turntape completion fish "),
        ("turntape explain a", "turntape explain api-pause "),
        ("turntape check x --only c", "turntape check x --only client-loop "),
        ("turntape run --replay x --rou", "turntape run --replay x --route="),
        ("turntape fork a", "turntape fork abc.cassette.jsonl "),
        ("turntape run -- cat a", "turntape run -- cat abc.cassette.jsonl "),
        ("turntape run -- --ro", "turntape run -- --ro"),
    ],
)
def test_the_last_word_is_completed(line: str, expected: str, zsh: Zsh) -> None:
    assert zsh.completed(line) == expected
