"""Gateways that the settings declare, without a program: `[[protocols]]` of turntape.toml.

Our entry point `settings` in the group `turntape.protocols` calls `from_settings`. Without a declaration, no module
that reads the wire is imported.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..protocols.protocol import Protocol


def from_settings() -> "tuple[Protocol, ...]":
    """The protocols that the settings in the working directory declare. Raises CassetteError for invalid ones."""
    from turntape.cassettes.settings import read_settings

    tables = read_settings().protocols
    if not tables:
        return ()
    from .declaration import parse
    from .protocol import declared

    return tuple(declared(parse(table)) for table in tables)
