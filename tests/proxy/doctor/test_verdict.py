"""What a run showed, in words."""

from collections import Counter
from pathlib import Path

import pytest

from turntape.proxy.capture.unrecorded import OWN_PORT, UnrecordedTraffic
from turntape.proxy.doctor import verdict
from turntape.proxy.doctor.verdict import Traffic
from turntape.proxy.launch.connections import Connection, Watch
from turntape.proxy.launch.runtimes import BY_NAME

PYTHON = BY_NAME["Python"]


def said(
    recorded: dict[str, int] | None = None,
    seen: UnrecordedTraffic | None = None,
    past: Connection | None = None,
    trusted: bool = True,
    failed: dict[str, str] | None = None,
) -> dict[str, tuple[str, str]]:
    watch = Watch(0, ours=1)
    if past:
        watch.past_us.add(past)
    traffic = Traffic(recorded or {}, failed or {}, seen or UnrecordedTraffic(), Path("/ca.pem"), 0)
    checks = verdict.checks(traffic, watch, {"192.0.2.7": "api.openai.com"}, PYTHON, trusted)
    return {check.id: (check.status, f"{check.what} {check.add}") for check in checks}


def test_a_run_that_was_recorded_is_well() -> None:
    found = said({"api.openai.com": 3})

    assert found["recorded"] == ("ok", "Recorded: api.openai.com (3×). None")
    assert "problem" not in {status for status, _ in found.values()}


def test_a_run_without_any_traffic_gets_its_runtimes_advice() -> None:
    status, text = said()["recorded"]

    assert status == "problem"
    assert PYTHON.advice in text


@pytest.mark.parametrize(("trusted", "word"), [(True, "pins certificates"), (False, "does not trust our certificate")])
def test_a_broken_handshake_is_pinning_where_the_runtime_trusts_us(trusted: bool, word: str) -> None:
    status, text = said(seen=UnrecordedTraffic(distrusted=Counter({"api.openai.com": 2})), trusted=trusted)["pinned"]

    assert status == "problem"
    assert word in text
    assert "/ca.pem" in text


def test_a_handshake_that_was_broken_off_beside_answers_is_not_distrust() -> None:
    assert "pinned" not in said({"api.openai.com": 3}, UnrecordedTraffic(distrusted=Counter({"api.openai.com": 1})))


def test_tls_to_our_own_port_needs_another_url_and_no_certificate() -> None:
    status, text = said(seen=UnrecordedTraffic(distrusted=Counter({OWN_PORT: 2})), trusted=False)["pinned"]

    assert status == "problem"
    assert "http:// in place of https://" in text
    assert "/ca.pem" not in text


def test_what_went_past_us_is_named_with_host_and_program() -> None:
    status, text = said(past=Connection("192.0.2.7", 443, "python3.12", 7))["bypassed"]

    assert status == "problem"
    assert "192.0.2.7:443 = api.openai.com (by python3.12)" in text


def test_what_a_script_started_gets_the_advice_of_its_own_runtime() -> None:
    _, text = said(past=Connection("192.0.2.7", 443, "node", 7))["bypassed"]

    assert BY_NAME["Node"].advice in text


def test_an_upstream_that_is_not_reached_is_a_problem_of_its_own() -> None:
    status, text = said({"api.openai.com": 1}, failed={"api.openai.com": "dns: no such name"})["unreached"]

    assert status == "problem"
    assert "dns: no such name" in text


def test_hosts_that_were_tunnelled_come_with_the_option_that_opens_them() -> None:
    status, text = said(seen=UnrecordedTraffic(tunnelled=Counter({"llm.corp.example": 4})))["tunnelled"]

    assert status == "note"
    assert "--intercept llm.corp.example" in text
