"""The wrapper's command line."""

import pytest

from turntape.proxy.tool_wire.client_configs.wrapper import for_files, for_run, unwrapped

OWN = ["npx", "-y", "server", "--", "mcp"]


@pytest.mark.parametrize("wrapper", [for_files(), for_run("/run/link"), for_run("/run/link", "r1")])
@pytest.mark.parametrize("name", ["a", None])
def test_the_own_command_comes_last_and_can_be_had_back(wrapper: object, name: str | None) -> None:
    words = wrapper.wrapped(name, OWN)  # type: ignore[attr-defined]

    assert words[-len(OWN) - 1 :] == ["--", *OWN]
    assert unwrapped(words) == OWN


def test_a_run_is_named_with_its_address() -> None:
    words = for_run("/run/link", "r1").words("files")

    assert words[words.index("mcp") :] == ["mcp", "--name", "files", "--link", "/run/link", "--run", "r1", "--"]


def test_the_servers_environment_does_not_reach_our_interpreter() -> None:
    assert for_run("x").words(None)[1:4] == ["-E", "-P", "-m"]


def test_a_wrapped_command_gets_the_new_wrapper_only() -> None:
    wrapped = for_files().wrapped("a", OWN)

    assert for_run("x").wrapped("a", wrapped) == for_run("x").wrapped("a", OWN)


@pytest.mark.parametrize("command", [OWN, ["turntape", "run", "--", "x"], ["mcp", "--", "x"], ["/bin/turntape"], []])
def test_other_commands_are_not_taken_for_ours(command: list[str]) -> None:
    assert unwrapped(command) == command
