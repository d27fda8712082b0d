"""The addon that sends the proxy's outgoing requests through the second witness."""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections import Counter

from mitmproxy import http

from .witness import Witnesses


class Detour:
    """Runs after the router, which has decided where a request goes; headers are not changed."""

    def __init__(self, witnesses: Witnesses) -> None:
        self.missed: Counter[str] = Counter()
        """Requests that could not be routed through a witness, by host."""
        self._witnesses = witnesses

    async def requestheaders(self, flow: http.HTTPFlow) -> None:
        if flow.response is not None:
            return  # turntape answers it itself
        data = flow.request.data
        if flow.server_conn.via is not None or (data.authority and flow.request.http_version.startswith("HTTP/1")):
            self.missed[data.host] += 1  # it is sent to an upstream proxy, which needs the real host name
            return
        port = await self._witnesses.behind(data.scheme.decode(), data.host, data.port)
        data.scheme, data.host, data.port = b"http", "127.0.0.1", port
