"""Each row of each table finds what it is for, and not what only looks like it."""

from collections.abc import Iterator

import pytest

from turntape.cassettes import Redactor
from turntape.cassettes.redaction.secrets_table import (
    CREDENTIAL_WORDS,
    CREDENTIALS,
    REQUEST_HEADERS,
    REQUEST_PREFIXES,
    ROOTS,
    SECRET_PARAMETERS,
    SHAPES,
    URL_HEADERS,
)

REDACTOR = Redactor(salt="s")


def names(text: str) -> list[str]:
    return text.split()


def word(size: int) -> str:
    """Letters, digits, `_` and `-`."""
    return ("aZ0-9_b" * 20)[:size]


def letters(size: int) -> str:
    """Letters and digits."""
    return ("aZ09b" * 20)[:size]


def upper(size: int) -> str:
    return ("AZ09B" * 20)[:size]


SLACK = ("aZ0-9b" * 5)[:20]
KEYS: dict[str, tuple[str, list[str]]] = {
    "sk-ant-": (word(20), [word(19)]),
    "sk-proj-": (word(20), [word(19)]),
    "sk-svcacct-": (word(20), [word(19)]),
    "sk-admin-": (word(20), [word(19)]),
    "sk-or-": (word(20), [word(19)]),
    "sk-lf-": (word(20), [word(19)]),
    "sk-None-": (word(20), [word(19)]),
    "sk_live_": (letters(16), [letters(15), "-" + letters(16)]),
    "rk_live_": (letters(16), [letters(15), "-" + letters(16)]),
    "sk-": (letters(20), [letters(19), "x-" + letters(19)]),
    "AIza": (word(35), [word(34)]),
    "ya29.": (word(20), [word(19)]),
    "AKIA": (upper(16), [upper(15), letters(16)]),
    "ASIA": (upper(16), [upper(15), letters(16)]),
    "ghp_": (letters(30), [letters(29), "_" + letters(30)]),
    "gho_": (letters(30), [letters(29), "_" + letters(30)]),
    "ghu_": (letters(30), [letters(29), "_" + letters(30)]),
    "ghs_": (letters(30), [letters(29), "_" + letters(30)]),
    "ghr_": (letters(30), [letters(29), "_" + letters(30)]),
    "github_pat_": ("_" + letters(29), [letters(29), "-" + letters(30)]),
    "glpat-": (word(20), [word(19)]),
    "xoxb-": (SLACK, [SLACK[1:], "_" + SLACK]),
    "xoxp-": (SLACK, [SLACK[1:], "_" + SLACK]),
    "xoxa-": (SLACK, [SLACK[1:], "_" + SLACK]),
    "xoxs-": (SLACK, [SLACK[1:], "_" + SLACK]),
    "xoxe-": (SLACK, [SLACK[1:], "_" + SLACK]),
    "xoxr-": (SLACK, [SLACK[1:], "_" + SLACK]),
    "xoxc-": (SLACK, [SLACK[1:], "_" + SLACK]),
    "xoxd-": ("%2B" + SLACK[3:], [SLACK[1:], "_" + SLACK]),
    "xapp-": (SLACK, [SLACK[1:], "_" + SLACK]),
    "hf_": (letters(30), [letters(29), "_" + letters(30)]),
    "gsk_": (letters(30), [letters(29), "_" + letters(30)]),
    "xai-": (letters(40), [letters(39), "-" + letters(40)]),
    "pplx-": (letters(30), [letters(29), "-" + letters(30)]),
    "r8_": (letters(30), [letters(29), "_" + letters(30)]),
    "nvapi-": (word(30), [word(29)]),
    "lsv2_": ("pt_" + letters(27), [letters(29), "-" + letters(30)]),
    "tvly-": (word(20), [word(19)]),
    "npm_": (letters(36), [letters(35), "_" + letters(36)]),
    "pypi-": (word(40), [word(39)]),
    "dop_v1_": ("a0f9" * 15, ["a0f9" * 14 + "a0f", "A0F9" * 15]),
    "SG.": (f"{word(20)}.{word(20)}", [f"{word(19)}.{word(20)}", f"{word(20)}.{word(19)}", f"{word(20)}-{word(20)}"]),
}
"""A prefix, the shortest rest of a key, and rests that are not one."""

LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCabc+/ABC"
SECRET40 = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzTOPSECRE"
JWT = ("eyJhbGciOiJIU", "eyJzdWIiOi_-x", "SflKxwRJSM")
ASSIGNED = [SECRET40[:-1], SECRET40 + "x", f"{SECRET40[:-1]}!x"]
CONTEXTS: dict[str, tuple[str, list[str], list[str]]] = {
    "-----BEGIN": (
        "-----BEGIN {}-----@@-----END X-----",
        [LINE + LINE],
        [f"-----BEGIN PUBLIC KEY-----{LINE}{LINE}-----END PUBLIC KEY-----", "-----BEGIN PRIVATE KEY-----"],
    ),
    "eyJ": (
        "token @@.",
        [".".join(JWT)],
        [
            f"{JWT[0][:-1]}.{JWT[1]}.{JWT[2]}",
            f"{JWT[0]}.{JWT[1][:-1]}.{JWT[2]}",
            f"{JWT[0]}.{JWT[1]}.{JWT[2][:-1]}",
            f"{JWT[0]}.{JWT[1]}",
            f"{JWT[0]}.xx{JWT[1]}.{JWT[2]}",
        ],
    ),
    "ws_secret_access_key": (
        "aws_secret_access_key = @@",
        [SECRET40],
        [f"aws_secret_access_key = {value}" for value in ASSIGNED] + [f"aws_secret_access_key{'.' * 13}{SECRET40}"],
    ),
    "WS_SECRET_ACCESS_KEY": (
        "AWS_SECRET_ACCESS_KEY=@@",
        [SECRET40],
        [f"AWS_SECRET_ACCESS_KEY={value}" for value in ASSIGNED] + [f"AWS_SECRET_ACCESS_KEY{'.' * 13}{SECRET40}"],
    ),
    "ecretAccessKey": (
        '"SecretAccessKey": "@@"',
        [SECRET40],
        [f"SecretAccessKey: {value}" for value in ASSIGNED] + [f"SecretAccessKey{'.' * 13}{SECRET40}"],
    ),
    "://": (
        "postgres://app:@@@db/x",
        ["pass", "p" * 128],
        ["postgres://app:abc@db/x", f"postgres://app:{'p' * 129}@db/x", "https://a.example:8080/@x", "https://a@b/x"],
    ),
}
"""A literal: a text with `@@` in the place of the secret, secrets, and texts without one."""


def test_every_shape_has_a_case() -> None:
    literals = [shape.literal.decode() for shape in SHAPES]

    assert len(set(literals)) == len(literals)
    assert set(literals) == {*KEYS, *CONTEXTS}


def test_every_shape_is_searched_for_by_the_root_that_it_begins_with() -> None:
    assert sorted(shape.literal for _, shapes in ROOTS for shape in shapes) == sorted(s.literal for s in SHAPES)
    assert all(shape.literal.startswith(root) for root, shapes in ROOTS for shape in shapes)
    assert len({root for root, _ in ROOTS}) == len(ROOTS) < len(SHAPES)


@pytest.mark.parametrize("literal", KEYS)
def test_a_key_is_found_at_its_shortest(literal: str) -> None:
    rest, _ = KEYS[literal]

    clean = REDACTOR.body(f'{{"key": "{literal}{rest}"}}'.encode())

    assert rest.encode() not in clean and b"REDACTED" in clean


@pytest.mark.parametrize("literal", KEYS)
def test_a_long_key_shows_its_prefix_and_is_masked_to_its_end(literal: str) -> None:
    rest, _ = KEYS[literal]
    long = rest * 3 if literal not in ("AIza", "AKIA", "ASIA", "npm_", "SG.") else rest
    prefix = f"{literal}REDACTED-" if len(long) >= 17 else "REDACTED-"

    clean = REDACTOR.body(f"a {literal}{long} b".encode()).decode()

    assert clean.startswith(f"a {prefix}") and clean.endswith(" b")
    assert len(clean) == len(f"a {literal}{long} b")
    assert clean[len(prefix) + 2 + 8 : -2].strip("*") == ""


@pytest.mark.parametrize(("literal", "rest"), [(key, rest) for key, (_, rests) in KEYS.items() for rest in rests])
def test_a_near_miss_of_a_key_is_left(literal: str, rest: str) -> None:
    text = f'{{"key": "{literal}{rest}"}}'.encode()

    assert REDACTOR.body(text) == text


@pytest.mark.parametrize("literal", KEYS)
def test_a_key_inside_a_word_is_left(literal: str) -> None:
    text = f"my{literal}{KEYS[literal][0]}".encode()

    assert REDACTOR.body(text) == text


def contexts() -> Iterator[tuple[str, str]]:
    """Texts with a secret, and the secret."""
    kinds = ["PRIVATE KEY", "RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "OPENSSH+PRIVATE%20KEY"]
    for form, found, _ in CONTEXTS.values():
        for secret in found:
            for kind in kinds if "{}" in form else [""]:
                yield form.replace("{}", kind).replace("@@", secret, 1), secret


@pytest.mark.parametrize(("text", "secret"), contexts())
def test_a_secret_is_found_by_its_context(text: str, secret: str) -> None:
    clean = REDACTOR.body(text.encode()).decode()

    before, after = text.split(secret)
    assert clean.startswith(before + "REDACTED"[: len(secret)]) and clean.endswith(after)
    assert len(clean) == len(text)


@pytest.mark.parametrize("text", [text for _, _, texts in CONTEXTS.values() for text in texts])
def test_a_near_miss_of_a_context_is_left(text: str) -> None:
    assert REDACTOR.body(text.encode()).decode() == text


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
    assert "plain=REDACTED-" in value if "cookie" in name else value == f"REDACTED-{REDACTOR.fingerprint('plain')}"


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
