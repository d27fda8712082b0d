"""Full file descriptors are reported once, and other messages of asyncio pass."""

import logging

import pytest

from turntape.cassettes.server.open_files import full_reported_once

FULL = "socket.accept() out of system resource\nsocket: <…>"


def test_a_thousand_tracebacks_become_one_sentence(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("asyncio")

    with full_reported_once():
        for _ in range(1000):
            logger.error(FULL)
        logger.error("something else")

    assert capsys.readouterr().err == (
        "turntape: too many open files; further connections wait until others are closed. `ulimit -n` sets how many "
        "there may be\n"
    )
    assert [record.getMessage() for record in caplog.records] == ["something else"]
    logger.error(FULL)
    assert caplog.records[-1].getMessage() == FULL
