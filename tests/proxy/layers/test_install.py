"""mitmproxy makes our layers, and a mitmproxy with other ones is refused."""

from collections.abc import Callable
from types import ModuleType

import pytest
from mitmproxy.net.http.http1 import read
from mitmproxy.proxy import layers
from mitmproxy.proxy.layers import http, tcp, websocket
from mitmproxy.proxy.layers.http import _http1

from turntape.proxy.layers import install as module
from turntape.proxy.layers.install import REPLACED, install


def test_the_layers_are_ours_and_a_second_call_changes_nothing() -> None:
    install()
    install()

    assert [getattr(module, name) for module, name, _ in REPLACED] == [ours for _, _, ours in REPLACED]
    assert {module for module, _, _ in REPLACED} == {http, layers, tcp, websocket, _http1, read}


@pytest.mark.parametrize("replaced", [REPLACED[2], REPLACED[-2]], ids=["class", "function"])
@pytest.mark.parametrize("theirs", [None, type("Http1Client", (), {})], ids=["gone", "something else"])
def test_another_mitmproxy_is_refused(
    theirs: type | None,
    replaced: tuple[ModuleType, str, Callable[..., object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed, (_, name, ours) = ModuleType("mitmproxy.changed"), replaced
    if theirs is not None:
        setattr(changed, name, theirs)
    monkeypatch.setattr(module, "REPLACED", ((changed, name, ours),))

    with pytest.raises(RuntimeError, match=f"does not fit the installed mitmproxy: mitmproxy.changed.{name}"):
        install()
