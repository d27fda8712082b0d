"""Makes certificate authorities: a private one for a run, or the permanent one of this user.

The files have mitmproxy's names, because its proxy reads them. Keys are on the curve P-256: one is made in a
millisecond, and each client of an LLM API accepts it.

Name constraints (RFC 5280, 4.2.1.10) limit what the permanent key can be used for: clients refuse a certificate of this
authority for any host outside of them. tests/proxy/capture/test_authority.py shows for which clients that is so.
"""

import datetime
import ipaddress
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from turntape.cassettes.routes.upstreams import UPSTREAMS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate

BASENAME = "mitmproxy"
"""The first part of the names of the files."""
KEY = f"{BASENAME}-ca.pem"
"""The file with the key, its certificate, and the root above it where there is one."""
CERTIFICATE = f"{BASENAME}-ca-cert.pem"
"""The file with the certificate that clients must trust."""
PERMANENT = datetime.timedelta(days=3650)
PRIVATE = datetime.timedelta(days=30)
"""How long an authority is valid. A private one ends with its run; this is for a key that was left behind."""
_BEFORE = datetime.timedelta(days=2)
"""For clients whose clock is slow."""
_NO_OTHER_USE = {
    "digital_signature": False,
    "content_commitment": False,
    "key_encipherment": False,
    "data_encipherment": False,
    "key_agreement": False,
    "encipher_only": False,
    "decipher_only": False,
}
_LOOPBACK = ("127.0.0.0/8", "::1/128")


def known_domains() -> tuple[str, ...]:
    """The domains of all known LLM APIs. A constraint is a whole domain: `*-aiplatform.googleapis.com` becomes
    `googleapis.com`."""
    found: set[str] = set()
    for upstream in UPSTREAMS:
        for pattern in upstream.hosts:
            labels = pattern.split(".")
            wild = max((place for place, label in enumerate(labels) if "*" in label), default=-1)
            found.add(".".join(labels[wild + 1 :]))
    return tuple(sorted(one for one in found if not any(_is_below(one, other) for other in found - {one})))


def is_covered(host: str, domains: Iterable[str]) -> bool:
    """Whether a certificate for this host, or for a pattern of hosts, is within the domains."""
    name = host.lower().rstrip(".").removeprefix("*.")
    return "*" not in name and any(name == domain or _is_below(name, domain) for domain in domains)


def _is_below(name: str, domain: str) -> bool:
    return name.endswith(f".{domain}")


def make_authority(folder: Path, lifetime: datetime.timedelta, domains: Iterable[str] | None = None) -> None:
    """Write an authority into a folder; with `domains`, for hosts in these domains and this machine alone.

    Java ignores the constraints of a root. So a constrained authority is a root, whose key is used once and thrown
    away, and the constrained one below it, whose key is kept. The file with the key can be read by this user alone.
    """
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ec.generate_private_key(ec.SECP256R1())
    if domains is None:
        chain = [_certificate("turntape", key, lifetime)]
    else:
        root_key = ec.generate_private_key(ec.SECP256R1())
        root = _certificate("turntape", root_key, lifetime, depth=1)
        chain = [_certificate("turntape for LLM APIs", key, lifetime, domains=domains, issuer=(root, root_key)), root]
    pem = [one.public_bytes(Encoding.PEM) for one in chain]
    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    (folder / CERTIFICATE).write_bytes(pem[-1])
    with os.fdopen(os.open(folder / KEY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(private + b"".join(pem))


def _certificate(
    name: str,
    key: "EllipticCurvePrivateKey",
    lifetime: datetime.timedelta,
    *,
    depth: int = 0,
    domains: Iterable[str] | None = None,
    issuer: "tuple[Certificate, EllipticCurvePrivateKey] | None" = None,
) -> "Certificate":
    """A certificate that may sign others, `depth` levels above those of servers; self-signed without an `issuer`."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    now = datetime.datetime.now(datetime.UTC)
    subject = x509.Name(
        [x509.NameAttribute(NameOID.COMMON_NAME, name), x509.NameAttribute(NameOID.ORGANIZATION_NAME, "turntape")]
    )
    public = key.public_key()
    builder = (
        x509.CertificateBuilder()
        .serial_number(x509.random_serial_number())
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + lifetime)
        .public_key(public)
        .add_extension(x509.BasicConstraints(ca=True, path_length=depth), critical=True)
        .add_extension(x509.KeyUsage(key_cert_sign=True, crl_sign=True, **_NO_OTHER_USE), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )
    if issuer is not None:
        above = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer[1].public_key())
        builder = builder.add_extension(above, critical=False)
    if domains is not None:
        permitted: list[x509.GeneralName] = [x509.DNSName(domain) for domain in (*domains, "localhost")]
        permitted += [x509.IPAddress(ipaddress.ip_network(network)) for network in _LOOPBACK]
        builder = builder.add_extension(x509.NameConstraints(permitted, None), critical=True)
    return builder.sign(issuer[1] if issuer else key, hashes.SHA256())
