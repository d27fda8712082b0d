"""Takes the place of pytest-recording, pytest-vcr and cassetter when they are turned off or not installed.

A suite that was moved still names their options in its ini file and in CI, their fixtures, marks and hook in its code.
The fixtures are in `vcr_fixtures.py`. Imported in every run of pytest, so it imports only pytest.
"""

import argparse
import ast
from contextlib import suppress
from functools import cache
from typing import Any

import pytest

from . import vcr_fixtures

_PLUGINS = ("recording", "vcr", "pytest_recording", "pytest_recording.plugin", "pytest_vcr", "cassetter")
_MODES = {"none": "none", "once": "once", "new_episodes": "new", "all": "all", "rewrite": "all"}
_MODE_OPTIONS = ("--record-mode", "--vcr-record", "--vcr-record-mode")
_OTHER_OPTIONS = {
    "--block-network": "store_true",
    "--disable-recording": "store_true",
    "--disable-vcr": "store_true",
    "--allowed-hosts": "store",
}
_MARKS = ("vcr", "block_network", "default_cassette(name)", "allowed_hosts(hosts)")
_TAKEN: pytest.StashKey[list[str]] = pytest.StashKey()
"""The options of `_MODE_OPTIONS` that are ours in this run."""


def add_options(parser: pytest.Parser, config: pytest.Config) -> None:
    """Take the options of these plugins when none of them does, nor another plugin or `conftest.py`; those that choose
    a mode choose ours. Called when every initial `conftest.py` has been read."""
    if _are_active(config.pluginmanager):
        return
    config.stash[_TAKEN] = taken = list[str]()
    for option in _MODE_OPTIONS:
        with suppress(ValueError):  # taken
            parser.addoption(option, choices=tuple(_MODES), default=None, help=argparse.SUPPRESS)
            taken.append(option)
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


def _answer_those_who_ask(config: pytest.Config) -> None:
    """Let code of the suite that asks for `--record-mode` see the mode that `--turntape-mode` chose."""
    given: str | None = config.getoption("turntape_mode")
    ours = next((theirs for theirs, mode in _MODES.items() if mode == ("none" if given == "restamp" else given)), None)
    for option in config.stash.get(_TAKEN, list[str]()) if ours else ():
        if config.getoption(option) is None:
            setattr(config.option, option.removeprefix("--").replace("-", "_"), ours)


def mark_as_ours(item: pytest.Item) -> None:
    """Give a test that only has the mark of these plugins ours, if the ini file says so and none of them plays it. Its
    arguments are in the ini file too."""
    config = item.config
    if not config.getini("turntape_vcr_marks") or not config.pluginmanager.hasplugin("turntape_vcr"):
        return
    if item.get_closest_marker("vcr") is not None and item.get_closest_marker("turntape") is None:
        item.add_marker(pytest.mark.turntape(**_settings(config.getini("turntape_vcr_settings"))))


@cache
def _settings(said: str) -> dict[str, Any]:
    """Arguments as they are written in a mark: `profile="sequence", repeats=True`."""
    try:
        call = ast.parse(f"mark({said})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or not all(one.arg for one in call.keywords):
            raise ValueError
        return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except (SyntaxError, ValueError):
        raise pytest.UsageError(
            f"turntape_vcr_settings of the ini file is {said!r}; write the arguments of the mark as in Python: "
            'profile="sequence", repeats=True'
        ) from None


def take_the_place(config: pytest.Config) -> None:
    """Give a suite the fixtures, marks and hook of these plugins when none of them is active."""
    manager = config.pluginmanager
    if _are_active(manager):
        return
    manager.register(vcr_fixtures, "turntape_vcr")
    _answer_those_who_ask(config)
    for mark in _MARKS:
        config.addinivalue_line("markers", f"{mark}: of pytest-recording or pytest-vcr, without effect")
    known: Any = getattr(config.hook, "pytest_recording_configure", None)
    if known is None or not known.has_spec():
        manager.add_hookspecs(_Hooks)
