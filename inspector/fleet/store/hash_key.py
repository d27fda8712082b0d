"""The key of a store's hashes. It is in the store, so that all shippers have the same one.

Every shipper that finds none offers one, waits until the store's clock has moved on, and takes the oldest offer. So all
agree, also on a store that ignores conditions. A policy may keep readers of the rows from `keys/`; only shipping reads
it. `TURNTAPE_FLEET_KEY` in the environment is used instead, and then no key is in the store.
"""

import os
import secrets
from collections.abc import Callable, Mapping
from hashlib import sha256
from time import sleep

from ..errors import StoreError
from .names import KEYS
from .store import Store

VARIABLE = "TURNTAPE_FLEET_KEY"
SETTLED = 2.0
"""Seconds after which no older offer can appear: stores keep times in whole seconds."""


def hash_key(
    store: Store, environment: Mapping[str, str] = os.environ, wait: Callable[[float], object] = sleep
) -> bytes:
    """The key of this store, which is made when there is none."""
    given = environment.get(VARIABLE)
    if given:
        return sha256(given.encode()).digest()
    found = _oldest(store)
    if found is None:
        key = secrets.token_bytes(32)
        store.put(f"{KEYS}/{sha256(key).hexdigest()[:32]}", key, only_new=True)
        wait(SETTLED)
        found = _oldest(store)
    if found is None:
        raise StoreError(f"{store.address!r} does not show a key that was just written; check its policy for {KEYS}/")
    return found


def _oldest(store: Store) -> bytes | None:
    offers = sorted(store.listing(KEYS), key=lambda one: (one.modified.replace(microsecond=0), one.name))
    content = store.get(offers[0].name) if offers else None
    return content.data if content else None
