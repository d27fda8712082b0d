"""Keys under the name of a service alone, and what such names hold otherwise."""

import hashlib

import pytest

from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.redaction.service_names import SERVICES

HEX = hashlib.sha256(b"1").hexdigest()
RANDOM = ["0f9a" + HEX[:28], HEX, "q7xk29vnd0zt5hw1p8c4", "aZ4kQ9xWb2LmT7vRc1Yd", "Zm9v" + "bA3r" * 2 + "QmF6x9Kd2Lw"]


@pytest.mark.parametrize("value", RANDOM)
@pytest.mark.parametrize(
    "form",
    [
        '{"algolia": "%s"}',
        '{"text":"DATADOG=%s\\nPATH=/bin"}',
        '{"text":"first\\nDATADOG=%s"}',
        '{"text":"{\\"mailgun\\": \\"%s\\"}"}',
        "heroku: %s",
        "config['newrelic'] = 'x'\nnewrelic => '%s'",
    ],
)
def test_a_value_that_looks_random_is_masked(form: str, value: str) -> None:
    body = (form % value).encode()
    clean = Redactor(salt="s").body(body)

    assert value.encode() not in clean and b"REDACTED-" in clean and len(clean) == len(body)


@pytest.mark.parametrize(
    "body",
    [
        '{"openai": "chatcmpl-0f9a8b7c6d5e4f3a2b1c0d9e"}',
        '{"anthropic": "claude-opus-4-6-20260205-latest"}',
        '{"cohere": "embed-english-v3-0-2024-release"}',
        '{"slack": "integration-test-channel-2024"}',
        '{"datadog": "production-eu-west-1-cluster"}',
        '{"stripe": "2026-05-28T20-26-40-00000000"}',
        '{"sentry": "12345678901234567890"}',
        '{"sentry": "aaaaaaaaaaaaaaaaaaaa1111"}',
        '{"sentry": "configurationofthewholeservice"}',
        '{"my_sentry": "q7xk29vnd0zt5hw1p8c4"}',
        '{"notasentry": "q7xk29vnd0zt5hw1p8c4"}',
        '{"commit": "0f9a8b7c6d5e4f3a2b1c0d9e0f9a8b7c6d5e4f3a"}',
        '{"vercel": "src/app/routes2/index5/page7x"}',
        'import stripe\nstripe = "short1"',
    ],
)
def test_another_value_or_name_stays(body: str) -> None:
    assert Redactor(salt="s").body(body.encode()) == body.encode()


def test_base64_of_a_picture_is_left() -> None:
    body = b'{"slack": "' + b"iVBORw0KGgoAAAANSUhEUgAA" * 50 + b'"}'

    assert Redactor(salt="s").body(body) == body


def test_no_service_is_listed_twice() -> None:
    names = SERVICES.split(b"|")

    assert len(names) == len(set(names)) > 100 and all(name.isalnum() for name in names)
