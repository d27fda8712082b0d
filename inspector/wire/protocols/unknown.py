"""What no protocol reads: it is recorded and replayed, and nothing is known about it."""

from ..exchange import Exchange
from ..values import Kind, RequestReading, ResponseReading
from .protocol import Protocol


def detect(exchange: Exchange) -> Kind | None:
    return None


def read_request(exchange: Exchange) -> RequestReading:
    return RequestReading()


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return ResponseReading(ended=False)


UNKNOWN = Protocol(
    name="unknown",
    title="An API that no protocol reads",
    spec="none",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
)
