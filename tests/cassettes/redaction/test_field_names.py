"""Each row of each table of field names finds what it is for, and not what only looks like it."""

import pytest

from turntape.cassettes import Redactor
from turntape.cassettes.redaction.field_names import (
    CREDENTIAL_WORDS,
    CREDENTIALS,
    REQUEST_HEADERS,
    REQUEST_PREFIXES,
    SECRET_PARAMETERS,
    URL_HEADERS,
)

REDACTOR = Redactor(salt="s")


def names(text: str) -> list[str]:
    return text.split()


PARAMETERS = names("""
    key api_key apikey api-key access_token token auth sig signature client_secret password secret code
    x-amz-signature x-amz-credential x-amz-security-token x-goog-signature x-goog-credential awsaccesskeyid
    subscription-key
""")


def test_every_parameter_has_a_case() -> None:
    assert set(PARAMETERS) == SECRET_PARAMETERS


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("separator", ["?", "?a=b&", "?a=b;", "#", "#a=b&"])
def test_a_parameter_is_replaced_wherever_it_is_in_a_url(name: str, separator: str) -> None:
    clean = REDACTOR.url(f"https://a.example/x{separator}{name.upper()}=plain&z=1")

    assert clean == f"https://a.example/x{separator}{name.upper()}=REDACTED-{REDACTOR.fingerprint('plain')}&z=1"


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_with_another_name_is_left(name: str) -> None:
    for url in (f"https://a.example/x?my{name}=plain", f"https://a.example/x?{name}x=plain", f"https://a/{name}=plain"):
        assert REDACTOR.url(url) == url


CREDENTIAL_FIELDS = names("""
    authorization proxy-authorization x-api-key api-key x-goog-api-key cookie set-cookie x-amz-security-token
    x-auth-token x-access-token x-portkey-api-key helicone-auth cf-aig-authorization x-litellm-api-key
    ocp-apim-subscription-key x-goog-iam-authorization-token x-functions-key chatgpt-account-id
    x-openai-actor-authorization www-authenticate proxy-authenticate authentication-info
    mcp-session-id
""")


def test_every_credential_field_has_a_case() -> None:
    assert set(CREDENTIAL_FIELDS) == CREDENTIALS


@pytest.mark.parametrize("response", [False, True], ids=["request", "response"])
@pytest.mark.parametrize("name", CREDENTIAL_FIELDS)
def test_a_credential_field_is_replaced_in_both_directions(name: str, response: bool) -> None:
    [(kept, value)] = REDACTOR.headers(((name.title(), "plain"),), response)

    assert kept == name.title()
    assert value == f"REDACTED-{REDACTOR.fingerprint('plain')}"


@pytest.mark.parametrize("name", CREDENTIAL_FIELDS)
def test_a_response_field_with_another_name_is_kept(name: str) -> None:
    fields = ((f"{name}-2", "plain"), (f"my-{name}", "plain"))

    assert REDACTOR.headers(fields, response=True) == fields


KEPT_FIELDS = names("""
    host accept accept-encoding accept-language content-type content-length content-encoding transfer-encoding
    user-agent connection expect te trailer date origin idempotency-key prefer upgrade sec-websocket-version
    sec-websocket-extensions sec-websocket-protocol traceparent tracestate baggage x-request-id x-client-request-id
    x-app originator version session-id session_id thread-id conversation-id conversation_id x-session-id
    x-session-affinity x-conversation-id x-parent-session-id http-referer referer x-title x-api-version api-version
    x-goog-api-client x-goog-user-project x-goog-request-params x-server-timeout x-ms-client-request-id
    x-ms-useragent copilot-integration-id editor-version openai-intent x-initiator x-interaction-id x-fern-language
    x-fern-sdk-name x-fern-sdk-version x-client-name x-scripted-fault x-dashscope-sse
    mcp-protocol-version mcp-method mcp-name last-event-id
""")


def test_every_kept_field_has_a_case() -> None:
    assert set(KEPT_FIELDS) == REQUEST_HEADERS


@pytest.mark.parametrize("name", KEPT_FIELDS)
def test_a_kept_field_is_stored_unchanged_and_its_neighbour_is_not(name: str) -> None:
    fields = ((name.title(), "plain"), (f"my-{name}", "plain"))

    assert REDACTOR.headers(fields) == (fields[0], (f"my-{name}", f"REDACTED-{REDACTOR.fingerprint('plain')}"))


PREFIXES = names("""
    x-stainless- anthropic- openai- x-openai- x-claude- x-codex- x-opencode- x-litellm-session x-litellm-trace
    helicone-session langfuse- amz-sdk- x-amz-target x-amz-date x-amz-content-sha256 x-amzn- x-vercel-ai- sec-fetch-
    mcp-param-
""")


def test_every_family_has_a_case() -> None:
    assert set(PREFIXES) == set(REQUEST_PREFIXES) and len(REQUEST_PREFIXES) == len(PREFIXES)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_family_is_stored_unchanged_and_its_neighbour_is_not(prefix: str) -> None:
    fields = ((f"{prefix}id", "plain"), (f"my-{prefix}id", "plain"), (f"{prefix[:-1]}", "plain"))

    kept = [value for _, value in REDACTOR.headers(fields)]

    assert kept == ["plain", *[f"REDACTED-{REDACTOR.fingerprint('plain')}"] * 2]


WORDS = names("key token secret passw credential cookie oidc auth")


def test_every_word_for_a_credential_has_a_case() -> None:
    assert set(WORDS) == set(CREDENTIAL_WORDS) and len(CREDENTIAL_WORDS) == len(WORDS)


@pytest.mark.parametrize("word", WORDS)
def test_a_field_of_a_family_that_names_a_credential_is_replaced(word: str) -> None:
    [(_, value)] = REDACTOR.headers(((f"openai-{word}-x", "plain"),))

    assert value == f"REDACTED-{REDACTOR.fingerprint('plain')}"
    assert REDACTOR.headers(((f"openai-{word[:-1]}-x", "plain"),)) == ((f"openai-{word[:-1]}-x", "plain"),)


URLS = ["location", "referer", "http-referer"]


def test_every_field_with_a_url_has_a_case() -> None:
    assert set(URLS) == URL_HEADERS


@pytest.mark.parametrize("name", URLS)
def test_a_url_in_a_field_is_cleaned(name: str) -> None:
    url = "https://a.example/?key=plain&z=1"

    shown = dict(REDACTOR.headers(((name, url), ("x-note", url)), response=True))

    assert shown == {name: REDACTOR.url(url), "x-note": url}
    assert "plain" not in shown[name] and shown[name].endswith("&z=1")
