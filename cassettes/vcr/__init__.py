"""Suites that open their recordings with `use_cassette`: the names of vcrpy, on cassettes of ours.

    from turntape.cassettes import vcr

    with vcr.use_cassette("cassettes/answer.yaml"): …
    my_vcr = vcr.VCR(cassette_library_dir="cassettes", match_on=["method", "path"])

`turntape import --pytest` converts the recordings and rewrites the imports (docs/migrating.md). The recording of
`a.yaml` is `a.cassette.jsonl` beside it. Which request gets which answer is decided as vcrpy 9 does.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cassette import Cassette
    from .config import VCR, default_vcr, use_cassette
    from .record_mode import RecordMode
    from .record_mode import RecordMode as mode

__all__ = ["VCR", "Cassette", "RecordMode", "default_vcr", "mode", "use_cassette"]

_HOME = {
    "VCR": ("config", "VCR"),
    "Cassette": ("cassette", "Cassette"),
    "RecordMode": ("record_mode", "RecordMode"),
    "default_vcr": ("config", "default_vcr"),
    "mode": ("record_mode", "RecordMode"),
    "use_cassette": ("config", "use_cassette"),
}


_MODULES = frozenset({"cassette", "config", "errors", "filters", "matchers", "record_mode", "request", "unittest"})
"""What is an attribute of vcrpy as soon as vcrpy is imported."""


def __getattr__(name: str) -> object:
    if name in _HOME:
        module, there = _HOME[name]
        return getattr(import_module(f".{module}", __name__), there)
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    from ..importers.vcr_instead import instead_of

    instead = instead_of(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}" + (f": {instead}" if instead else ""))
