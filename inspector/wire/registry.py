"""The protocols, in the order in which they are tried: declared by the user, installed, then our own.

All come through the entry-point group `turntape.protocols`; `protocols/table.py` is our own part of it.
"""

import logging
from collections.abc import Iterable
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
    """Every protocol, most specific first."""
    return tuple(_loaded(registered()))


@cache
def built_in() -> tuple[Protocol, ...]:
    """Our own protocols alone."""
    return tuple(_loaded(BUILT_IN))


def _loaded(registrations: Iterable[HasApi]) -> Iterable[Protocol]:
    for one in registrations:
        try:
            yield _protocol(one)
        except Exception as exc:  # noqa: BLE001 - somebody else's code; reading continues without it
            name = one.protocol if isinstance(one, Registration) else repr(one)
            log.warning("turntape: the protocol %s cannot be read: %s: %s", name, type(exc).__name__, exc)


def _protocol(one: HasApi) -> Protocol:
    if isinstance(one, Registration):
        module, _, name = one.protocol.partition(":")
        found: object = getattr(import_module(module), name)
    else:
        found = one
    if not isinstance(found, Protocol):
        raise TypeError(f"{found!r} is not a Protocol")
    return found


@cache
def _by_name() -> dict[str, Protocol]:
    # The first of a name counts, as in `detect`.
    return {protocol.name: protocol for protocol in reversed(protocols())}


def detect(exchange: Exchange) -> tuple[Protocol, Kind] | None:
    """The first protocol that claims the exchange, with what its endpoint is for; None when none does."""
    for protocol in protocols():
        kind = _claims(protocol, exchange)
        if kind is not None:
            return protocol, kind
    return None


def _claims(protocol: Protocol, exchange: Exchange) -> Kind | None:
    try:
        return protocol.detect(exchange)
    except Exception as exc:  # noqa: BLE001 - one protocol must not hide the round trips of all others
        _warn_once(protocol.name, f"{type(exc).__name__}: {exc}")
        return None


@cache
def _warn_once(name: str, problem: str) -> None:
    log.warning("turntape: the protocol %r fails to say whether a round trip is its own: %s", name, problem)


def by_name(name: str) -> Protocol | None:
    """The protocol of that name."""
    return _by_name().get(name)


def traits_of(name: str) -> Protocol:
    """The protocol of that name with its traits; `UNKNOWN`, of which nothing is known, for any other name."""
    return by_name(name) or UNKNOWN


def forget() -> None:
    """Read the entry points again on the next use: for tests, and after a package was installed."""
    for cached in (protocols, _by_name):
        cached.cache_clear()
