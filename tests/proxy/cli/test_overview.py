"""The first screen."""

import re

from turntape.proxy.cli.overview import overview, version
from turntape.proxy.cli.registry import COMMANDS


def test_the_first_screen_fits_a_small_terminal_and_names_every_command() -> None:
    lines = overview(colour=False).splitlines()

    assert len(lines) <= 46
    assert max(map(len, lines)) <= 80
    assert all(any(re.match(rf"  {one.name} +{re.escape(one.summary)}$", line) for line in lines) for one in COMMANDS)


def test_colours_change_only_colours() -> None:
    assert overview(colour=True) != overview(colour=False)
    assert re.sub(r"\x1b\[\d*m", "", overview(colour=True)) == overview(colour=False)


def test_the_version_is_the_packages() -> None:
    from importlib.metadata import version as installed

    assert version() == installed("turntape")
