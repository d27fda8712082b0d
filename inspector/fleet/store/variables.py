"""The variables that name a server, a region and credentials, as the library for stores can take them.

It fails without a usable message on an endpoint without a scheme and on a key with a line break. A CI sets a variable
to the empty text for a secret that it does not have, and a secret from a file ends with a line break.
"""

import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

from turntape.cassettes.regex import regex

from ..errors import StoreError

_FAMILIES = ("AWS_", "GOOGLE_", "AZURE_")
_ENDPOINT = regex(
    r"(?:AWS_)?(?:METADATA_)?ENDPOINT(?:_URL(?:_S3|_STS)?)?|AZURE_(?:STORAGE_|IDENTITY_|MSI_)?ENDPOINT", re.IGNORECASE
)
_REGION = regex(r"(?:AWS_)?(?:DEFAULT_)?REGION", re.IGNORECASE)
_IN_A_HEADER = regex(
    r"AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)|AZURE_STORAGE_(?:ACCOUNT_KEY|ACCESS_KEY|SAS_KEY|SAS_TOKEN|TOKEN)",
    re.IGNORECASE,
)
"""The names that the library reads. Others of these families belong to other programs: `AWS_STS_REGIONAL_ENDPOINTS`."""
_NAME_OF_REGION = regex(r"[A-Za-z0-9-]+")


@contextmanager
def plain_variables() -> Generator[None]:
    """Inside, no variable of these families is empty or has white space around it.

    Raises StoreError for a value that no server can have.
    """
    before = {name: value for name, value in os.environ.items() if name.startswith(_FAMILIES)}
    plain = {name: value.strip() for name, value in before.items()}
    check(plain)
    try:
        for name, value in plain.items():
            if value:
                os.environ[name] = value
            else:
                del os.environ[name]
        yield
    finally:
        os.environ |= before


def check(values: Mapping[str, str]) -> None:
    """Raises StoreError for an endpoint, a region or a key that cannot be one. No value of a key is in the message."""
    for name, value in values.items():
        if _ENDPOINT.fullmatch(name) and value and not _is_http(value):
            raise StoreError(f"{name} is {value!r}, which is not the URL of a server; give http://… or https://…")
        if _REGION.fullmatch(name) and value and not _NAME_OF_REGION.fullmatch(value):
            raise StoreError(f"{name} is {value!r}, which is not the name of a region, such as us-east-1")
        if _IN_A_HEADER.fullmatch(name) and not (value.isascii() and value.isprintable()):
            raise StoreError(f"{name} has a character that no key can have, such as a line break; set it again")


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
