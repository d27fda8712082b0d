"""Our certificate authority, and the file of trusted roots for the command that is recorded.

Most variables that name a CA file replace the trust store. With our certificate alone, every host that is not
decrypted would fail. So the file holds what the machine trusts, what the user trusts, and our certificate. Its name has
a digest of its content: runs with different environments use different files, and an unchanged file is written once.
"""

import hashlib
import os
import re
import ssl
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from turntape.cassettes.errors import CassetteError, TurntapeError
from turntape.cassettes.tape.lock import hold
from turntape.cassettes.tape.named_file import text_of

from .authority import CERTIFICATE, KEY, PERMANENT, is_covered, known_domains, make_authority

ANY_HOST = "any-host"
"""The folder of the permanent authority without name constraints."""
ROOTS = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",  # macOS, BSD, Alpine
    "/opt/homebrew/etc/ca-certificates/cert.pem",
)
USERS = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "DENO_CERT",
    "CODEX_CA_CERTIFICATE",
)
"""Variables with which users trust more than the system does, such as a corporate authority."""
PEM = re.compile(r"-----BEGIN (?:TRUSTED )?CERTIFICATE-----.+?-----END (?:TRUSTED )?CERTIFICATE-----", re.S)


def home() -> Path:
    """The folder of our certificate authority: `TURNTAPE_HOME`, or `~/.turntape`."""
    named = os.environ.get("TURNTAPE_HOME")
    return Path(named).expanduser() if named else Path.home() / ".turntape"


def permanent_folder(home: Path, hosts: Iterable[str]) -> Path:
    """The folder of the permanent authority whose certificates are good for these hosts and patterns of hosts.

    That in `home` is for known LLM APIs alone, by its name constraints. For other hosts there is one without them,
    which is made when it is needed first.
    """
    return home if all(is_covered(host, known_domains()) for host in hosts) else home / ANY_HOST


def permanent_authorities(home: Path) -> list[Path]:
    """The folders with a permanent authority."""
    return [folder for folder in (home, home / ANY_HOST) if (folder / KEY).exists()]


def ensure_authority(folder: Path) -> Path:
    """The certificate of the permanent authority in `folder`; it is created, with its key, when there is none.

    It has name constraints, except in a folder called `ANY_HOST`. One of an earlier version is used as it is.
    Two first runs at the same time create only one: with two, clients would not trust the first. Raises TurntapeError
    when `folder` cannot be written.
    """
    key, certificate = folder / KEY, folder / CERTIFICATE
    if key.exists() and certificate.exists():
        return certificate  # also where the folder is read-only
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            hold(lock.fileno(), wait=True)
            if not key.exists():
                _make_authority(folder)
    except OSError as exc:
        raise _not_written(folder, exc) from exc
    return certificate


def _make_authority(folder: Path) -> None:
    """Write all files or none; otherwise later runs would use an incomplete authority."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        made = Path(name)
        make_authority(made, PERMANENT, None if folder.name == ANY_HOST else known_domains())
        # Last the key: a folder with a key counts as complete.
        for path in sorted(made.iterdir(), key=lambda path: path.name == KEY):
            path.replace(folder / path.name)


def _not_written(folder: Path, exc: OSError) -> TurntapeError:
    return TurntapeError(
        f"cannot write our certificates to {str(folder)!r}: {exc.strerror}; name another folder with TURNTAPE_HOME"
    )


def checked(client: Path) -> Path:
    """The absolute path of a client certificate: a PEM file with its key, or a folder of `HOST.pem`.

    Raises TurntapeError when it cannot be used.
    """
    files = sorted(client.glob("*.pem")) if client.is_dir() else [client]
    if not files:
        raise TurntapeError(f"the folder {str(client)!r} holds no HOST.pem; name a PEM file with certificate and key")
    for file in files:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(file, password=_no_password)
        except (OSError, ValueError) as exc:  # ssl.SSLError is an OSError
            reason = exc.strerror if isinstance(exc, FileNotFoundError) else exc.args[-1]
            raise TurntapeError(
                f"{str(file)!r} is not a client certificate ({reason}): put the certificate, its chain and its key, "
                "without a passphrase, into one PEM file"
            ) from exc
    return client.absolute()


def _no_password() -> str:
    raise ValueError("its key has a passphrase")


def write_bundle(folder: Path, authority: Path, environ: Mapping[str, str]) -> Path:
    """Write the roots of the system and of the user and `authority` into one file in `folder`; returns its path."""
    seen: dict[str, None] = {}
    for source in dict.fromkeys((*_roots(), *_users(environ), authority)):  # several variables may name one file
        for certificate in PEM.findall(_text(source)):
            seen.setdefault(certificate)
    text = "\n".join(seen) + "\n"
    digest = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
    path = folder / f"roots-{digest}.pem"
    if not path.exists():
        write_whole(path, text)
    return path


def write_whole(path: Path, text: str) -> None:
    """Write a file that other processes read: they see the old content or the new one, never a part.

    Raises TurntapeError when it cannot be written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).chmod(0o644)  # public certificates, and the child may run as another user
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as exc:
        raise _not_written(path.parent, exc) from exc


def _roots() -> Iterator[Path]:
    """The first store of this machine that is not empty, or certifi's."""
    default = ssl.get_default_verify_paths()
    for name in (default.openssl_cafile, *ROOTS):
        if _text(Path(name)):
            yield Path(name)
            return
    try:
        import certifi
    except ImportError:
        return
    yield Path(certifi.where())


def _users(environ: Mapping[str, str]) -> Iterator[Path]:
    for name in USERS:
        if value := environ.get(name):
            yield Path(value)
    for folder in environ.get("SSL_CERT_DIR", "").split(os.pathsep):
        if folder and Path(folder).is_dir():
            # The folder links each file under a hashed name; each file is read once.
            yield from sorted({path.resolve() for path in Path(folder).iterdir() if path.is_file()})


def _text(path: Path) -> str:
    """The text of a file; nothing where it cannot be read, and for a pipe or a device, which may have no end."""
    try:
        return text_of(path, "replace")
    except (OSError, ValueError, CassetteError):  # ValueError: a null character in the name
        return ""
