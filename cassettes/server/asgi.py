"""The types of an ASGI app, and how an app asks its server to close a connection."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type App = Callable[[Message, Receive, Send], Awaitable[None]]


class Cut(Exception):
    """Raised after the recorded bytes of a cut answer, so that the server closes the connection."""
