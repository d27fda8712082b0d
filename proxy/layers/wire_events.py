"""What our HTTP layers say to each other beside mitmproxy's own events."""

from dataclasses import dataclass
from typing import Any

from mitmproxy import http
from mitmproxy.proxy.layer import CommandGenerator
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import RequestProtocolError, ResponseData, ResponseProtocolError

from turntape.cassettes.frozen import frozen

type ProtocolError = RequestProtocolError | ResponseProtocolError

_CAUSE = "turntape_cause"
_ADVICE = " Disable the validate_inbound_headers option"


@dataclass
class RequestGoesOn(HttpEvent):
    """The rest of a request has not come for a while."""


@dataclass
class InterimResponse(HttpEvent):
    """An answer before the answer: a status from 100 to 199, other than 101."""

    response: http.Response


@dataclass
class RawResponse(HttpEvent):
    """Bytes of an upstream whose answer is not HTTP; the client gets them as they are."""

    data: bytes
    cut: bool = False
    """True for a head that the upstream did not finish."""
    long: bool = False
    """True for a head that is too long to be held."""


@dataclass
class ResponsePieces(HttpEvent):
    """Pieces of an answer's body that arrived at once, in the place of an event for each."""

    pieces: list[bytes]


@dataclass
class LastResponseData(ResponseData):
    """The last piece of an answer's body: no trailers follow."""


@dataclass
class Pause(HttpEvent):
    """One side of an exchange cannot take more for now, or can again: the other one waits meanwhile."""

    paused: bool
    answer: bool
    """True when the client does not take the answer, False when the upstream does not take the request."""


@dataclass
class RawEnd(HttpEvent):
    """The end of such an answer."""


@frozen
class Cause:
    """What is behind a protocol error."""

    broke: bool = False
    """True when the side broke the protocol, False when it closed or reset."""
    reset: int | None = None
    """The error code of an HTTP/2 reset."""
    text: str | None = None


_MOST_SAID = 500
"""Characters of a sentence that says what was wrong."""


def blame(event: ProtocolError, cause: Cause) -> None:
    """Keep the cause with the event, for the layers above. What the event says is cut: it may quote megabytes."""
    if len(event.message) > _MOST_SAID:
        event.message = f"{event.message[:_MOST_SAID]} …"
    setattr(event, _CAUSE, cause)


def blamed[T](sending: CommandGenerator[T], cause: Cause) -> CommandGenerator[T]:
    """The same commands, their errors with this cause, unless they have one."""
    result: Any = None
    while True:
        try:
            command = sending.send(result)
        except StopIteration as exc:
            return exc.value
        if isinstance(command, ReceiveHttp):
            said = command.event
            if isinstance(said, RequestProtocolError | ResponseProtocolError) and cause_of(said) == Cause():
                blame(said, cause)
        result = yield command


def cause_of(event: ProtocolError) -> Cause:
    """The cause that was kept with an event."""
    return getattr(event, _CAUSE, None) or Cause()


def without_advice(message: str) -> str:
    """What mitmproxy says of a request that it refuses, without its advice: turntape has no such option."""
    return message.partition(_ADVICE)[0]
