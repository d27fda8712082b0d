"""Profiles of the AWS command line."""

from pathlib import Path

import pytest

from turntape.inspector.fleet.store.profiles import endpoint, profile_options


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / ".aws"
    folder.mkdir()
    keys = "aws_access_key_id = {0}\naws_secret_access_key = secret-{0}\n"
    (folder / "credentials").write_text("[default]\n" + keys.format("A") + "[ci]\n" + keys.format("B"))
    (folder / "config").write_text("[default]\nregion = eu-west-1\n[profile ci]\nregion = us-west-2\n")
    return {"HOME": str(tmp_path)}


def test_the_default_profile(home: dict[str, str]) -> None:
    assert profile_options(home) == {
        "aws_access_key_id": "A",
        "aws_secret_access_key": "secret-A",
        "region": "eu-west-1",
    }


def test_a_named_profile(home: dict[str, str]) -> None:
    found = profile_options({**home, "AWS_PROFILE": "ci"})

    assert (found["aws_access_key_id"], found["region"]) == ("B", "us-west-2")


def test_the_environment_comes_first(home: dict[str, str]) -> None:
    assert profile_options({**home, "AWS_ACCESS_KEY_ID": "C", "AWS_REGION": "x"}) == {}


def test_without_files_there_is_nothing(tmp_path: Path) -> None:
    assert profile_options({"HOME": str(tmp_path)}) == {}


def test_the_endpoint_of_s3_is_preferred() -> None:
    assert endpoint({"AWS_ENDPOINT_URL": "a", "AWS_ENDPOINT_URL_S3": "b"}) == "b"
    assert endpoint({}) is None
