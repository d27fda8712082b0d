"""A connection whose bytes are passed on as they come: a tunnel that is not decrypted, or what follows a 101.

mitmproxy waits for the first bytes of the client before it decides what a tunnel is, keeps all that passes, and does
not notice that a client which sends nothing more has closed its connection. Here a tunnel that is certainly not
decrypted begins at once. One whose client waits begins with what its server says, as in SSH, SMTP and MySQL.
"""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from typing import override

from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import CommandGenerator, NextLayer
from mitmproxy.proxy.layers.tcp import TCPLayer

from .half_closed import LATER, SOON, client_still_reads

SILENCE = 0.2
"""Seconds that a client of a tunnel may wait before turntape looks whether its server speaks first."""


class FirstLook(commands.RequestWakeup):
    """Asks for the look whether a server speaks first. It means nothing once the client has spoken."""


class Tunnel(TCPLayer):
    """Passes on what comes, in both directions, until both sides have ended. It keeps nothing."""

    def __init__(self, context: Context, ignore: bool = True) -> None:
        super().__init__(context, ignore=True)

    @override
    def relay_messages(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, events.Wakeup):
            yield from self._look_again()
            return
        yield from super().relay_messages(event)
        ended = isinstance(event, events.ConnectionClosed) and event.connection is self.context.client
        if ended and self._handle_event == self.relay_messages:
            yield commands.RequestWakeup(SOON)

    def _look_again(self) -> CommandGenerator[None]:
        """A client that sends nothing more may close the rest of its connection too."""
        if client_still_reads(self.context.client):
            yield commands.RequestWakeup(LATER)
            return
        self._handle_event = self.done  # pyright: ignore[reportAttributeAccessIssue]
        yield commands.CloseConnection(self.context.server)
        yield commands.CloseConnection(self.context.client)

    @override
    def done(self, _: events.Event) -> CommandGenerator[None]:
        """The tunnel has ended, and what comes now means nothing."""
        yield from ()


class TunnelStart(NextLayer):
    """Finds out what a tunnel is, by what its client says first, or its server.

    `may_call`: set by the addon that chooses layers. Without it, the server is called when the client has spoken.
    """

    may_call = False

    def __init__(self, context: Context) -> None:
        super().__init__(context, ask_on_start=True)

    @override
    def _handle_event(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, events.Wakeup):
            yield from self._call_server()
        elif isinstance(event, events.ConnectionClosed) and event.connection is self.context.server:
            yield commands.CloseConnection(self.context.client)
        else:
            yield from super()._handle_event(event)
            if isinstance(event, events.Start) and self.layer is None and self.may_call:
                yield FirstLook(SILENCE)

    def _call_server(self) -> CommandGenerator[None]:
        """The client says nothing: perhaps it waits for its server."""
        if self.layer is None and not self.data_client():
            error = yield commands.OpenConnection(self.context.server)
            if error:
                yield commands.CloseConnection(self.context.client)
