"""What goes wrong with a store, in one sentence with what to do next.

TurntapeError
└── StoreError           the store cannot be opened, read or written
    ├── NotAStore        a text that is not the address of a store: no attempt can succeed
    ├── StoreUnreachable no answer, or a server that refuses for now: worth another attempt later
    └── NotInstalled     turntape[fleet] is missing
"""

import re

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.regex import regex


class StoreError(TurntapeError):
    """A store cannot be opened, read or written."""

    dropped = 0
    """Recordings that the spool lost, because it was full, when this one kept files from being shipped."""
    not_kept = 0
    """Files that the spool could not take: they are only where they were."""


class NotAStore(StoreError):
    """A text is not the address of a store."""


class StoreUnreachable(StoreError):
    """The store gave no answer, or refuses for now."""


class NotInstalled(StoreError):
    """A library of `turntape[fleet]` is missing."""


_NO_BUCKET = regex(r"NoSuchBucket|ContainerNotFound|bucket does not exist|BucketNotFound", re.IGNORECASE)
_NO_CREDENTIALS = regex(
    r"169\.254\.|metadata\.google|169\.254\.170|credential|no such host.*metadata|Missing (?:Access|Secret)",
    re.IGNORECASE,
)
_REFUSED_KEY = regex(
    r"InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken|AuthenticationFailed|401 Unauthorized"
)
_NO_ANSWER = regex(
    r"error sending request|connect|dns|timed? ?out|refused|unreachable|reset by peer|connection closed", re.IGNORECASE
)
_BUSY = regex(r"\b(?:429|500|502|503|504)\b|SlowDown|ServiceUnavailable|InternalError")
_REPLACED = regex(r"Requested \d+\.\.\d+, got|UnexpectedRange|error decoding response body|precondition", re.IGNORECASE)
_STATUS = regex(r"\b([345]\d\d) [A-Z][a-z]+")


def first_sentence(exc: Exception) -> str:
    """What an error of obstore says, without its dump of values, in one line."""
    return " ".join(str(exc).partition("Debug source:")[0].split())


def explained(exc: Exception, place: str, what: str) -> StoreError:
    """The error of a store in one sentence. `what` is what was tried, such as `write rows/v1/…`."""
    kind, text = type(exc).__name__, first_sentence(exc)
    if _NO_BUCKET.search(text):
        return StoreError(f"there is no bucket for {place!r}; create it, or check the name and the region")
    if _REFUSED_KEY.search(text) or kind == "UnauthenticatedError":
        return StoreError(f"{place!r} refuses the credentials; check the access key, the secret and their expiry")
    if kind == "PermissionDeniedError":
        return StoreError(f"the credentials may not {what} in {place!r}; allow it in the policy, or use other ones")
    if _NO_CREDENTIALS.search(text):
        return StoreError(
            f"no credentials for {place!r} were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
            "or AWS_PROFILE (gs: GOOGLE_APPLICATION_CREDENTIALS, az: AZURE_STORAGE_ACCOUNT_KEY)"
        )
    if _BUSY.search(text):
        return StoreUnreachable(f"{place!r} could not {what}: the server answers that it is busy; try again later")
    if _REPLACED.search(text):
        return StoreUnreachable(f"{place!r} could not {what}: the object was replaced meanwhile; try again")
    if _NO_ANSWER.search(text):
        return StoreUnreachable(f"{place!r} cannot be reached; check the network, the proxy and the endpoint")
    status = _STATUS.search(text)
    detail = f"HTTP {status[1]}" if status else text[:200]
    return StoreError(f"could not {what} in {place!r}: {detail}; check the address and the credentials")
