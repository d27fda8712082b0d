"""`turntape ca show|remove`: the permanent certificate authority."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import OK
from ..command import Command

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.x509 import Certificate


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        choices=("show", "remove"),
        help="show: what the authority can sign, and where its certificate is; it is made if there is none. "
        "remove: delete its key and its certificate",
    )


def main(options: argparse.Namespace) -> int:
    import sys

    from ...capture.certificates import ensure_authority, home, permanent_authorities

    if options.what == "show":
        ensure_authority(home())
        said = [line for folder in permanent_authorities(home()) for line in lines(folder)]
    else:
        said = _remove(permanent_authorities(home()))
    sys.stdout.write("\n".join(said) + "\n")
    return OK


def lines(folder: "Path") -> list[str]:
    """What the authority in a folder is."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    from ...capture.authority import CERTIFICATE, KEY

    certificate = x509.load_pem_x509_certificate((folder / CERTIFICATE).read_bytes())
    signing = x509.load_pem_x509_certificates((folder / KEY).read_bytes())[0]
    digest = certificate.fingerprint(hashes.SHA256()).hex(":").upper()
    return [
        f"certificate  {folder / CERTIFICATE}",
        f"key          {folder / KEY}, for this user alone",
        f"fingerprint  {digest}",
        f"valid until  {certificate.not_valid_after_utc:%Y-%m-%d}",
        f"can sign     {_can_sign(signing)}",
        "",
    ]


def _can_sign(certificate: "Certificate") -> str:
    from cryptography import x509

    try:
        found = certificate.extensions.get_extension_for_class(x509.NameConstraints).value
    except x509.ExtensionNotFound:
        return (
            "every host, because it has no name constraints: whoever has the key can pose as any server to whoever "
            "trusts the certificate; run `turntape ca remove`; the next one has them"
        )
    names = [str(one.value) for one in found.permitted_subtrees or ()]
    return f"{len(names)} domains and networks, by its name constraints: {', '.join(names)}"


def _remove(folders: "list[Path]") -> list[str]:
    from ...capture.authority import BASENAME

    if not folders:
        return ["there is no permanent certificate authority"]
    said: list[str] = []
    for folder in folders:
        for path in (*folder.glob(f"{BASENAME}-*"), *folder.glob("roots-*.pem")):
            path.unlink()
        said.append(f"removed from {folder}")
    return [
        *said,
        "Other programs may still trust it: remove `turntape` from each list of trusted authorities to which you "
        "added it (system, browser, Java keystore).",
        "Restart each running `turntape record`.",
    ]


COMMAND = Command(
    usage="turntape ca show|remove",
    description="Show or delete the permanent certificate authority. `turntape record` uses it, because clients may "
    "list it as trusted; `turntape run` makes a new one for each run and deletes it at the end. Anybody who has the "
    "key can pose as an LLM API to clients that trust the certificate (docs/security.md).",
    examples=("turntape ca show",),
    add=add,
    main=main,
)
