"""Shipped tapes as arguments: `s3://bucket/prefix#RECORDING/N`, the address of a tape's object, or a row id.

A row id is `RECORDING` or `RECORDING/N`, as the rows have it; TURNTAPE_AT names its store. A tape is fetched into a
private folder that is deleted when the command ends.
"""

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turntape.inspector.fleet.store.names import Address

AT = "TURNTAPE_AT"
"""The variable with the store that is asked when the command line names none."""
_ROW_ID = re.compile(r"([0-9a-f]{32})(?:/(\d+))?")
_STORE = re.compile(r"(?:s3a?|gs|az|azure|abfss?)://")


def store_address(given: str | None) -> str:
    """The store of `--at`, or of TURNTAPE_AT. Raises TurntapeError when neither is given."""
    from turntape.cassettes.errors import TurntapeError

    found = given or os.environ.get(AT)
    if not found:
        raise TurntapeError(f"no store is named; give --at STORE (s3://…, gs://…, az://… or a folder), or set {AT}")
    return found


def fetched(argument: str) -> str | None:
    """The local file of a shipped tape; None for any other argument. Raises TurntapeError."""
    address = _address(argument)
    if address is None:
        if _STORE.match(argument):
            from turntape.cassettes.errors import TurntapeError

            raise TurntapeError(
                f"{argument!r} names no shipped tape; give STORE#RECORDING or STORE#RECORDING/N: "
                f"`turntape query dearest-runs --at STORE` shows addresses"
            )
        return None
    return str(_fetched(address))


def round_trip_of(argument: str) -> int | None:
    """The number of the round trip that an address names; None for whole tapes and for files."""
    address = _address(argument)
    return None if address is None else address.n


def _address(argument: str) -> "Address | None":
    row = _ROW_ID.fullmatch(argument)
    if not row and "#" not in argument and not _STORE.match(argument):
        return None
    if Path(argument).exists():
        return None
    from turntape.inspector.fleet.store.names import Address, parse_address

    if row:
        return Address(store_address(None), row[1], n=None if row[2] is None else int(row[2]))
    return parse_address(argument)


@cache
def _fetched(address: "Address") -> Path:
    from turntape.inspector.fleet.asking.tapes import fetch
    from turntape.inspector.fleet.store.store import open_store

    return fetch(open_store(address.store), address, _folder())


@cache
def _folder() -> Path:
    """A folder that is deleted when the process ends."""
    import atexit
    import tempfile

    folder = tempfile.TemporaryDirectory(prefix="turntape-tapes-")
    atexit.register(folder.cleanup)
    return Path(folder.name)
