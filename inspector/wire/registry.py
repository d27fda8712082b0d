"""The protocols, in the order in which they are tried: declared by the user, installed, then our own.

All come through the entry-point group `turntape.protocols`; `protocols/table.py` is our own part of it. A protocol is
imported when a round trip may be its own: when its path or its answer has what the registration says.
"""

import logging
from functools import cache
from importlib import import_module

from turntape.cassettes.apis.entry_points import HasApi, registered
from turntape.cassettes.apis.interface import Registration

from .exchange import Exchange
from .protocols.protocol import Protocol
from .protocols.table import BUILT_IN
from .protocols.unknown import UNKNOWN
from .values import Kind

log = logging.getLogger(__name__)


@cache
def protocols() -> tuple[Protocol, ...]:
    """Every protocol, most specific first; all of them are imported."""
    return tuple(found for place in range(len(registered())) if (found := _at(place)) is not None)


@cache
def built_in() -> tuple[Protocol, ...]:
    """Our own protocols alone."""
    return tuple(_protocol(one) for one in BUILT_IN)


@cache
def _at(place: int) -> Protocol | None:
    """The protocol at a place in the order; None when it cannot be imported."""
    one = registered()[place]
    try:
        return _protocol(one)
    except Exception as exc:  # noqa: BLE001 - somebody else's code; reading continues without it
        name = one.protocol if isinstance(one, Registration) else repr(one)
        log.warning("turntape: the protocol %s cannot be read: %s: %s", name, type(exc).__name__, exc)
        return None


def _protocol(one: HasApi) -> Protocol:
    if isinstance(one, Registration):
        module, _, name = one.protocol.partition(":")
        found: object = getattr(import_module(module), name)
    else:
        found = one
    if not isinstance(found, Protocol):
        raise TypeError(f"{found!r} is not a Protocol")
    return found


def detect(exchange: Exchange) -> tuple[Protocol, Kind] | None:
    """The first protocol that claims the exchange, with what its endpoint is for; None when none does."""
    for place, one in enumerate(registered()):
        if may_claim(one, exchange) and (protocol := _at(place)) is not None:
            kind = _claims(protocol, exchange)
            if kind is not None:
                return protocol, kind
    return None


def may_claim(one: HasApi, exchange: Exchange) -> bool:
    """False when the registration alone shows that the exchange is not the protocol's."""
    if not isinstance(one, Registration) or one.paths is None or one.paths.search(exchange.path):
        return True
    response = exchange.response
    return one.answers is not None and response is not None and one.answers.search(response.body) is not None


def _claims(protocol: Protocol, exchange: Exchange) -> Kind | None:
    try:
        return protocol.detect(exchange)
    except Exception as exc:  # noqa: BLE001 - one protocol must not hide the round trips of all others
        _warn_once(protocol.name, f"{type(exc).__name__}: {exc}")
        return None


@cache
def _warn_once(name: str, problem: str) -> None:
    log.warning("turntape: the protocol %r fails to say whether a round trip is its own: %s", name, problem)


@cache
def by_name(name: str) -> Protocol | None:
    """The protocol of that name: the first, as in `detect`."""
    for place, one in enumerate(registered()):
        stated = one.name if isinstance(one, Registration) else ""
        if stated in ("", name) and (found := _at(place)) is not None and found.name == name:
            return found
    return None


def traits_of(name: str) -> Protocol:
    """The protocol of that name with its traits; `UNKNOWN`, of which nothing is known, for any other name."""
    return by_name(name) or UNKNOWN


def forget() -> None:
    """Read the entry points again on the next use: for tests, and after a package was installed."""
    for cached in (protocols, _at, by_name):
        cached.cache_clear()
