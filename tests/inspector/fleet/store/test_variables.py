"""Variables that the library for stores would fail on: empty ones, line breaks, and endpoints without a scheme."""

import os

import pytest

from turntape.inspector.fleet.errors import StoreError
from turntape.inspector.fleet.store.store import open_store
from turntape.inspector.fleet.store.variables import check, plain_variables


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        (
            "AWS_ENDPOINT_URL",
            "localhost:9000",
            "AWS_ENDPOINT_URL is 'localhost:9000', which is not the URL of a server",
        ),
        ("AWS_ENDPOINT_URL_S3", "http://", "AWS_ENDPOINT_URL_S3 is 'http://', which is not the URL"),
        ("AWS_ENDPOINT_URL", "http://host:port", "not the URL of a server"),
        ("AWS_REGION", "us east 1", "AWS_REGION is 'us east 1', which is not the name of a region"),
        ("AWS_SESSION_TOKEN", "hush\nhush", "AWS_SESSION_TOKEN has a character that no key can have"),
        ("AWS_ACCESS_KEY_ID", "hüsh", "AWS_ACCESS_KEY_ID has a character that no key can have"),
    ],
)
def test_what_no_server_can_have_is_named(name: str, value: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(StoreError, match=problem) as raised:
        open_store("s3://tapes/x")
    assert "hush" not in str(raised.value)


def test_empty_variables_are_not_there_and_line_breaks_at_the_end_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush\n")

    with plain_variables():
        assert "AWS_ENDPOINT_URL" not in os.environ
        assert os.environ["AWS_SECRET_ACCESS_KEY"] == "hush"

    assert (os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_SECRET_ACCESS_KEY"]) == ("", "hush\n")


def test_half_of_a_pair_of_keys_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")

    with pytest.raises(StoreError, match="^no credentials for 's3://tapes/x' were found"):
        open_store("s3://tapes/x")


def test_paths_and_documents_may_hold_anything() -> None:
    check(
        {
            "AWS_SHARED_CREDENTIALS_FILE": "/home/jörg/.aws/credentials",
            "GOOGLE_SERVICE_ACCOUNT_KEY": '{\n"private_key": "x"}',
            "AWS_ENDPOINT_URL": "https://[::1]:9000/base",
            "AWS_REGION": "cn-north-1",
        }
    )


def test_variables_of_other_programs_are_not_judged() -> None:
    check(
        {
            "AWS_STS_REGIONAL_ENDPOINTS": "regional",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "IPv4",
            "AWS_USE_FIPS_ENDPOINT": "true",
            "AZURE_OPENAI_ENDPOINT": "my-resource",
            "AWS_DEPLOY_SSH_KEY": "-----BEGIN\nPRIVATE",
            "AZURE_REGION": "West Europe",
        }
    )
