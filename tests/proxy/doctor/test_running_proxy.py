"""A shell with the lines that `turntape record` printed."""

from pathlib import Path

import pytest

from turntape.proxy.capture.certificates import ensure_authority
from turntape.proxy.doctor.running_proxy import checks
from turntape.proxy.engine.engine import Engine, running


class Nothing:
    def write(self, round_trip: object) -> int:
        raise AssertionError("the check asks nothing")


def test_it_says_whether_they_hold(tmp_path: Path) -> None:
    authority = ensure_authority(tmp_path)
    with running(Engine(Nothing(), confdir=tmp_path)) as engine:
        proxy = f"http://127.0.0.1:{engine.port}"
        [well] = checks({"HTTPS_PROXY": proxy, "SSL_CERT_FILE": str(authority)})
        [untrusted] = checks({"https_proxy": proxy})
    [gone] = checks({"HTTPS_PROXY": proxy, "SSL_CERT_FILE": str(authority)})

    assert well.status == "ok", well.what
    assert (untrusted.status, gone.status) == ("problem", "problem")
    assert "SSL_CERT_FILE does not trust" in untrusted.what
    assert "nothing listens" in gone.what


def test_a_proxy_on_another_machine_is_not_checked() -> None:
    assert checks({"HTTPS_PROXY": "http://corp.example:3128"}) == checks({}) == []


@pytest.mark.parametrize(
    "proxy", ["http://127.0.0.1:99999", "http://localhost:abc", "http://[::1", "foo bar", "http://"]
)
def test_a_value_that_leads_nowhere_is_not_checked(proxy: str) -> None:
    assert checks({"HTTPS_PROXY": proxy}) == []
