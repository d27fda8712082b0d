"""The sentences about stores that fail; the texts are those of obstore 0.12.1."""

import pytest

from turntape.inspector.fleet.errors import StoreError, StoreUnreachable, explained

PLACE = "s3://b/x"


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("Client error with status 404: <Code>NoSuchBucket</Code>", StoreError, "there is no bucket for 's3://b/x'"),
        ("403 Forbidden <Code>InvalidAccessKeyId</Code>", StoreError, "refuses the credentials"),
        ("403 Forbidden <Code>SignatureDoesNotMatch</Code>", StoreError, "refuses the credentials"),
        ("400 Bad Request <Code>ExpiredToken</Code>", StoreError, "refuses the credentials"),
        ("Error performing PUT http://169.254.169.254/latest/api/token", StoreError, "no credentials for 's3://b/x'"),
        ("Server returned non-2xx status code: 503 Slow Down", StoreUnreachable, "the server answers that it is busy"),
        ("HTTP error: error sending request", StoreUnreachable, "cannot be reached; check the network"),
        ("dns error: failed to lookup address", StoreUnreachable, "cannot be reached; check the network"),
        ("Requested 0..0, got 0..1", StoreUnreachable, "the object was replaced meanwhile"),
        ("status 405 Method Not Allowed", StoreError, "could not write a in 's3://b/x': HTTP 405"),
    ],
)
def test_each_failure_says_what_to_do(text: str, kind: type[StoreError], says: str) -> None:
    error = explained(Exception(text), PLACE, "write a")

    assert type(error) is kind
    assert says in str(error)


def test_what_only_a_programmer_reads_is_left_out() -> None:
    text = 'Unable to walk dir: Not a directory (os error 20)\n\nDebug source:\nGeneric { store: "LocalFileSystem" }'

    assert str(explained(Exception(text), PLACE, "list a")) == (
        "could not list a in 's3://b/x': Unable to walk dir: Not a directory (os error 20); check the address and the "
        "credentials"
    )


def test_a_refusal_by_policy_is_not_a_wrong_key() -> None:
    class PermissionDeniedError(Exception):
        pass

    error = explained(PermissionDeniedError("403 Forbidden AccessDenied"), PLACE, "write a")

    assert "the credentials may not write a in 's3://b/x'" in str(error)
