"""Libraries on top of libcurl, which open their own sockets: the addresses that their handles get are noticed."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from types import ModuleType
from typing import Any

import pytest

from turntape.cassettes.transports.curl_handles import watch_curl

URL, POSTFIELDS = 10002, 10015
"""The numbers of libcurl, which both libraries use."""


class _InC(type):
    """The class of a handle of pycurl takes no attribute."""

    def __setattr__(cls, name: str, value: object) -> None:
        raise TypeError(f"cannot set {name!r} attribute of immutable type 'pycurl.Curl'")


class PycurlHandle(metaclass=_InC):
    def __init__(self) -> None:
        self.options: dict[int, object] = {}

    def setopt(self, option: int, value: object) -> None:
        self.options[option] = value


@pytest.fixture(params=["pycurl", "curl_cffi.curl"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Modules of the shape of the two libraries."""

    class CffiHandle:
        def __init__(self) -> None:
            self.options: dict[int, object] = {}

        def setopt(self, option: int, value: object) -> None:
            self.options[option] = value

    module: Any = ModuleType(request.param)
    module.Curl = PycurlHandle if request.param == "pycurl" else CffiHandle
    usual, setopt = module.Curl, module.Curl.setopt
    monkeypatch.setitem(sys.modules, request.param, module)
    yield module
    assert module.Curl is usual
    assert usual.setopt is setopt


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://api.openai.com/v1/chat/completions", ("api.openai.com", 443)),
        (b"http://127.0.0.1:8487/v1", ("127.0.0.1", 8487)),
        ("localhost:11434/api/chat", ("localhost", 11434)),
        ("wss://api.openai.com/v1/realtime", ("api.openai.com", 443)),
    ],
)
def test_the_address_of_a_handle_is_noticed(library: Any, url: str | bytes, where: tuple[str, int]) -> None:
    found: list[tuple[str, int]] = []
    with ExitStack() as undo:
        watch_curl(lambda host, port: found.append((host, port)), undo)
        handle = library.Curl()
        handle.setopt(POSTFIELDS, "http://not.an.address/")
        handle.setopt(URL, url)
    assert found == [where]
    assert handle.options == {POSTFIELDS: "http://not.an.address/", URL: url}

    library.Curl().setopt(URL, url)
    assert len(found) == 1


@pytest.mark.parametrize("url", ["file:///etc/hosts", "http://[::1", "https://x:99999999/", ""])
def test_what_names_no_host_is_left_to_the_library(library: Any, url: str) -> None:
    found: list[object] = []
    with ExitStack() as undo:
        watch_curl(lambda host, port: found.append((host, port)), undo)
        handle = library.Curl()
        handle.setopt(URL, url)
    assert not found
    assert handle.options == {URL: url}


def test_an_address_that_is_refused_does_not_reach_the_library(library: Any) -> None:
    def refuse(host: str, port: int) -> None:
        raise ConnectionError(f"{host}:{port} is closed")

    with ExitStack() as undo:
        watch_curl(refuse, undo)
        handle = library.Curl()
        with pytest.raises(ConnectionError, match=r"api\.openai\.com:443 is closed"):
            handle.setopt(URL, "https://api.openai.com/v1")
    assert not handle.options
