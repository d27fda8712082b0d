"""The short way from the command line to the wrapper, and what it imports."""

import subprocess
import sys

import pytest

from turntape.proxy.tool_wire.wrapper import parsed


def test_the_arguments_of_a_configuration_are_read() -> None:
    found = parsed(["--name", "a", "--link=unix:/x", "--run", "r", "-o", "f", "--", "srv", "--name", "z"])

    assert found is not None
    assert (found.name, found.link, found.run, found.output) == ("a", "unix:/x", "r", "f")
    assert found.command == ["srv", "--name", "z"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["wrap", "f"],
        ["wrap", "--", "f"],
        ["--name", "--"],
        ["--name", "a", "--"],
        ["--nam", "a", "--", "x"],
        ["-o=f", "--", "x"],
        [],
    ],
)
def test_everything_else_is_left_to_the_parser_of_the_command(arguments: list[str]) -> None:
    assert parsed(arguments) is None


def test_the_wrapper_imports_nothing_heavy() -> None:
    """Its start counts against the client's limit for the start of a server."""
    code = """
import sys
from turntape.proxy.cli import main
main(["mcp", "--link", "unix:/nowhere/link", "--", sys.executable, "-c", ""])
print(*sys.modules)
"""
    # The server's end closes stdout, so the modules are printed to stderr.
    code = code.replace("print(*sys.modules)", "print('MODULES', *sys.modules, file=sys.stderr)")
    shown = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stderr
    loaded = set(shown.rpartition("MODULES")[2].split())

    heavy = {
        "argparse",
        "asyncio",
        "dataclasses",
        "inspect",
        "logging",
        "orjson",
        "pydantic",
        "subprocess",
        "mitmproxy",
    }
    assert "turntape.proxy.tool_wire.posix_relay" in loaded
    assert not heavy & loaded
    assert not {name for name in loaded if name.startswith(("turntape.cassettes", "turntape.inspector"))}
