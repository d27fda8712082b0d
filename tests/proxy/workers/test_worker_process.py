"""What a worker does with its settings, and with what the process that started it says."""

import asyncio
import inspect
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from turntape.cassettes.redaction.redactor import Redactor
from turntape.proxy.engine.engine import Engine
from turntape.proxy.workers import worker_process
from turntape.proxy.workers.shared import make, make_places
from turntape.proxy.workers.worker_process import work
from turntape.proxy.workers.worker_settings import WorkerSettings

OF_THE_WRITER = {
    "on_round_trip", "limits", "on_limit", "breakpoints", "prove", "addon", "played",
}  # fmt: skip
"""What only the process that writes the file does; workers cannot be combined with it."""


class Enough(Exception):
    pass


@contextmanager
def settings(tmp_path: Path, **given: Any) -> Iterator[WorkerSettings]:
    shared, places, (ours, theirs) = make(), make_places(), Pipe()
    try:
        yield WorkerSettings(
            "127.0.0.9", 0, "00", upstreams={"a": "https://a.example"}, intercept=("b.example",), confdir=tmp_path,
            number=1, shared=shared, places=places, channel=os.dup(theirs.fileno()), **given,
        )  # fmt: skip
    finally:
        for one in (ours, theirs):
            one.close()
        for descriptor in (shared, places):
            os.close(descriptor)


def test_every_setting_reaches_the_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def engine(_sink: object, **given: Any) -> object:
        seen.update(given)
        raise Enough

    monkeypatch.setattr(worker_process, "Engine", engine)
    names = ("upstream_proxy", "trusted_ca", "client_cert", "spool", "runs_by_trace", "admission")
    values: dict[str, Any] = {name: object() for name in names}
    with settings(tmp_path) as plain, pytest.raises(Enough):
        asyncio.run(work(replace(plain, **values)))

    assert {name: seen[name] for name in values} == values
    assert (seen["host"], seen["port"], seen["confdir"]) == (plain.host, plain.port, plain.confdir)
    assert (seen["upstreams"], seen["intercept"]) == (plain.upstreams, plain.intercept)
    known = set(inspect.signature(Engine.__init__).parameters) - {"self", "recorder"}
    assert known - seen.keys() == OF_THE_WRITER, "a new option of the proxy must reach the workers too"


@pytest.mark.parametrize(
    ("words", "is_over", "hurried"),
    [([], False, 0), (["hurry"], False, 1), (["hurry", "hurry"], False, 2), (["end"], True, 0)],
)
def test_a_worker_ends_when_it_is_said_and_hurries_when_that_is_said(
    words: list[str], is_over: bool, hurried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    redactor, calls, alone = Redactor(), list[str](), list[bool]()
    monkeypatch.setattr(Redactor, "give_up", lambda _redactor: calls.append("give up"))

    async def flow() -> tuple[bool, bool]:
        over, (ours, theirs) = asyncio.Event(), Pipe()
        listening = asyncio.create_task(
            asyncio.to_thread(
                worker_process._listen, theirs, asyncio.get_running_loop(), over, lambda: alone.append(True), redactor
            )
        )
        for word in words:
            ours.send(word)
        if is_over:
            await asyncio.wait_for(over.wait(), 20)
        before = over.is_set() or bool(alone)
        ours.close()
        await asyncio.wait_for(over.wait(), 20)
        await listening
        theirs.close()
        return before, over.is_set()

    before, after = asyncio.run(flow())
    assert before == is_over and after, "it ends with the process that would say so, too"
    assert len(calls) == hurried
    assert alone == [True], "and then it writes what is missing"


def test_a_page_comes_from_the_process_that_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = Pipe()
    page = worker_process._asking(theirs)
    ours.send((200, "text/plain", b"late"))  # for an earlier question, to which nobody waits

    def answers() -> None:
        assert ours.recv() == "/-/metrics"
        ours.send((200, "text/plain", b"now"))

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(answers)
        assert page("/-/metrics") == (200, "text/plain", b"now")
        done.result()

    monkeypatch.setattr(worker_process, "PATIENCE", 0.01)
    assert page("/-/runs")[0] == 503 and ours.recv() == "/-/runs"
    ours.close()
    status, kind, body = page("/-/runs")
    assert (status, kind) == (503, "text/plain; charset=utf-8") and b"ask again" in body
    theirs.close()
