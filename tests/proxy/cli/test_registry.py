"""The list of commands agrees with the modules, and loads only what is used."""

import subprocess
import sys
from pathlib import Path

import pytest

from turntape.proxy.cli import commands
from turntape.proxy.cli.registry import COMMANDS, entry, load, nearest


def test_every_module_is_listed_once() -> None:
    folder = Path(next(iter(commands.__path__)))
    modules = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")

    assert sorted(one.module for one in COMMANDS) == modules
    assert len({one.name for one in COMMANDS}) == len(COMMANDS)


@pytest.mark.parametrize("one", COMMANDS, ids=lambda one: one.name)
def test_a_module_holds_its_command(one) -> None:
    command = load(one)

    assert command.usage.startswith(f"turntape {one.name} ")
    assert command.description.endswith(".")
    assert callable(command.main)


def test_commands_are_found_by_name() -> None:
    assert entry("show") is COMMANDS[[one.name for one in COMMANDS].index("show")]
    assert entry("shw") is None
    assert (nearest("shw"), nearest("xyzzy")) == ("show", None)


def modules_after(*argv: str) -> set[str]:
    code = f"from turntape.proxy.cli import main\ntry: main({list(argv)!r})\nexcept SystemExit: pass"
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('MODULES', *sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return set(shown.rpartition("MODULES")[2].split())


def test_the_first_screen_imports_no_command() -> None:
    loaded = modules_after("--help")

    assert not {name for name in loaded if name.startswith("turntape.proxy.cli.commands")}
    assert not {"asyncio", "json", "subprocess", "decimal", "turntape.cassettes.tape.reader"} & loaded


@pytest.mark.parametrize("one", COMMANDS, ids=lambda one: one.name)
def test_the_help_of_a_command_imports_only_its_own_module(one) -> None:
    """So no heavy library, and nothing that another system does not have."""
    loaded = modules_after(one.name, "--help")

    assert {name for name in loaded if name.startswith("turntape.proxy.cli.commands.")} == {
        f"turntape.proxy.cli.commands.{one.module}"
    }
    assert not {"asyncio", "fcntl", "termios", "mitmproxy", "textual", "pydantic"} & loaded
    launch = {name for name in loaded if name.startswith("turntape.proxy.launch.")}
    assert launch <= {"turntape.proxy.launch.terminal"}
