"""What of vcrpy is not here, and what to do instead: for the error of such a name, and for the report of an import."""

from collections.abc import Mapping
from types import MappingProxyType

_ONE_FORMAT = "a cassette has one format: remove what chooses another, register_serializer and register_persister too"
_IN_PROCESS = "clients are answered without it: remove it, or import it from vcrpy where vcrpy itself is tested"

INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        "stubs": _IN_PROCESS,
        "patch": _IN_PROCESS,
        "serialize": _ONE_FORMAT,
        "serializers": _ONE_FORMAT,
        "persist": _ONE_FORMAT,
        "persisters": _ONE_FORMAT,
        "migration": "`turntape import` reads old recordings too",
        "requests_match": "call the matchers one by one, such as matchers.uri(asked, recorded)",
        "get_matchers_results": "call the matchers one by one, such as matchers.uri(asked, recorded)",
        "CassetteContextDecorator": "use_cassette gives one",
        "util": "it is internal to vcrpy",
    }
)
"""By the name that comes after `vcr.`, or the last one."""


def instead_of(name: str) -> str | None:
    """What to use in place of `vcr.stubs.aiohttp_stubs`; None where nothing is known."""
    parts = name.removeprefix("vcr.").split(".")
    return INSTEAD.get(parts[0]) or INSTEAD.get(parts[-1])
