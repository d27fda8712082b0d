"""The shapes of secrets: literal prefixes, and what must follow each of them; the names of fields that hold secrets.

A body is searched for the literals first, which is fast; a pattern runs only where one was found. Ids and
signatures that clients must echo (`toolu_`, `call_`, `msg_`, `rs_`, thinking signatures) have none of these shapes,
and a prefix counts only at the start of a word.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    literal: bytes
    pattern: re.Pattern[bytes]
    """Matches at the literal; group 1 is the secret, all of the match when there is no group."""
    keep: int
    """How many first bytes of the secret are kept, so that a person can see what it was."""


def _key(literal: str, rest: str) -> Shape:
    return Shape(literal.encode(), re.compile(re.escape(literal.encode()) + rest.encode()), len(literal))


def _after(literal: str, pattern: str) -> Shape:
    return Shape(literal.encode(), re.compile(pattern.encode()), 0)


_WORD = "[A-Za-z0-9_-]"

SHAPES: tuple[Shape, ...] = (
    _key("sk-ant-", _WORD + "{20,}"),
    _key("sk-proj-", _WORD + "{20,}"),
    _key("sk-svcacct-", _WORD + "{20,}"),
    _key("sk-admin-", _WORD + "{20,}"),
    _key("sk-or-", _WORD + "{20,}"),
    _key("sk-lf-", _WORD + "{20,}"),
    _key("sk-None-", _WORD + "{20,}"),
    _key("sk_live_", "[A-Za-z0-9]{16,}"),
    _key("rk_live_", "[A-Za-z0-9]{16,}"),
    _key("sk-", "[A-Za-z0-9]{20,}"),
    _key("AIza", _WORD + "{35}"),
    _key("ya29.", _WORD + "{20,}"),
    _key("AKIA", "[A-Z0-9]{16}"),
    _key("ASIA", "[A-Z0-9]{16}"),
    _key("ghp_", "[A-Za-z0-9]{30,}"),
    _key("gho_", "[A-Za-z0-9]{30,}"),
    _key("ghu_", "[A-Za-z0-9]{30,}"),
    _key("ghs_", "[A-Za-z0-9]{30,}"),
    _key("ghr_", "[A-Za-z0-9]{30,}"),
    _key("github_pat_", "[A-Za-z0-9_]{30,}"),
    _key("glpat-", _WORD + "{20,}"),
    _key("xoxb-", "[A-Za-z0-9-]{20,}"),
    _key("xoxp-", "[A-Za-z0-9-]{20,}"),
    _key("xoxa-", "[A-Za-z0-9-]{20,}"),
    _key("xoxs-", "[A-Za-z0-9-]{20,}"),
    _key("xoxe-", "[A-Za-z0-9-]{20,}"),
    _key("xoxr-", "[A-Za-z0-9-]{20,}"),
    _key("xoxc-", "[A-Za-z0-9-]{20,}"),
    _key("xoxd-", "[A-Za-z0-9%-]{20,}"),
    _key("xapp-", "[A-Za-z0-9-]{20,}"),
    _key("hf_", "[A-Za-z0-9]{30,}"),
    _key("gsk_", "[A-Za-z0-9]{30,}"),
    _key("xai-", "[A-Za-z0-9]{40,}"),
    _key("pplx-", "[A-Za-z0-9]{30,}"),
    _key("r8_", "[A-Za-z0-9]{30,}"),
    _key("nvapi-", _WORD + "{30,}"),
    _key("lsv2_", "[A-Za-z0-9_]{30,}"),
    _key("tvly-", _WORD + "{20,}"),
    _key("npm_", "[A-Za-z0-9]{36}"),
    _key("pypi-", _WORD + "{40,}"),
    _key("dop_v1_", "[a-f0-9]{60,}"),
    _key("SG.", r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    # Up to its end, with anything an editor puts before each line; without an end, up to its last whole line.
    _after(
        "-----BEGIN",
        r"-----BEGIN[A-Z +%0-9]*PRIVATE[ +%0-9]*KEY(?:[ +%0-9]*BLOCK)?-----"
        r"((?=[^\"]{0,400}?[A-Za-z0-9+/]{40})(?:(?:(?!-----)[^\"]){40,8000}(?=-----END)"
        r"|(?:(?:\\+[nr]|[^A-Za-z0-9+/=\"\\])(?:[^A-Za-z+/=\"\\]|\\u2192|\\t)*)?"
        r"[A-Za-z0-9+/=]{40,}(?:(?:\\+[nrt]|\\u2192|[^A-Za-z+/=\"\\])+[A-Za-z0-9+/=]{16,})*))",
    ),
    # A JSON Web Token: two JSON objects and a signature.
    _after("eyJ", r"(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
    _after(
        "ws_secret_access_key",
        r"ws_secret_access_key[^A-Za-z0-9/+]{1,12}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    _after(
        "WS_SECRET_ACCESS_KEY",
        r"WS_SECRET_ACCESS_KEY[^A-Za-z0-9/+]{1,12}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    _after(
        "ecretAccessKey",
        r"ecretAccessKey[^A-Za-z0-9/+]{1,12}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    _after("://", r"://[^\s:/@\"'\\]{0,64}:((?!REDACTED)[^\s:/@\"'\\]{4,128})@"),
)
"""Longer literals before the shorter ones that they begin with."""


def _roots() -> tuple[tuple[bytes, tuple[Shape, ...]], ...]:
    roots: dict[bytes, list[Shape]] = {}
    for shape in SHAPES:
        root = next(
            (root for root in (b"sk-", b"xox", b"AKI", b"ASI") if shape.literal.startswith(root)), shape.literal
        )
        roots.setdefault(root, []).append(shape)
    return tuple((root, tuple(shapes)) for root, shapes in roots.items())


ROOTS = _roots()
"""What is searched for, and the shapes that begin with it: one search finds all keys of a family."""

SECRET_PARAMETERS = frozenset(
    [
        "key",
        "api_key",
        "apikey",
        "api-key",
        "access_token",
        "token",
        "auth",
        "sig",
        "signature",
        "client_secret",
        "password",
        "secret",
        "code",
        "x-amz-signature",
        "x-amz-credential",
        "x-amz-security-token",
        "x-goog-signature",
        "x-goog-credential",
        "awsaccesskeyid",
        "subscription-key",
    ]
)
"""Query parameters whose value is a credential, lower case."""

CREDENTIALS = frozenset(
    [
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "cookie",
        "set-cookie",
        "x-amz-security-token",
        "x-auth-token",
        "x-access-token",
        "x-portkey-api-key",
        "helicone-auth",
        "cf-aig-authorization",
        "x-litellm-api-key",
        "ocp-apim-subscription-key",
        "x-goog-iam-authorization-token",
        "x-functions-key",
        "chatgpt-account-id",
        "x-openai-actor-authorization",
        "www-authenticate",
        "proxy-authenticate",
        "authentication-info",
        # Whoever has the id of an MCP session may speak in it. Its fingerprint still joins the exchanges of a session.
        "mcp-session-id",
    ]
)
"""Header fields that carry a credential in either direction, lower case."""

REQUEST_HEADERS = frozenset(
    [
        "host",
        "accept",
        "accept-encoding",
        "accept-language",
        "content-type",
        "content-length",
        "content-encoding",
        "transfer-encoding",
        "user-agent",
        "connection",
        "expect",
        "te",
        "trailer",
        "date",
        "origin",
        "idempotency-key",
        "prefer",
        "upgrade",
        "sec-websocket-version",
        "sec-websocket-extensions",
        "sec-websocket-protocol",
        "traceparent",
        "tracestate",
        "baggage",
        "x-request-id",
        "x-client-request-id",
        "x-app",
        "originator",
        "version",
        "session-id",
        "session_id",
        "thread-id",
        "conversation-id",
        "conversation_id",
        "x-session-id",
        "x-session-affinity",
        "x-conversation-id",
        "x-parent-session-id",
        "http-referer",
        "referer",
        "x-title",
        "x-api-version",
        "api-version",
        "x-goog-api-client",
        "x-goog-user-project",
        "x-goog-request-params",
        "x-server-timeout",
        "x-ms-client-request-id",
        "x-ms-useragent",
        "copilot-integration-id",
        "editor-version",
        "openai-intent",
        "x-initiator",
        "x-interaction-id",
        "x-dashscope-sse",
        "x-fern-language",
        "x-fern-sdk-name",
        "x-fern-sdk-version",
        "x-client-name",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "last-event-id",
        "x-scripted-fault",
    ]
)
"""Request header fields that are stored unchanged, lower case; see `REQUEST_PREFIXES` for families."""

REQUEST_PREFIXES = (
    "x-stainless-",
    "anthropic-",
    "openai-",
    "x-openai-",
    "x-claude-",
    "x-codex-",
    "x-opencode-",
    "x-litellm-session",
    "x-litellm-trace",
    "helicone-session",
    "langfuse-",
    "amz-sdk-",
    "x-amz-target",
    "x-amz-date",
    "x-amz-content-sha256",
    "x-amzn-",
    "x-vercel-ai-",
    "sec-fetch-",
    "mcp-param-",
)
"""Beginnings of request header fields that are stored unchanged, unless `CREDENTIAL_WORDS` has a part of the name."""

CREDENTIAL_WORDS = ("key", "token", "secret", "passw", "credential", "cookie", "oidc", "auth")
"""A request header field of a known family is a credential when its name contains one of these."""

URL_HEADERS = frozenset(["location", "referer", "http-referer"])
"""Header fields whose value is a URL: credentials in it are replaced."""
