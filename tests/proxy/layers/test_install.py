"""mitmproxy makes our layers, and a mitmproxy with other ones is refused."""

from types import ModuleType

import pytest
from mitmproxy.proxy.layers import http, websocket

from turntape.proxy.layers import install as module
from turntape.proxy.layers.install import REPLACED, install


def test_the_layers_are_ours_and_a_second_call_changes_nothing() -> None:
    install()
    install()

    assert [getattr(module, name) for module, name, _ in REPLACED] == [ours for _, _, ours in REPLACED]
    assert {module for module, _, _ in REPLACED} == {http, websocket}


@pytest.mark.parametrize("theirs", [None, type("Http1Client", (), {})], ids=["gone", "another class"])
def test_another_mitmproxy_is_refused(theirs: type | None, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = ModuleType("mitmproxy.changed")
    if theirs is not None:
        changed.Http1Client = theirs  # type: ignore[attr-defined]
    monkeypatch.setattr(module, "REPLACED", ((changed, "Http1Client", REPLACED[2][2]),))

    with pytest.raises(RuntimeError, match="does not fit the installed mitmproxy: mitmproxy.changed.Http1Client"):
        install()
