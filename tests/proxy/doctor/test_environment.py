"""What the user's environment says."""

from pathlib import Path

import pytest

from turntape.proxy.doctor.check_result import CheckResult, lines
from turntape.proxy.doctor.environment import checks


def by_id(environ: dict[str, str], folder: Path) -> dict[str, CheckResult]:
    return {check.id: check for check in checks(environ, folder, ["api.openai.com"])}


def test_with_nothing_set_there_is_nothing_to_say(tmp_path: Path) -> None:
    [said] = checks({}, tmp_path, ["api.openai.com"])

    assert (said.id, said.status) == ("environment", "ok")


@pytest.mark.parametrize(
    ("environ", "name", "status", "words"),
    [
        ({"HTTPS_PROXY": "http://corp:3128"}, "proxy", "note", ["http://corp:3128"]),
        ({"ALL_PROXY": "socks5://127.0.0.1:1080"}, "proxy-socks", "problem", ["SOCKS", "unset ALL_PROXY"]),
        (
            {"HTTPS_PROXY": "http://a:1", "http_proxy": "http://b:2"},
            "proxy-mixed",
            "note",
            ["http://a:1", "http://b:2"],
        ),
        ({"no_proxy": "openai.com,corp.example"}, "no-proxy", "note", ["openai.com", "no_proxy=corp.example"]),
        ({"OPENAI_BASE_URL": "https://gateway.example/v1"}, "base-url", "note", ["gateway.example"]),
        ({"SSL_CERT_FILE": "/no/such.pem"}, "ca", "problem", ["/no/such.pem", "unset SSL_CERT_FILE"]),
    ],
)
def test_what_collides_is_named(
    environ: dict[str, str], name: str, status: str, words: list[str], tmp_path: Path
) -> None:
    said = by_id(environ, tmp_path)[name]

    assert said.status == status
    assert all(word in f"{said.what} {said.add}" for word in words)


def test_a_password_in_a_proxy_is_not_shown(tmp_path: Path) -> None:
    said = by_id({"HTTPS_PROXY": "http://me:s3cret@corp:3128"}, tmp_path)["proxy"]

    assert "s3cret" not in said.what
    assert "…@corp:3128" in said.what


def test_a_dotenv_file_with_a_base_url_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("export OPENAI_BASE_URL = http://x\nOTHER=1\n# HTTPS_PROXY=http://y\n")

    said = by_id({}, tmp_path)["dotenv"]

    assert "OPENAI_BASE_URL" in said.what
    assert "HTTPS_PROXY" not in said.what


def test_the_text_has_the_line_to_add_below_what_was_seen() -> None:
    shown = lines(
        [CheckResult("x", "problem", "It is wrong.", "export A=1\nexport B=2"), CheckResult("y", "ok", "Fine.")], False
    )

    assert shown == [
        "PROBLEM  It is wrong.",
        "         try: export A=1",
        "              export B=2",
        "ok       Fine.",
    ]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_what_was_seen_fits_the_terminal_and_what_is_to_be_copied_stays_whole(width: int) -> None:
    copied = "export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/some-company-root-certificates.pem A=b"
    seen = "SSL_CERT_FILE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE: its certificates are trusted together with ours. " * 2
    shown = lines([CheckResult("x", "note", seen)], False, width)

    assert max(map(len, shown)) <= min(width, 99)
    assert " ".join(" ".join(line[9:] for line in shown).split()) == seen.strip()
    copying = [lines([CheckResult("x", "note", "Fine.", copied)], False, one)[1:] for one in (width, 100)]
    assert copying[0] == copying[1]
