"""The command line of the wrapper in front of a tool server, and how to recognise it."""

import sys
from collections.abc import Sequence
from pathlib import Path

from turntape.cassettes.frozen import frozen

MODULE = "turntape.proxy.cli"
END = "--"
NAME = "--name"


def by_module() -> tuple[str, ...]:
    """The start of the command line in a running process: it works whatever PATH and PYTHONPATH the server gets."""
    return (sys.executable, "-E", "-P", "-m", MODULE, "mcp")


def by_program() -> tuple[str, ...]:
    """The start of the command line in a file that people read."""
    program = Path(sys.executable).with_name("turntape")
    return (str(program), "mcp") if program.is_file() else by_module()


@frozen
class Wrapper:
    """How servers are wrapped. `words` come before the server's own command."""

    start: tuple[str, ...]
    options: tuple[str, ...] = ()

    def words(self, name: str | None) -> list[str]:
        """The words in front of the command of the server that the configuration calls `name`."""
        named = [NAME, name] if name is not None else []
        return [*self.start, *named, *self.options, END]

    def wrapped(self, name: str | None, command: Sequence[str]) -> list[str]:
        """The command of a wrapped server. A command that is wrapped already gets this wrapper instead."""
        return [*self.words(name), *unwrapped(command)]


def for_run(link: str, run: str | None = None, *, play: str | None = None, live: Sequence[str] = ()) -> Wrapper:
    """The wrapper of servers that report to the recorder of a run at the address `link`.

    With `play`, the socket of a player, it starts only the servers whose names are in `live`.
    """
    played = ("--play", play, *(("--live", ",".join(live)) if live else ())) if play else ()
    return Wrapper(by_module(), ("--link", link, *(("--run", run) if run else ()), *played))


def for_files(output: str | None = None) -> Wrapper:
    """The wrapper of servers in a configuration file, which records on its own: into `output`, wherever it starts."""
    return Wrapper(by_program(), ("-o", str(Path(output).absolute())) if output else ())


def words_before(command: Sequence[str]) -> int:
    """How many words of a command belong to our wrapper; 0 when it is not wrapped."""
    words = list(command)
    if END not in words:
        return 0
    head = words[: words.index(END)]
    start = 2 if head[:1] and Path(head[0]).name in ("turntape", "turntape.exe") else 0
    if MODULE in head:
        start = head.index(MODULE) + 2
    return len(head) + 1 if start and len(head) >= start and head[start - 1] == "mcp" else 0


def only_records(command: Sequence[str]) -> bool:
    """True for a server that is wrapped to be recorded, with no options but its name and where to record."""
    options = list(command[: words_before(command)])
    options = options[options.index("mcp") + 1 : -1] if "mcp" in options else ["none"]
    return all(name in (NAME, "-o") for name in options[::2])


def unwrapped(command: Sequence[str]) -> list[str]:
    """The server's own command."""
    return list(command[words_before(command) :])
