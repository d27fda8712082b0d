"""The proxy. `Engine` and `running` embed it in a program; everything else here is private.

Both need mitmproxy: `pip install 'turntape[proxy]'`. They are imported when they are first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .engine.engine import Engine, running

__all__ = ["Engine", "running"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(".engine.engine", __name__), name)
    globals()[name] = value
    return value
