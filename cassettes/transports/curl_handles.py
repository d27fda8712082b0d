"""Notices which addresses libcurl is given: pycurl and curl_cffi open sockets that Python does not see."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import wraps
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from .late_imports import when_imported

_URL = 10002
"""The number of libcurl's option CURLOPT_URL."""
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def watch_curl(reached: Callable[[str, int], object], undo: ExitStack) -> None:
    """Until `undo` is closed, call `reached` with the host and port of each URL that a handle of libcurl gets.

    What `reached` raises, the client gets.
    """

    def watch(module: ModuleType) -> None:
        kept: Any = module
        usual: Any = kept.Curl
        setopt: Any = usual.setopt

        @wraps(setopt)
        def watched(handle: Any, option: Any, *value: Any) -> Any:
            if option == _URL and value:
                _report(value[0], reached)
            return setopt(handle, option, *value)

        try:
            usual.setopt = watched
            undo.callback(setattr, usual, "setopt", setopt)
        except TypeError:  # a class that is not written in Python
            kept.Curl = type(usual.__name__, (usual,), {"setopt": watched, "__module__": usual.__module__})
            undo.callback(setattr, kept, "Curl", usual)

    for name in ("pycurl", "curl_cffi.curl"):
        undo.enter_context(when_imported(name, watch))


def _report(url: object, reached: Callable[[str, int], object]) -> None:
    text = url.decode("latin-1") if isinstance(url, bytes) else str(url)
    host, port = None, None
    with suppress(ValueError):  # a URL that libcurl refuses too
        split = urlsplit(text if "://" in text else f"http://{text}")
        host, port = split.hostname, split.port or _PORTS.get(split.scheme)
    if host and port:
        reached(host, port)
