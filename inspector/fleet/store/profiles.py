"""The access key, region and endpoint of an AWS profile, from the files of the AWS command line.

Names of files, sections and keys: https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-files.html (read
2026-11-22). Only keys written there are read. A profile that logs in otherwise is for boto3.
"""

import configparser
import os
from collections.abc import Mapping
from pathlib import Path

_KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token", "region", "endpoint_url")
_OTHER_SOURCES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)


def profile_options(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Options for an S3 store that the environment does not give already; empty without a profile."""
    name = environment.get("AWS_PROFILE") or environment.get("AWS_DEFAULT_PROFILE")
    home = Path(environment.get("HOME") or Path.home()) / ".aws"
    shared = _section(environment.get("AWS_SHARED_CREDENTIALS_FILE"), home / "credentials", name or "default")
    section = f"profile {name}" if name and name != "default" else "default"
    config = _section(environment.get("AWS_CONFIG_FILE"), home / "config", section)
    found = {key: value for key in _KEYS if (value := shared.get(key) or config.get(key))}
    if any(environment.get(source) for source in _OTHER_SOURCES) and not environment.get("AWS_PROFILE"):
        found = {key: value for key, value in found.items() if not key.startswith("aws_")}
    if environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION"):
        found.pop("region", None)
    if endpoint(environment):
        found.pop("endpoint_url", None)
    return found


def endpoint(environment: Mapping[str, str] = os.environ) -> str | None:
    """The endpoint that the environment names for S3."""
    names = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
    return next((value for name in names if (value := environment.get(name))), None)


def _section(named: str | None, usual: Path, section: str) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(named or usual, "utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return {}
    return dict(parser[section]) if parser.has_section(section) else {}
