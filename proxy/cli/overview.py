"""The first screen: `turntape` and `turntape --help`."""

from .registry import GROUPS


def version() -> str:
    """The installed version of turntape."""
    from importlib.metadata import version as installed

    return installed("turntape")


def overview(colour: bool) -> str:
    """What turntape is, how to start, and every command in one line."""
    bold, dim, off = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    commands = "\n\n".join(
        "\n".join((f"{bold}{title}{off}", *(f"  {bold}{one.name:10}{off} {one.summary}" for one in entries)))
        for title, entries in GROUPS
    )
    return f"""\
{bold}turntape{off}: a flight recorder for LLM agents

It records every round trip between an agent and any LLM API, shows turn by
turn what model, API and client did, and replays the recording in tests.

{bold}start here{off}
  turntape demo                     {dim}# no key, no network, under a minute{off}
  turntape run -- python agent.py   {dim}# record your own agent{off}

{commands}

usage: turntape COMMAND …; --help shows its options and the exit codes
turntape --version; --debug for tracebacks
"""
