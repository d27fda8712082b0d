"""What recording again will cost, said before the first test begins."""

from collections.abc import Callable
from typing import Any

import pytest

from ..errors import TurntapeError
from .fixture_cassettes import FixtureCassettes
from .spending import announced
from .workers import leave_notice, notice_of


class CostNotice:
    """A plugin for a session that may record again. A cost above the limit ends the session."""

    def __init__(
        self, is_wanted: Callable[[pytest.Item], bool], fixtures: Callable[[], FixtureCassettes | None]
    ) -> None:
        self._is_wanted = is_wanted
        self._fixtures = fixtures
        self._is_said = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Say the cost. A worker of pytest-xdist has no terminal: its controller says it."""
        config = session.config
        if config.getoption("collectonly"):
            return
        refused, fixtures = False, self._fixtures()
        try:
            items = [item for item in session.items if self._is_wanted(item)]
            said = announced(config, items, fixtures.replaced_by(items) if fixtures is not None else ())
        except TurntapeError as exc:
            said, refused = f"turntape: {exc}", True
        if said is not None and not leave_notice(config, said, refused=refused):
            _say(config, said, refused=refused)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any) -> None:
        """A worker of pytest-xdist knows its tests, and none has begun: say what the first of them says of the cost."""
        notice = notice_of(node)
        if notice is not None and not self._is_said:
            self._is_said = True
            said, refused = notice
            _say(node.config, said, refused=refused)


def _say(config: pytest.Config, said: str, *, refused: bool) -> None:
    if refused:
        raise pytest.UsageError(said)
    terminal: Any = config.pluginmanager.getplugin("terminalreporter")
    if terminal is not None:
        terminal.write_line(said)
