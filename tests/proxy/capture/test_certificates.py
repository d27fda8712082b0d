"""The file of trusted roots for a child."""

import errno
import os
import ssl
from pathlib import Path

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.proxy.capture import certificates
from turntape.proxy.capture.certificates import (
    PEM,
    ensure_authority,
    home,
    permanent_authorities,
    permanent_folder,
    write_bundle,
)


def authority(folder: Path, name: str) -> Path:
    """Some certificate of this machine's store, as a separate file."""
    roots = ssl.create_default_context().get_ca_certs(binary_form=True)
    path = folder / f"{name}.pem"
    path.write_text(ssl.DER_cert_to_PEM_cert(roots[len(name) % len(roots)]))
    return path


def test_the_bundle_holds_the_systems_roots_the_users_and_ours_once(tmp_path: Path) -> None:
    ours, theirs = authority(tmp_path, "ours"), authority(tmp_path, "theirs!")

    bundle = write_bundle(tmp_path, ours, {"SSL_CERT_FILE": str(theirs), "AWS_CA_BUNDLE": str(theirs)})

    held = PEM.findall(bundle.read_text())
    assert len(held) == len(set(held)) > 2
    assert ours.read_text().strip() in held
    assert theirs.read_text().strip() in held
    ssl.create_default_context(cafile=str(bundle))


def test_the_same_roots_are_the_same_file_and_other_roots_another(tmp_path: Path) -> None:
    ours = tmp_path / "ours.pem"
    ours.write_text("-----BEGIN CERTIFICATE-----\nb3Vycw==\n-----END CERTIFICATE-----\n")
    first = write_bundle(tmp_path, ours, {})
    at = first.stat().st_mtime_ns

    os.mkfifo(tmp_path / "pipe")
    for nothing in ("/nowhere", "/dev/zero", str(tmp_path / "pipe"), str(tmp_path), os.devnull):
        assert write_bundle(tmp_path, ours, {"SSL_CERT_FILE": nothing}) == first
    assert first.stat().st_mtime_ns == at
    assert first.stat().st_mode & 0o777 == 0o644
    ours.write_text("-----BEGIN CERTIFICATE-----\nb3RoZXI=\n-----END CERTIFICATE-----\n")
    assert write_bundle(tmp_path, ours, {}) != first


def test_our_folder_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path))

    assert home() == tmp_path


def test_the_tests_leave_the_folder_of_the_user_alone() -> None:
    assert not home().is_relative_to(Path.home() / ".turntape")


def test_an_authority_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: Path, *_: object) -> None:
        (folder / "mitmproxy-ca.pem").write_text("half a key")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(certificates, "make_authority", full)
        with pytest.raises(TurntapeError, match="No space left on device; name another folder with TURNTAPE_HOME"):
            ensure_authority(tmp_path)

    certificate = ensure_authority(tmp_path)

    assert "BEGIN CERTIFICATE" in certificate.read_text()
    assert ensure_authority(tmp_path) == certificate
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_the_folder_of_the_authority_is_ours_alone(tmp_path: Path) -> None:
    certificate = ensure_authority(tmp_path / "made")

    assert certificate.parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(TurntapeError, match=r"cannot write our certificates to '.*x'"):
        ensure_authority(tmp_path / "file" / "x")
    with pytest.raises(TurntapeError, match=r"cannot write our certificates to '.*x'"):
        write_bundle(tmp_path / "file" / "x", authority(tmp_path, "ours"), {})


@pytest.mark.parametrize(
    ("hosts", "folder"),
    [
        ((), "."),
        (("api.openai.com", "x.openai.azure.com"), "."),
        (("llm.corp.example",), "any-host"),
        (("*",), "any-host"),
    ],
)
def test_other_hosts_than_those_of_known_apis_need_the_authority_without_constraints(
    hosts: tuple[str, ...], folder: str, tmp_path: Path
) -> None:
    assert permanent_folder(tmp_path, hosts) == tmp_path / folder


def test_the_permanent_authorities_are_those_that_were_made(tmp_path: Path) -> None:
    assert permanent_authorities(tmp_path) == []
    ensure_authority(tmp_path)
    assert permanent_authorities(tmp_path) == [tmp_path]
    ensure_authority(tmp_path / "any-host")
    assert permanent_authorities(tmp_path) == [tmp_path, tmp_path / "any-host"]
