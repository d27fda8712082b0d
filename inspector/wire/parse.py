"""`read(round_trip) -> Reading`: from bytes to meaning; it never raises."""

from collections.abc import Callable
from dataclasses import replace

from turntape.cassettes.tape.model import RoundTrip

from .exchange import Exchange
from .json_value import is_object
from .protocols.endpoint_counts import BILLED, path_model, read_counts
from .protocols.protocol import Protocol
from .protocols.shared.counts import wrong_usage
from .protocols.shared.errors import error_beside, error_under_200, read_error
from .protocols.shared.stated_cost import header_cost
from .providers import provider
from .registry import detect
from .resolve_finish import reconcile
from .values import ApiError, FinishLabel, Reading, RequestReading, ResponseReading, Usage

UNKNOWN = "unknown"


def read(round_trip: RoundTrip) -> Reading:
    """What the round trip says. What cannot be read is named in `problems`; nothing raises."""
    return read_exchange(Exchange(round_trip))


def read_exchange(exchange: Exchange) -> Reading:
    """As `read`, for a caller that also uses the exchange's parsed body and events."""
    problems: list[str] = []
    found = _guarded(lambda: detect(exchange), None, "detection", problems)
    who = _guarded(lambda: provider(exchange.round_trip, exchange), None, "the provider table", problems)
    error = _guarded(lambda: read_error(exchange), None, "the error table", problems)
    if found is None:
        # Any API may answer with a JSON array: only a protocol knows whether it is a stream.
        streamed = _guarded(lambda: exchange.framing not in (None, "json-array"), False, "framing", problems)
        nothing = RequestReading()
        return Reading(UNKNOWN, who, "other", streamed, nothing, None, None, None, error, problems=tuple(problems))
    protocol, kind = found
    streamed = _guarded(lambda: exchange.framing in protocol.streams, False, "framing", problems)
    request = _guarded(
        lambda: protocol.read_request(exchange), RequestReading(), f"The {protocol.name} request", problems
    )
    if kind != "generation":
        return _other(exchange, Reading(protocol.name, who, kind, streamed, request, None, None, None, error), problems)
    holder = protocol.answers.holder
    error = error or _guarded(lambda: error_under_200(exchange, holder), None, "the error table", problems)
    answer = _answer(exchange, protocol, request, error, problems)
    if answer.error is None and not answer.content:
        answer = replace(answer, error=_guarded(lambda: error_beside(exchange), None, "the error table", problems))
    stated = answer.stated_cost or _guarded(lambda: header_cost(exchange), None, "the cost", problems)
    emission, finish = reconcile(answer, request)
    return Reading(
        protocol=protocol.name,
        provider=who,
        kind=kind,
        streamed=streamed,
        request=request,
        emission=emission,
        finish=finish,
        usage=_usage(answer),
        error=answer.error,
        response_model=answer.model,
        response_id=answer.id,
        continuation=answer.continuation,
        usage_raw=answer.usage_raw,
        stated_cost=stated,
        price_terms=answer.price_terms,
        cache_diagnosis=answer.cache_diagnosis,
        problems=(*problems, *answer.problems),
    )


def _other(exchange: Exchange, reading: Reading, problems: list[str]) -> Reading:
    """A round trip outside generation, with what its answer counts."""
    counted = _guarded(lambda: read_counts(exchange, reading.kind), ResponseReading(), "The usage", problems)
    stated = counted.stated_cost
    if reading.kind in BILLED and stated is None:
        stated = _guarded(lambda: header_cost(exchange), None, "the cost", problems)
    request = reading.request
    if request.model is None and reading.kind in BILLED:
        request = replace(request, model=path_model(exchange))
    return replace(
        reading,
        request=request,
        error=reading.error or _transport_error(exchange),
        usage=counted.usage,
        usage_raw=counted.usage_raw,
        response_model=counted.model,
        stated_cost=stated,
        price_terms=counted.price_terms,
        problems=tuple(problems),
    )


def _usage(answer: ResponseReading) -> Usage | None:
    """The answer's usage. If it has a wrong type, the usage has no counts and a problem that says so."""
    if answer.usage is None and answer.usage_raw is not None and not is_object(answer.usage_raw):
        return Usage(problems=(wrong_usage(answer.usage_raw),))
    return answer.usage


def _answer(
    exchange: Exchange,
    protocol: Protocol,
    request: RequestReading,
    error: ApiError | None,
    problems: list[str],
) -> ResponseReading:
    if exchange.response is None:
        return _no_answer(exchange)
    if error is not None:
        return ResponseReading(error=error, ended=True)
    fallen = ResponseReading(ended=False)
    return _guarded(lambda: protocol.read_response(exchange, request), fallen, f"The {protocol.name} answer", problems)


def _no_answer(exchange: Exchange) -> ResponseReading:
    """The reading when nothing came back: the failure is the error, unless the client itself disconnected."""
    failure = exchange.round_trip.failure
    if failure is not None and failure.kind == "client_gone":
        label: FinishLabel = "cancelled"
        return ResponseReading(finish=label, finish_detail=failure.message, ended=True)
    return ResponseReading(error=_transport_error(exchange))


def _transport_error(exchange: Exchange) -> ApiError | None:
    failure = exchange.round_trip.failure
    if exchange.response is not None or (failure is None and exchange.round_trip.response is not None):
        return None
    if failure is None:
        # Over the tool wire, a message that wants no answer is complete without one.
        one_way = exchange.round_trip.tool_wire is not None
        return None if one_way else ApiError("Nothing came back.", "no_response")
    return ApiError(failure.message, failure.kind)


def _guarded[T](call: Callable[[], T], otherwise: T, what: str, problems: list[str]) -> T:
    """`call()`. If it raises: `otherwise`, with a sentence in `problems`. One strange body must not hide a run."""
    try:
        return call()
    except Exception as fault:  # noqa: BLE001 - whatever is on the wire, the other round trips must be shown
        problems.append(f"{what} could not be read: {type(fault).__name__}: {fault}")
        return otherwise
