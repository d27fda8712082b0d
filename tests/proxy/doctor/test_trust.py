"""Clients of a runtime are really asked."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from turntape.proxy.doctor import trust
from turntape.proxy.doctor.check_result import CheckResult
from turntape.proxy.launch.runtimes import BY_NAME


def probe(runtime: str, *launcher: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> CheckResult:
    monkeypatch.setenv("TURNTAPE_HOME", str(home))
    [said] = asyncio.run(trust.checks([(BY_NAME[runtime], launcher)], {"PATH": "/usr/local/bin:/usr/bin:/bin"}))
    return said


def test_pythons_clients_come_and_trust_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = probe("Python", sys.executable, home=tmp_path, monkeypatch=monkeypatch)

    assert said.status == "ok", said.what
    for client in ("httpx", "httpx2", "requests", "urllib", "aiohttp"):
        assert client in said.what


@pytest.mark.parametrize(("runtime", "program"), [("curl", "curl"), ("Node", "node")])
def test_other_runtimes_come_and_trust_us(
    runtime: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"no {program} on this machine")

    said = probe(runtime, found, home=tmp_path, monkeypatch=monkeypatch)

    assert said.status == "ok", said.what


def test_a_runtime_without_our_certificate_is_reported_from_one_that_never_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strip = ("env", "-u", "SSL_CERT_FILE", "-u", "CURL_CA_BUNDLE")
    past = ("env", "NO_PROXY=*", "no_proxy=*")

    distrusts = probe("curl", *strip, "curl", home=tmp_path, monkeypatch=monkeypatch)
    ignores = probe("curl", *past, "curl", "--connect-timeout", "1", home=tmp_path, monkeypatch=monkeypatch)

    assert distrusts.status == "problem"
    assert "does not trust turntape's certificate" in distrusts.what
    assert ignores.status == "problem"
    assert "did not come through the proxy" in ignores.what


def test_what_cannot_be_asked_is_said_to_be_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = probe("Go", home=tmp_path, monkeypatch=monkeypatch)
    gone = probe("Python", str(tmp_path / "no-python"), home=tmp_path, monkeypatch=monkeypatch)

    assert go.status == gone.status == "unknown"
    assert go.add


def test_a_client_that_is_asked_ends_with_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when somebody presses Ctrl-C."""

    class Client:
        returncode: int | None = None

        async def communicate(self) -> None:
            raise asyncio.CancelledError

        def kill(self) -> None:
            self.returncode = -9

        async def wait(self) -> None:
            assert self.returncode == -9

    client = Client()

    async def started(*_: object, **__: object) -> Client:
        return client

    monkeypatch.setattr(asyncio, "create_subprocess_exec", started)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(trust._ask(["client"], {}))
    assert client.returncode == -9
