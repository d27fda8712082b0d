"""One worker of `record --workers`: the proxy, whose round trips go to the process that started it.

It ends when that process says so, or has ended itself.
"""

import asyncio
import logging
import pickle
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection

from turntape.cassettes.json_levels import follow_all_levels
from turntape.cassettes.redaction.redactor import Redactor, patient_redactor

from ..engine.engine import Engine
from ..signals import unblock
from ..stderr import say_problem
from .left_alone import add_missing
from .messages import Message, Ready, Unrecorded
from .sender import Sender
from .shared import ENDLESS, GIVEN, PENDING, STREAMS, WRITTEN, Shared, SharedConnections, SharedPlaces
from .worker_settings import Page, WorkerSettings

LOOK = 0.2
"""Seconds between two looks at what is not counted when it happens."""
PATIENCE = 5.0
"""Seconds that a page may take to be made."""


async def work(settings: WorkerSettings) -> None:
    """Be a worker until the channel says that it is over."""
    channel: Connection[Message, object] = Connection(settings.channel)
    shared = Shared(settings.shared)
    redactor = patient_redactor().with_salt(settings.salt)
    sender = Sender(channel, redactor, lambda: shared.get(settings.number, WRITTEN))

    def count() -> None:
        shared.put(settings.number, PENDING, engine.pending)
        shared.put(settings.number, GIVEN, sender.given)

    engine = Engine(
        sender,
        host=settings.host,
        port=settings.port,
        upstreams=settings.upstreams,
        intercept=settings.intercept,
        confdir=settings.confdir,
        upstream_proxy=settings.upstream_proxy,
        trusted_ca=settings.trusted_ca,
        client_cert=settings.client_cert,
        pages=_asking(Connection(settings.pages)) if settings.pages is not None else None,
        runs_by_trace=settings.runs_by_trace,
        admission=settings.admission,
        listening=[socket.socket(fileno=one) for one in settings.sockets],
        places=SharedPlaces(settings.places),
        own=SharedConnections(shared, settings.number, settings.port),
        on_count=count,
        spool=settings.spool,
    )
    sender.on_given = count
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    await engine.start()
    sender.send(Ready)
    listening = (channel, loop, over, sender.leave_alone, redactor)
    threading.Thread(target=_listen, args=listening, name="turntape worker", daemon=True).start()
    said = repr(engine.unrecorded)
    while not over.is_set():
        running, streams = engine.running
        shared.put(settings.number, ENDLESS, engine.pending - running)
        shared.put(settings.number, STREAMS, streams)
        if repr(engine.unrecorded) != said:
            said = repr(engine.unrecorded)
            sender.send(lambda: Unrecorded(engine.unrecorded))
        with suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), LOOK)
    await engine.stop()
    sender.send(lambda: Unrecorded(engine.unrecorded))
    missing = await asyncio.to_thread(sender.close)
    if sender.is_alone:
        say_problem(await asyncio.to_thread(add_missing, shared.path, missing, redactor))


def _listen(
    channel: "Connection[Message, object]",
    loop: asyncio.AbstractEventLoop,
    over: asyncio.Event,
    alone: Callable[[], object],
    redactor: Redactor,
) -> None:
    """Wait for the word that it is over, and then for `hurry`; `alone` is called when the process that says so ends."""

    def end() -> None:
        with suppress(RuntimeError):  # the loop has ended already
            loop.call_soon_threadsafe(over.set)

    with suppress(OSError, EOFError):
        while True:
            if channel.recv() == "hurry":
                redactor.give_up()
            else:
                end()
    alone()
    end()


def _asking(connection: "Connection[str, Page]") -> Callable[[str], Page]:
    def page(path: str) -> Page:
        with suppress(OSError, EOFError):
            while connection.poll():
                connection.recv()  # what came too late for an earlier question
            connection.send(path)
            if connection.poll(PATIENCE):
                return connection.recv()
        return 503, "text/plain; charset=utf-8", b"the recording is busy; ask again\n"

    return page


def main() -> None:
    unblock()  # a signal that somebody sends to this process ends it
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    follow_all_levels()
    asyncio.run(work(pickle.load(sys.stdin.buffer)))


if __name__ == "__main__":
    main()
