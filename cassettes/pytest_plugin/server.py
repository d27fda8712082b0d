"""A replay server for one test, in a thread, for agents that run as separate processes."""

import asyncio
import os
import socket
import threading
from collections.abc import Mapping

from ..errors import CassetteError
from ..replay.pace import Pace
from ..replay.session import Session
from ..routes.admission import OPEN
from ..routes.base_urls import BASE_URLS, KEYS, OTHER_KEYS
from ..transports.cassette import AsyncCassetteTransport


def live_upstreams(environ: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The URLs of live APIs: those that the test gives, or else those in the environment."""
    named: dict[str, str] = {}
    for row in BASE_URLS:
        value = environ.get(row.variable, "").strip()
        if value:
            named.setdefault(row.upstream, value if "://" in value else f"http://{value}")
    return {**named, **given}


class TestServer:
    """`start()` listens on a free port of this machine; `url` is the base URL, `environment()` the variables to set."""

    __test__ = False

    def __init__(self, session: Session, pace: str | float | Pace, upstreams: Mapping[str, str]) -> None:
        self._transport = AsyncCassetteTransport(session, pace=pace)
        self._upstreams = upstreams
        self._listener: socket.socket | None = None

    @property
    def port(self) -> int | None:
        return self._listener.getsockname()[1] if self._listener else None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Raises CassetteError when no ASGI server is installed."""
        try:
            import uvicorn
        except ImportError as exc:
            raise CassetteError(
                "turntape_server needs an ASGI server; install one with: pip install uvicorn httptools"
            ) from exc
        from ..server.uvicorn_config import silent_config
        from ..server.visitors import guarded
        from ..transports.relay import relay

        # The socket names TCP explicitly; otherwise asyncio keeps Nagle's algorithm, and each answer waits 40 ms.
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(2048)
        self._server = uvicorn.Server(silent_config(guarded(relay(self._transport, self._upstreams), OPEN)))
        self._thread = threading.Thread(
            target=asyncio.run, args=(self._serve(self._listener),), name="turntape test server", daemon=True
        )
        self._thread.start()

    async def _serve(self, listener: socket.socket) -> None:
        try:
            await self._server.serve(sockets=[listener])
        finally:
            await self._transport.aclose()

    def stop(self) -> None:
        if self._listener is not None:
            self._server.should_exit = True
            self._thread.join()
            self._listener.close()

    def environment(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """`environ` for a process whose LLM traffic should come here: base URLs of every SDK, and missing keys."""
        variables = {
            row.variable: f"{self.url}/{row.upstream}{row.suffix}"
            for row in BASE_URLS
            if not row.is_switch or environ.get(row.variable)
        }
        direct = ",".join(filter(None, ("127.0.0.1", "localhost", environ.get("NO_PROXY"))))
        return {**placeholders(environ), **environ, **variables, "NO_PROXY": direct, "no_proxy": direct}


def placeholders(environ: Mapping[str, str]) -> dict[str, str]:
    """A value for each key that `environ` lacks: clients refuse to start without one."""
    lacking = (name for name in KEYS if not environ.get(name) and not environ.get(OTHER_KEYS.get(name, name)))
    return dict.fromkeys(lacking, "turntape-replay")
