"""Takes the place of pytest-recording and pytest-vcr when they are turned off or not installed.

A suite that was moved still names their options in its ini file and in CI, their fixtures, marks and hook in its code.
The fixtures are in `vcr_fixtures.py`. Imported in every run of pytest, so it imports only pytest.
"""

import argparse
from contextlib import suppress
from typing import Any

import pytest

from . import vcr_fixtures

_PLUGINS = ("recording", "vcr", "pytest_recording", "pytest_recording.plugin", "pytest_vcr")
_MODES = {"none": "none", "once": "once", "new_episodes": "new", "all": "all", "rewrite": "all"}
_MODE_OPTIONS = ("--record-mode", "--vcr-record", "--vcr-record-mode")
_OTHER_OPTIONS = {
    "--block-network": "store_true",
    "--disable-recording": "store_true",
    "--disable-vcr": "store_true",
    "--allowed-hosts": "store",
}
_MARKS = ("vcr", "block_network", "default_cassette(name)", "allowed_hosts(hosts)")


def add_options(parser: pytest.Parser, manager: pytest.PytestPluginManager) -> None:
    """Take the options of these plugins when none of them does, nor another plugin or `conftest.py`; those that choose
    a mode choose ours. Called when every initial `conftest.py` has been read."""
    if _are_active(manager):
        return
    for option in _MODE_OPTIONS:
        with suppress(ValueError):  # taken
            parser.addoption(option, choices=tuple(_MODES), default=None, help=argparse.SUPPRESS)
    for option, action in _OTHER_OPTIONS.items():
        with suppress(ValueError):
            parser.addoption(option, action=action, help=argparse.SUPPRESS)


def _are_active(manager: pytest.PytestPluginManager) -> bool:
    return any(manager.hasplugin(name) for name in _PLUGINS)


def mode_by_vcrpy(config: pytest.Config) -> str | None:
    """The mode that an option of these plugins chooses; None without one."""
    if not config.pluginmanager.hasplugin("turntape_vcr"):
        return None
    given = [config.getoption(option, default=None) for option in _MODE_OPTIONS]
    return next((_MODES[one] for one in given if one is not None), None)


def mode_on_command_line(config: pytest.Config) -> str | None:
    """The mode that our own option, or one of these plugins, chooses; None without one."""
    return config.getoption("turntape_mode") or mode_by_vcrpy(config)


class _Hooks:
    """A `conftest.py` that was written for pytest-recording may have this hook; without that plugin it is unknown."""

    @pytest.hookspec
    def pytest_recording_configure(self, config: pytest.Config, vcr: object) -> None: ...


def take_the_place(config: pytest.Config) -> None:
    """Give a suite the fixtures, marks and hook of these plugins when none of them is active."""
    manager = config.pluginmanager
    if _are_active(manager):
        return
    manager.register(vcr_fixtures, "turntape_vcr")
    for mark in _MARKS:
        config.addinivalue_line("markers", f"{mark}: of pytest-recording or pytest-vcr, without effect")
    known: Any = getattr(config.hook, "pytest_recording_configure", None)
    if known is None or not known.has_spec():
        manager.add_hookspecs(_Hooks)
