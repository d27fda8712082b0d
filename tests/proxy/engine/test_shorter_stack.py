"""After the first request within a CONNECT, events go to the layers that have something to do."""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false

import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest
from end_to_end.loops import Rig, rig
from mitmproxy.proxy import layer
from mitmproxy.proxy.layers.http import HttpLayer
from mitmproxy.proxy.layers.tls import ClientTLSLayer

from turntape.proxy.capture.certificates import ensure_authority
from turntape.proxy.engine.direct_handler import DirectHandler
from turntape.proxy.engine.shorter_stack import without_outer

ASKED = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}
URL = "https://api.openai.com/v1/chat/completions"


@pytest.fixture(scope="module")
def confdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("authority")
    ensure_authority(folder)
    return folder


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> list[DirectHandler]:
    made: list[DirectHandler] = []
    init = DirectHandler.__init__

    def noted(self: DirectHandler, *args: Any) -> None:
        init(self, *args)
        made.append(self)

    monkeypatch.setattr(DirectHandler, "__init__", noted)
    return made


def ask(up: Rig, count: int, **options: Any) -> list[int]:
    with up.forward(**options) as http:
        return [http.post(URL, json={**ASKED, "user": str(number)}).status_code for number in range(count)]


@pytest.mark.parametrize("http2", [False, True])
def test_the_layers_of_the_connect_are_left_after_the_first_request(
    tmp_path: Path, confdir: Path, handlers: list[DirectHandler], http2: bool
) -> None:
    with rig(tmp_path / "a.cassette.jsonl", confdir) as up:
        assert ask(up, 3, http2=http2) == [200] * 3

    [handler] = handlers
    assert isinstance(handler.layer, ClientTLSLayer)


def test_a_client_without_a_tunnel_talks_to_http(tmp_path: Path, confdir: Path, handlers: list[DirectHandler]) -> None:
    with (
        rig(tmp_path / "a.cassette.jsonl", confdir) as up,
        httpx2.Client(trust_env=False, timeout=None) as http,
    ):
        for _ in range(3):
            assert http.post(f"{up.base}/openai/v1/chat/completions", json=ASKED).status_code == 200

    assert [type(one.layer) for one in handlers] == [HttpLayer]


def test_an_undecided_layer_stays(tmp_path: Path, confdir: Path, handlers: list[DirectHandler]) -> None:
    with (
        rig(tmp_path / "a.cassette.jsonl", confdir) as up,
        socket.create_connection(("127.0.0.1", up.engine.port)) as plain,
    ):
        plain.sendall(b"CONNECT api.openai.com:443 HTTP/1.1\r\nhost: api.openai.com\r\n\r\n")
        assert plain.recv(100).startswith(b"HTTP/1.1 200")
        [handler] = handlers
        within = without_outer(handler.layer)

    assert isinstance(within, layer.NextLayer) and within.layer is None


def test_a_layer_that_waits_stays(tmp_path: Path, confdir: Path, handlers: list[DirectHandler]) -> None:
    with rig(tmp_path / "a.cassette.jsonl", confdir) as up:
        ask(up, 1)
        [handler] = handlers
        outer: Any = layer.NextLayer(handler.layer.context)
        outer.layer = handler.layer
        assert without_outer(outer) is handler.layer
        outer._paused = object()
        assert without_outer(outer) is outer
